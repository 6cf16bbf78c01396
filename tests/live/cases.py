"""The cases of the conformance tests, for agents."""

import dataclasses
from typing import Any


def never_stopping(policy: Any) -> Any:
    """The policy; one with a threshold gets one that some arm always meets."""
    if not hasattr(policy, "threshold"):
        return policy
    easy = 0.001 if "reward" in policy.payoffs else 0.999
    return dataclasses.replace(policy, threshold=easy)
