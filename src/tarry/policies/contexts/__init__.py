"""Policies that look at the request: the best arm may depend on it."""
