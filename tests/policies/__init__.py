"""Tests of the decision rules."""
