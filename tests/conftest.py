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


# Families of policies whose rules call the same functions, and what else compiles such a rule.
SAME = {"change": "survival", "contexts": "survival"}
OF_FAMILIES = {"docs/concepts/change.md": "survival"}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one family of policies run in one process: another would compile the same again."""
    for item in items:
        if item.nodeid.startswith(OF_USERS):
            item.add_marker(pytest.mark.xdist_group("users"))
            continue
        document = item.nodeid.partition("::")[0]
        if document in OF_FAMILIES:
            item.add_marker(pytest.mark.xdist_group(OF_FAMILIES[document]))
            continue
        parameters = getattr(item, "callspec", None) and item.callspec.params  # type: ignore[attr-defined]
        case = parameters and (parameters.get("case") or parameters.get("policy"))
        policy = type(case[0] if isinstance(case, tuple) else case)
        if policy.__module__.startswith("tarry.policies") and not item.get_closest_marker(
            "xdist_group"
        ):
            family = policy.__module__.split(".")[2]
            item.add_marker(pytest.mark.xdist_group(SAME.get(family, family)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups must have reached those who hand out the tests, which they do in a test's name."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
            pytest.exit(f"{item.nodeid} has lost its group: pytest and pytest-xdist do not fit.", 3)
