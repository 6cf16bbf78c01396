"""Policies that play the arm with the best index."""
