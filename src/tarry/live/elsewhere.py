"""Machine code made by another process: compiling takes long, and others would wait for it.

Python's threads take turns, and a compiler hardly ever lets go in time. So the first process that
wants a rule compiled starts another one, which compiles it and leaves the machine code in the cache
on disk. Loading it from there is what every later process does as well.
"""

import contextlib
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

from tarry.live.maker import types_of

MOST = 300.0  # seconds
SCRIPT = "from tarry.live.elsewhere import compile_here; compile_here()"


def stamp(home: Path, examples: tuple[Any, ...], *, apart: bool = False) -> Path:
    """A file that is there once the cache `home` has machine code for arguments like these."""
    kind = "shared" if apart else "agent"
    return home / f"{kind}-{hashlib.sha256(repr(types_of(examples)).encode()).hexdigest()[:16]}"


def compile_elsewhere(examples: tuple[Any, ...], *, apart: bool = False) -> None:
    """Have another process compile for arguments like these; if it cannot, nothing has happened."""
    if not Path(sys.executable or "").name.startswith(("python", "pypy")):
        return  # some other program, with Python in it
    paths = os.pathsep.join(path for path in sys.path if path)
    with contextlib.suppress(OSError, subprocess.SubprocessError, pickle.PicklingError):
        subprocess.run(  # noqa: S603  # this interpreter, with a script of ours
            [sys.executable, "-P", "-c", SCRIPT],
            input=pickle.dumps((examples, apart)),
            env=os.environ | {"PYTHONPATH": paths, "TARRY_COMPILE": "never"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=MOST,
            check=False,
        )


def compile_here() -> None:
    """What the other process does."""
    from tarry.compiled.cache import cache_directory
    from tarry.live.machine import compiled_steps

    examples, apart = pickle.load(sys.stdin.buffer)  # noqa: S301  # from who started this one
    home = cache_directory()
    if home is not None:
        compiled_steps(examples, apart=apart)
        stamp(home, examples, apart=apart).touch()
