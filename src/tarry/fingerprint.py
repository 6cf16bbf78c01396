"""Which sources this process runs: one fingerprint for kept results and for cached machine code.

What stands above the simulator (the command line, figures, the live agent) cannot change a run, so
a change there leaves both valid.
"""

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tarry

PACKAGE = Path(__file__).parent
WITHOUT_EFFECT = ("cli", "demo", "experiments", "live", "reproduction", "service")


@cache
def source_fingerprint() -> str:
    """The fingerprint of this tarry."""
    return fingerprint_of(PACKAGE)


def fingerprint_of(package: Path) -> str:
    """A hash over the names and contents of the sources that decide what happens in a run."""
    content = hashlib.sha256()
    for source in sources(package):
        content.update(source.relative_to(package).as_posix().encode())
        content.update(source.read_bytes())
    return content.hexdigest()[:16]


def changed_since_import() -> bool:
    """Whether a source is newer than this process, so that nobody knows which one it has loaded."""
    begin = tarry._imported_at  # noqa: SLF001  # kept private from users, not from the package
    return any(source.stat().st_ctime > begin for source in sources(PACKAGE))


def sources(package: Path) -> Iterator[Path]:
    """The source files that decide what happens in a run, in a fixed order.

    Not in the folders of machine code: another process may be removing an old one.
    """
    found = []
    for folder, inner, names in os.walk(package):
        inner[:] = [name for name in inner if name != "__pycache__"]
        found += [Path(folder, name) for name in names if name.endswith(".py")]
    for source in sorted(found):
        if source.relative_to(package).parts[0] not in WITHOUT_EFFECT:
            yield source
