"""Tests of the paper's claims and of the report."""
