"""The bridge to Numba and its cache: the only part of tarry that imports it.

It knows no rule, ledger, world or loop: what is compiled is handed in.
"""
