"""Tests of the paper's theory."""
