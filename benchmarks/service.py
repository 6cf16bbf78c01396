"""Durable decisions over HTTP: `python -m benchmarks.service`.

One process with a file, `durability="full"`, 64 connections each of which asks again as soon as it
is answered; in turn with the bare stack (`benchmarks.service_bare`), in the same run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.postgres import fdatasync
from benchmarks.service_load import NAME, Seen
from benchmarks.service_process import Serving

ARMS = [f"arm {k}" for k in range(10)]
TARGET, SHARE = 4000.0, 0.4
WARM = 2.0  # seconds


def loaded(port: int, seconds: float, connections: int, what: str) -> Seen:
    """What a load of its own process saw."""
    command = [sys.executable, "-m", "benchmarks.service_load"]
    told = [str(port), str(seconds), str(connections), what]
    found = subprocess.run([*command, *told], check=True, stdout=subprocess.PIPE)
    return Seen(**json.loads(found.stdout))


def compared(seconds: float, rounds: int, connections: int, what: str, durability: str) -> bool:
    """Both in turn, and a table; whether ours is quick enough."""
    rates: dict[str, list[float]] = {"bare": [], "tarry": []}
    with tempfile.TemporaryDirectory(dir=".") as folder:
        bare = Serving("--store", f"{folder}/bare.db", module=("benchmarks.service_bare",))
        ours = Serving(
            "--store",
            f"{folder}/ours",
            "--durability",
            durability,
            "--rate",
            "0",
            TARRY_COMPILE="now",
        )
        with bare, ours:
            body = {"arms": ARMS, "payoff": "cost", "max_delay": 2.0}
            assert ours.call("PUT", f"/v1/agents/{NAME}", body)[0] == 201
            for serving in (bare, ours):
                loaded(serving.port, WARM, connections, "asks")
            print(f"{'':8} {'per second':>11} {'p50':>9} {'p99':>9} {'fdatasync':>10} {'load':>6}")
            for _ in range(rounds):
                for name, serving in (("bare", bare), ("tarry", ours)):
                    disk = fdatasync(Path(folder))
                    kind = what if name == "tarry" else "asks"
                    seen = loaded(serving.port, seconds, connections, kind)
                    assert not seen.wrong, f"{seen.wrong} requests of {name} failed"
                    rate = seen.answers / seen.seconds
                    rates[name].append(rate)
                    print(
                        f"{name:8} {rate:11.0f} {seen.p50:6.1f} ms {seen.p99:6.1f} ms "
                        f"{disk:7.2f} ms {os.getloadavg()[0]:6.1f}",
                        flush=True,
                    )
            counts = ours.call("GET", f"/v1/agents/{NAME}")[1]["counts"]
            print(f"{counts['asked']} plays are kept; {counts['undurable']} are not on the disk.")
    one, other = (statistics.median(rates[name]) for name in ("tarry", "bare"))
    print(f"{what}: {one:.0f} per second, {one / other:.0%} of the bare stack ({other:.0f}).")
    return one >= TARGET or one >= SHARE * other


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--what", default="asks", help="asks, or plays: an ask and a tell in turn")
    parser.add_argument("--durability", default="full")
    options = parser.parse_args()
    good = compared(
        options.seconds, options.rounds, options.connections, options.what, options.durability
    )
    print("The target is met." if good else "The target is missed.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
