"""Policies for worlds that change: ours, and rivals from the literature."""
