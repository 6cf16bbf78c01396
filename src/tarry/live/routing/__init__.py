"""Requests sent along routes that an agent chooses: what the HTTP transports share.

`tarry.live.httpx` and `tarry.live.httpx2` are the doors. The two packages are one interface under
two names, so everything here works with either: it is handed the package and imports neither.
"""
