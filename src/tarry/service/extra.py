"""What a service needs beside tarry itself."""

import importlib

from tarry.errors import MissingExtraError

PACKAGES = ("msgspec", "starlette", "uvicorn", "prometheus_client")


def check_extra() -> None:
    """Refuse to serve where a package of the extra `serve` is missing."""
    for package in PACKAGES:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError.of("tarry serve", package, "serve") from error
