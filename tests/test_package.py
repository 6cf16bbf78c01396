"""The package as a whole: its version, and what importing it costs."""

import importlib.metadata
import importlib.resources
import re
import subprocess
import sys
from pathlib import Path

import tarry

HEAVY = ("numba", "matplotlib", "scipy.stats", "pyarrow", "distributed", "sqlite3")


def test_version_is_that_of_the_installed_package() -> None:
    """The version in the source is the one that the package metadata tells."""
    assert tarry.__version__ == importlib.metadata.version("tarry")


def test_import_loads_nothing_heavy() -> None:
    """Importing tarry leaves every heavy package unloaded, in a fresh interpreter."""
    code = f"import sys, tarry; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_type_information_is_shipped() -> None:
    """The marker file that tells type checkers to read our annotations is part of the package."""
    assert (importlib.resources.files(tarry) / "py.typed").is_file()


def test_package_runs_as_a_command() -> None:
    """`python -m tarry --version` prints the name and the version."""
    command = [sys.executable, "-m", "tarry", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"tarry {tarry.__version__}"


def test_version_stands_in_one_place() -> None:
    """No file of the project states the version but the one that the build reads it from."""
    root = Path(__file__).parents[1]
    stated = re.compile(rf"^\s*(__version__|version)\s*[:=]\s*[\"']?{re.escape(tarry.__version__)}")
    patterns = ("*.toml", "*.md", "*.cff", "docs/**/*.md", "docs/**/*.py", "src/**/*.py")
    places = [
        path.relative_to(root).as_posix()
        for pattern in patterns
        for path in root.glob(pattern)
        if any(stated.match(line) for line in path.read_text().splitlines())
    ]
    assert places == ["src/tarry/_version.py"]
