"""The map of the paper: nothing of the paper is missing, and everything it names exists."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper-map.md").read_text()
CODE = re.compile(r"`(tarry\.[\w.]+)`")
TEST = re.compile(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`")
ENTRY = re.compile(r"^(?!:|#|\s)(.+)\n: Code: (.+)\n: Test: (.+)$", re.MULTILINE)

# All labels of the paper's source.
LABELS = """
alg:BDSE; alg:BDSE_mt; alg:BHSE; alg:BHSE_mt; alg:CSE; alg:CSE_cost_mt; alg:RSE; alg:RSE_reward_mt;
alg:sepk; apndx: notations; corr:BHSE_regret; corr:bdse_regret; cvd; def:g_mt; eq:FI regret;
eq:FI regret reward; eq:L1; eq:L2; eq:L3; eq:LCB; eq:U1; eq:U2; eq:UCB; eq:cost_mu_r_mt;
eq:good-missing; eq:reward_mu_r_mt; eq:sepk_delta_m_bound; eq:sepk_final_m_bound; fig:exp-reward;
lb; lem:G prob cost; lem:G prob reward; lem:G prob sepk; lem:bse_reward_safe_elimination_mt;
lem:cons-freedman; lem:cse_action_regret; lem:cse_safe_elimination; lem:dann; lem:ending;
lem:good_g_prob; lem:mu_r_bound; lem:rbe_action_regret; lem:rbe_safe_elimination;
lem:regret_delta_bound; lem:reward_r_bound; lem:rse_delta_bound; lem:sepk_arm_regret;
lem:sepk_safe_elimination; lem:w_lower_bound; lem:w_lower_bound_helper; lem:w_upper_bound;
lem:w_upper_bound_mt; lemma:CSE_cost_safe_elimination_mt; lemma:good-G; protocol1; sec:bhse_mt;
sec:clb; sec:cost; sec:cse; sec:discussion; sec:experiments; sec:problem setup;
sec:regular successive elimination; sec:related work; sec:reward; sec:rlb; tab:notation; table:1;
thm:CSE_bound; thm:CSE_cost_safe_elimination_mt; thm:bse_reward_safe_elimination_mt; thm:cost_lb_mt;
thm:cse regret; thm:reward_lb_mt; thm:rse_regret
"""
NUMBERED = [
    *(f"Algorithm {number}" for number in range(1, 11)),
    *(f"Equation {number}" for number in range(1, 14)),
    *("Lemma 4.1", "Definition 4.2", "Lemma 4.3", "Lemma 4.4", "Theorem 4.5", "Corollary 4.6"),
    *("Theorem 4.7", "Theorem 5.1", "Theorem 5.2", "Corollary 5.3", "Theorem 5.4"),
    *("Lemma B.1", "Lemma B.2", "Lemma B.3", "Lemma B.4"),
    *("Definition C.1", "Lemma C.2", "Lemma C.3", "Lemma C.4", "Lemma C.5", "Lemma C.6"),
    *("Theorem C.7", "Corollary C.8"),
    *("Definition D.1", "Lemma D.2", "Lemma D.3", "Lemma D.4", "Lemma D.5", "Lemma D.6"),
    *("Theorem D.7", "Corollary D.8", "Theorem E.1", "Theorem E.2", "Theorem E.3"),
    *("Definition F.1", "Lemma F.2", "Lemma F.3", "Lemma F.4", "Theorem F.5"),
    *("Lemma G.1", "Lemma G.2", "Table 1", "Figure 1"),
]
ENTRIES = ENTRY.findall(PAGE)


def found(name: str) -> Any:
    """What a dotted name means: a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            item: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            item = getattr(item, attribute)
        return item
    raise AttributeError(name)


@cache
def functions(path: str) -> set[str]:
    """The names of the test functions in a file."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_label_is_on_the_map() -> None:
    """Each label of the paper's source stands on the page."""
    labels = [label.strip() for label in LABELS.replace("\n", " ").split(";")]
    assert len(labels) == 75
    assert [label for label in labels if f"`{label}`" not in PAGE] == []


def test_every_numbered_thing_has_an_entry() -> None:
    """Each algorithm, equation, lemma, theorem, corollary, definition, table and figure has one."""
    titles = " ".join(title for title, _, _ in ENTRIES)
    missing = [
        thing for thing in NUMBERED if not re.search(rf"{re.escape(thing)}(?![.\d])", titles)
    ]
    assert missing == []


def test_every_entry_is_read() -> None:
    """No entry escapes the tests by its form."""
    assert len(ENTRIES) == PAGE.count("\n: Code: ") == PAGE.count("\n: Test: ") > 40


@pytest.mark.parametrize(("title", "code"), [(title, code) for title, code, _ in ENTRIES])
def test_code_exists(title: str, code: str) -> None:
    """Everything an entry names as code can be imported, and it names something."""
    names = CODE.findall(code)
    assert names
    assert len(names) == code.count("`") / 2
    for name in names:
        assert found(name) is not None


@pytest.mark.parametrize(("title", "tests"), [(title, tests) for title, _, tests in ENTRIES])
def test_tests_exist(title: str, tests: str) -> None:
    """Every test that an entry names is a test function in that file, and it names one."""
    names = TEST.findall(tests)
    assert names
    assert len(names) == tests.count("`") / 2
    for path, function in names:
        assert (ROOT / path).is_file()
        assert not function or function in functions(path)


def test_the_search_for_names_can_fail() -> None:
    """A name that does not exist is noticed."""
    with pytest.raises(AttributeError):
        found("tarry.policies.elimination.cse.CSERule.no_such_method")
