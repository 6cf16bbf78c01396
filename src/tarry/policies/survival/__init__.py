"""Policies on survival curves, which count a play from its first moment on: ours."""
