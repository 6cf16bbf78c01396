"""Settings shared by all tests."""

import gc
import os

import pytest
from hypothesis import settings

# Figures are drawn into files; no test may look for a display.
os.environ.setdefault("MPLBACKEND", "Agg")

# A test process has a million objects that stay, the tests themselves among them. Looking through
# them as often as Python does by itself takes a twentieth of the time.
gc.set_threshold(50_000, 20, 20)

# Agents are interpreted but where machine code is the point: compiling in the background of a test
# that makes many plays would only take the time of others.
os.environ.setdefault("TARRY_COMPILE", "never")

# Examples are the same in every run, so a red run can be repeated; HYPOTHESIS_PROFILE=explore looks
# for new ones. No deadline: the first call of a compiled function compiles it.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=800, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


# Where rules of users' own are compiled, for which the whole loop is compiled anew, with checks.
OF_USERS = (
    *("tests/simulation/test_user_", "tests/compiled/test_teach", "tests/typing/"),
    *("docs/skeleton_policy", "docs/tutorials/researcher"),
)


SAME = {"SurvivalRegression": "SurvivalThompson"}  # the same rule where requests do not differ


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one policy run in one process: two would compile its rule at once, for seconds."""
    for item in items:
        if item.nodeid.startswith(OF_USERS):
            item.add_marker(pytest.mark.xdist_group("users"))
            continue
        parameters = getattr(item, "callspec", None) and item.callspec.params  # type: ignore[attr-defined]
        case = parameters and (parameters.get("case") or parameters.get("policy"))
        policy = type(case[0] if isinstance(case, tuple) else case)
        if policy.__module__.startswith("tarry.policies") and not item.get_closest_marker(
            "xdist_group"
        ):
            item.add_marker(pytest.mark.xdist_group(SAME.get(policy.__name__, policy.__name__)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups must have reached those who hand out the tests, which they do in a test's name."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
            pytest.exit(f"{item.nodeid} has lost its group: pytest and pytest-xdist do not fit.", 3)
