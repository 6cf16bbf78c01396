"""`make check-package`: install what was built into empty environments and try it there.

Each of wheel, source distribution and extras gets an environment of its own in a temporary folder,
without the sources and without anything else; so do the oldest packages that pyproject.toml allows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
UV = Path(sys.executable).parent / "uv"
LOWEST = ("--quiet", "--all-extras", "--no-emit-package=tarry", "--resolution=lowest-direct")
Word = str | Path


def main() -> int:
    """Check every case; the first that fails ends it."""
    parser = argparse.ArgumentParser("check.py", description=__doc__)
    parser.add_argument("dist", type=Path, help="the folder with wheel and source distribution")
    dist = parser.parse_args().dist.resolve()
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    smoke, typed = HERE / "smoke.py", HERE.parent / "typing" / "example.py"
    mypy = ("-m", "mypy", "--strict", typed)
    try:
        try_out("wheel", [wheel], [smoke])
        for extra in ("plots", "dask", "live", "postgres", "serve", "all"):
            try_out(f"wheel with {extra}", [f"{wheel}[{extra}]"], [smoke, extra])
        try_out("source distribution", [source], [smoke])
        try_out("types", [wheel, "mypy"], mypy)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as lowest:
            run(
                UV, "pip", "compile", *LOWEST, "--output-file", lowest.name, ROOT / "pyproject.toml"
            )
            try_out("wheel with the oldest packages", [wheel, "-r", lowest.name], [smoke, "all"])
    except subprocess.CalledProcessError as error:
        print(f"Failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    print("All packages work.")
    return 0


def try_out(name: str, requirements: Sequence[Word], arguments: Sequence[Word]) -> None:
    """Install into an empty environment and run Python there, away from the sources."""
    print(f"{name}:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        python, work = home / "env" / "bin" / "python", home / "work"
        work.mkdir()
        run(UV, "venv", "--quiet", "--python", sys.executable, home / "env")
        run(UV, "pip", "install", "--quiet", "--python", python, *requirements)
        run(python, "-I", *arguments, folder=work, NUMBA_CACHE_DIR=str(home / "cache"))


def run(*command: Word, folder: Path = HERE, **settings: str) -> None:
    """Run a command, with nothing in its environment that points at the sources."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(command, cwd=folder, env=kept | settings, check=True)


if __name__ == "__main__":
    sys.exit(main())
