"""The policy that CONTRIBUTING.md offers for copying."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What registering it in the package would do, in a process of its own. Code that is kept on disk is
# only that of the package, so the test of that has nothing to see.
TRIAL = """
import sys
sys.path.insert(0, "docs")
import pytest
import tarry.policies
from skeleton_policy import EpsilonGreedy
tarry.EpsilonGreedy = tarry.policies.POLICIES["EpsilonGreedy"] = EpsilonGreedy
chosen = "EpsilonGreedy and not one_machine_code"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", chosen, "tests/conformance"]))
"""


def test_skeleton_passes_what_every_policy_must_pass() -> None:
    """The skeleton, registered as a new policy would be, passes the conformance tests."""
    done = subprocess.run(
        [sys.executable, "-c", TRIAL], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
