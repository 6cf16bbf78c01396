"""Tests of comparisons, results and figures."""
