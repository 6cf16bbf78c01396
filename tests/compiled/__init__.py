"""Tests of the bridge to Numba."""
