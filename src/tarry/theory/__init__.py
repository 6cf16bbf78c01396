"""The paper's theory as functions of a problem: bounds, floors, and the event the proofs need.

upper_bound(policy, problem, horizon)      regret at most, as printed or safe
increment_ucb_bound, unbounded_plays       the theorems of our own index
table_one(problem, payoff, horizon)        the orders of the paper's Table 1
lower_cost, lower_reward, lower_close, lower_conservative      regret at least, on pairs
delay_floor, early_floor                   regret at least, on a problem, at every horizon
information_floor                          the same in the limit of long horizons
hindsight_regret                           regret against the best fixed arm of a table
good_event, bound_coverage                 what the proofs assume, checked on a recorded run
"""

from tarry.theory.blind import delay_floor
from tarry.theory.censored_bounds import censored_ucb_bound
from tarry.theory.conservative_bounds import opse_bound, sepk_bound
from tarry.theory.cost_bounds import bdse_bound, cse_bound, doublings
from tarry.theory.coverage import Coverage, bound_coverage, confidence_bounds
from tarry.theory.evidence import Evidence, evidence
from tarry.theory.good_event import GoodEvent, good_event
from tarry.theory.hindsight import hindsight_regret
from tarry.theory.increment_bounds import (
    increment_ucb_bound,
    increment_ucb_gap_free,
    unbounded_plays,
)
from tarry.theory.information import early_floor, information_floor, k_inf
from tarry.theory.lower import (
    LowerBound,
    lower_close,
    lower_conservative,
    lower_cost,
    lower_reward,
)
from tarry.theory.reward_bounds import bhse_bound, halvings, rse_bound
from tarry.theory.upper import BOUNDS, table_one, trivial_bound, upper_bound

__all__ = [
    "BOUNDS",
    "Coverage",
    "Evidence",
    "GoodEvent",
    "LowerBound",
    "bdse_bound",
    "bhse_bound",
    "bound_coverage",
    "censored_ucb_bound",
    "confidence_bounds",
    "cse_bound",
    "delay_floor",
    "doublings",
    "early_floor",
    "evidence",
    "good_event",
    "halvings",
    "hindsight_regret",
    "increment_ucb_bound",
    "increment_ucb_gap_free",
    "information_floor",
    "k_inf",
    "lower_close",
    "lower_conservative",
    "lower_cost",
    "lower_reward",
    "opse_bound",
    "rse_bound",
    "sepk_bound",
    "table_one",
    "trivial_bound",
    "unbounded_plays",
    "upper_bound",
]
