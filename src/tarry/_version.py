"""The version, kept here alone."""

__version__ = "0.2.0"
