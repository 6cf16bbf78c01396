"""Bandits that learn while they wait."""

from tarry._version import __version__

__all__ = ["__version__"]
