"""Successive elimination: the policies of the paper and their kin."""
