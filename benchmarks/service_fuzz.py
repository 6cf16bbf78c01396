"""Requests made up from the OpenAPI document: `python -m benchmarks.service_fuzz`.

Schemathesis makes up requests, good ones and bad ones, single and chained by the links of the
document: what one answers goes into the next. No answer may be an error of the service, hold a
traceback, or differ from what the document says; and memory must stay within bounds.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.service_process import Serving, memory

MOST = 400.0  # MiB of resident memory more than before: a thousand agents in memory are 250
# What is asked of every answer. Not asked: that all that the document allows is accepted, since
# an agent that is contradicted, or a policy that nobody knows, is refused.
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
    "use_after_free",
    "no_traceback",
)
AGENTS = {
    "0": {"arms": ["0", "fra"], "payoff": "reward", "max_delay": 60.0, "lease": 15.0},
    "1": {"arms": ["0"], "payoff": "cost", "max_delay": 2.0, "features": {"0": {}}},
}
HOOKS = '''"""What schemathesis is told besides."""

import re

import schemathesis

# In pieces: texts of this file are among those that requests are made up from.
WORDS = ("Trace" + "back .most", "Fi" + "le .{1,300}, li" + "ne [0-9]", "sqlite" + "3.[A-Z]")
INSIDE = re.compile("|".join(WORDS))


@schemathesis.check
def no_traceback(ctx, response, case):
    """No answer shows the inside of the service."""
    found = INSIDE.search(response.text)
    if found:
        raise AssertionError(f"{found[0]} in the answer: {response.text[:300]}")
'''


def fuzz(
    seconds: float,
    examples: int,
    seed: int,
    store: str | None = None,
    phases: str = "examples,coverage,fuzzing,stateful",
    *,
    with_keys: bool = True,
) -> tuple[int, str]:
    """A service, and made-up requests for so long; the status, and what was said.

    With keys, requests without one must be refused; without, pages come further.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hooks.py").write_text(HOOKS)
        keys = folder / "keys"
        command = [sys.executable, "-m", "tarry", "key", "manage", "--keys", str(keys)]
        key = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        told = [] if store is None else ["--store", store]
        told += ["--keys", str(keys)] if with_keys else []
        checks = [check for check in CHECKS if with_keys or check != "ignored_auth"]
        with Serving(*told, "--rate", "0", "--page-rate", "0", TARRY_COMPILE="never") as serving:
            bearer = f"Bearer {key}"
            for agent, body in AGENTS.items():  # names that are made up as well, sooner or later
                status, _ = serving.call("PUT", f"/v1/agents/{agent}", body, authorization=bearer)
                assert status == 201
            before = memory(serving.process.pid)
            found = subprocess.run(
                [
                    *(sys.executable, "-m", "schemathesis.cli", "run"),
                    f"{serving.address}/openapi.json",
                    *("--header", f"Authorization: {bearer}"),
                    *("--header", f"Origin: {serving.address}"),
                    *("--exclude-path", "/v1/events"),  # which never ends
                    *("--checks", ",".join(checks)),
                    *("--max-examples", str(examples), "--max-time", str(int(seconds))),
                    *("--seed", str(seed), "--request-timeout", "20", "--no-color"),
                    *("--phases", phases),
                    *("--continue-on-failure", "--generation-database", "none"),
                ],
                cwd=folder,
                env={"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder), "PATH": "/usr/bin"},
                capture_output=True,
                text=True,
                check=False,
            )
            after = memory(serving.process.pid)
            complaints = [line for line in serving.complaints().splitlines() if "error" in line]
            assert serving.call("GET", "/health")[0] == 200
    said = f"{found.stdout[-6000:]}{found.stderr[-2000:]}"
    said += f"\nMemory: {before:.0f} MiB before, {after:.0f} after."
    wrong = [line for line in complaints if '"level": "error"' in line]
    if wrong:
        said += "\nThe service says:\n" + "\n".join(wrong[:5])
    return found.returncode or int(bool(wrong)) or int(after - before > MOST), said


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="half with keys, half without")
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", action="store_true", help="keep agents in files")
    options = parser.parse_args()
    status = 0
    for with_keys in (True, False):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            store = folder if options.file else None
            failed, said = fuzz(
                options.seconds / 2, options.examples, options.seed, store, with_keys=with_keys
            )
        print(said)
        status = status or failed
    print("All is well." if status == 0 else "Something is wrong.")
    return status


if __name__ == "__main__":
    sys.exit(main())
