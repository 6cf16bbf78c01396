"""Each library in an environment of its own under .venv-peers, as pip installs it today."""

import json
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv-peers"


@dataclass(frozen=True)
class Peer:
    """A library that is compared."""

    name: str
    adapter: str  # module of this folder
    package: str  # what pip is told
    module: str  # what must be importable
    rescue: tuple[str, ...] = ()  # older packages to try if it is not

    @property
    def python(self) -> str:
        """The interpreter of its environment."""
        return str(HOME / self.adapter.removeprefix("with_") / "bin" / "python")


TARRY = Peer("tarry", "with_tarry", "", "tarry")
PEERS = (
    Peer("river", "with_river", "river", "river.bandit"),
    Peer("MABWiser", "with_mabwiser", "mabwiser", "mabwiser.mab"),
    Peer(
        "SMPyBandits",
        "with_smpybandits",
        "SMPyBandits",
        "SMPyBandits.Policies",
        rescue=("scipy<1.14",),
    ),
    Peer("Vowpal Wabbit", "with_vowpal", "vowpalwabbit", "vowpalwabbit"),
)


@dataclass(frozen=True)
class Installed:
    """What came of an attempt to install."""

    works: bool
    note: str  # what went wrong, empty if nothing did
    version: str = ""
    packages: int = 0  # installed with it
    releases: int = 0  # that pip offers for this Python


def install(peer: Peer, *, fresh: bool) -> Installed:
    """Install a peer, or use what an earlier call has installed; tarry is always brought up."""
    stamp = Path(peer.python).parents[1] / "installed.json"
    if stamp.exists() and not fresh and peer is not TARRY:
        return Installed(**json.loads(stamp.read_text()))
    if fresh or not Path(peer.python).exists():
        venv.create(Path(peer.python).parents[1], clear=True, with_pip=True)
    done = _attempt(peer)
    if done.works:
        _pip(peer, "install", "numpy")  # the driver needs it, though not every library does
    stamp.write_text(json.dumps(asdict(done)))
    return done


def _attempt(peer: Peer) -> Installed:
    if peer is TARRY:
        return _describe(peer, _install_tarry(peer), "")
    refusal = _pip(peer, "install", peer.package)
    if refusal:
        return Installed(works=False, note=f"pip cannot install it: {refusal}")
    trouble = _import_trouble(peer)
    if not trouble:
        return _describe(peer, "", "")
    note = f"as pip installs it, `import {peer.module}` fails: {trouble}"
    if not peer.rescue or _pip(peer, "install", peer.package, *peer.rescue):
        return Installed(works=False, note=note)
    return _describe(peer, _import_trouble(peer), f"{note}; measured with {', '.join(peer.rescue)}")


def _install_tarry(peer: Peer) -> str:
    """Build a wheel from this checkout and install it."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        trouble = _run([*build, "--no-build-isolation", "-w", folder, str(ROOT)])
        if trouble:
            return trouble
        wheel = next(Path(folder).glob("*.whl"))
        return _pip(peer, "install", str(wheel)) or _pip(
            peer, "install", "--no-deps", "--force-reinstall", str(wheel)
        )


def _describe(peer: Peer, trouble: str, note: str) -> Installed:
    if trouble:
        return Installed(works=False, note=f"{note}; {trouble}" if note else trouble)
    freeze = _output([peer.python, "-m", "pip", "list", "--format=freeze"]).splitlines()
    versions = {line.split("==")[0].lower(): line.split("==")[1] for line in freeze if "==" in line}
    for tool in ("pip", "setuptools", "wheel"):
        versions.pop(tool, None)
    releases = 0
    if peer.package:
        listing = _output([peer.python, "-m", "pip", "index", "versions", peer.package])
        releases = len(listing.partition("Available versions:")[2].partition("\n")[0].split(","))
    version = versions[(peer.package or "tarry").lower()]
    return Installed(True, note, version, len(versions), releases)


def _pip(peer: Peer, *arguments: str) -> str:
    return _run([peer.python, "-m", "pip", "--disable-pip-version-check", *arguments])


def _import_trouble(peer: Peer) -> str:
    return _run([peer.python, "-W", "ignore", "-c", f"import {peer.module}"])


def _run(command: list[str]) -> str:
    """The last line of what went wrong, without paths; empty if all went well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return re.sub(r"\s*\(?(/|file:|https?:)[^\s)]*\)?", "", lines[-1]) if lines else "no message"


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
