"""The compiled simulator; the only part of tarry that imports Numba."""
