"""IncrementUCB: how its level was chosen, how it compares, and what was tried in vain.

python -m benchmarks.increment            all tables, about twenty minutes; --quick for a look

What was played is kept in a folder (results/increment) and not played again; Ctrl-C at any time.
"""
