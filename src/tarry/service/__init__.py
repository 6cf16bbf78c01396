"""Decisions over HTTP: a thin layer over agents and their stores, and a client for it."""
