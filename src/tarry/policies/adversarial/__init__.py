"""Policies for worlds that follow no law: an adversary has written down every delay before."""
