"""What runs in the environment of a peer: `python -m benchmarks.peers.worker ADAPTER JOB OUT`."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.contexts import Requests, drive_contexts
from benchmarks.peers.driver import Adapter, World
from benchmarks.peers.probes import PROBES


def run_worlds(adapter: Adapter, policy: str, worlds: list[str]) -> list[dict[str, float]]:
    """Drive one policy through each world."""
    outcomes = []
    for seed, path in enumerate(worlds):
        done = adapter.run(policy, World.load(path), seed)
        outcomes.append({"regret": done.regret, "seconds": done.seconds, "steps": len(done.arms)})
    return outcomes


def run_requests(adapter: Adapter, setting: dict[str, Any], path: str) -> dict[str, float]:
    """Drive one setting through one world with contexts."""
    world = Requests.load(path)
    learner = adapter.contextual(world.table.shape[1], 1, setting)
    assert learner is not None
    done = drive_contexts(learner, world)
    return {"regret": done.regret, "seconds": done.seconds}


def run_probes(adapter: Adapter, module: str) -> dict[str, str]:
    """Everything that is asked of each library."""
    seen = {label: probe(adapter) for label, probe in PROBES.items()}
    seen["Bandit policies"] = str(adapter.count_policies())
    top = importlib.import_module(module.partition(".")[0])
    seen["Ships types"] = "yes" if (Path(top.__path__[0]) / "py.typed").exists() else "no"
    return seen


def main() -> None:
    """Do the job and leave the outcome in a file; what the library prints does not matter."""
    module, job, out = sys.argv[1:]
    adapter: Adapter = importlib.import_module(f"benchmarks.peers.{module}").ADAPTER
    task: dict[str, Any] = json.loads(job)
    outcome: Any
    if task["do"] == "list":
        outcome = adapter.names()
    elif task["do"] == "probe":
        outcome = run_probes(adapter, task["module"])
    elif task["do"] == "settings":
        outcome = {"documented": adapter.documented, "tried": list(adapter.tried)}
    elif task["do"] == "contexts":
        outcome = run_requests(adapter, task["setting"], task["world"])
    else:
        outcome = run_worlds(adapter, task["policy"], task["worlds"])
    Path(out).write_text(json.dumps(outcome))


if __name__ == "__main__":
    main()
