"""Tests of comparisons, results, figures and the report."""
