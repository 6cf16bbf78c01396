"""IncrementUCB: how its level was chosen, how it compares, and what was tried in vain.

python -m benchmarks.increment        all tables; --quick for a look
"""
