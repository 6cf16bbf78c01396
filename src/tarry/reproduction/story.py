"""What the report says first: the findings in a paragraph, and what so many verdicts mean."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tarry.experiments.result import Result
from tarry.problems.problem import Payoff
from tarry.reproduction.claims import Claim
from tarry.reproduction.paper import OURS, PAPERS
from tarry.reproduction.verdicts import FAILS, HOLDS, OPEN, firm
from tarry.tables import counted


def findings(claims: Sequence[Claim], whole: Mapping[Payoff, Result]) -> str:
    """The findings, computed from the verdicts."""
    told = [sentence for payoff in whole for sentence in against_rivals(claims, payoff)]
    told += [ours(payoff, result) for payoff, result in whole.items()]
    return " ".join(filter(None, told))


def against_rivals(claims: Sequence[Claim], payoff: Payoff) -> Iterator[str]:
    """The paper's policy against each of its rivals."""
    paper, *rivals = PAPERS[payoff]
    parts = []
    for rival in rivals:
        text = f"{payoff.capitalize()}: {paper} outperforms {rival}."
        rows = [claim for claim in claims if claim.claim == text]
        less, more, unknown = (
            [row.where for row in rows if row.verdict == word] for word in (HOLDS, FAILS, OPEN)
        )
        if rows and len(less) == len(rows):
            parts.append(f"less regret than {rival} on all {len(rows)} families of delays")
        elif rows:
            words = (("less", less), ("more", more), ("no telling which", unknown))
            told = [f"{word} on {listed(names)}" for word, names in words if names]
            first = told[0].replace(" on ", f" regret than {rival} on ", 1)
            parts.append(", ".join([first, *told[1:]]))
    if parts:
        yield f"With delay as {payoff}, the paper's {paper} has {', and '.join(parts)}."


def ours(payoff: Payoff, result: Result) -> str:
    """How far below the paper's policy the ones are that we recommend."""
    paper = PAPERS[payoff][0]
    found = []
    for policy in OURS[payoff]:
        if policy in result.policies:
            ratios = [
                result.regret(paper, name)[:, -1].mean() / result.regret(policy, name)[:, -1].mean()
                for name in result.problems
            ]
            found.append(f"{policy} {times(min(ratios))} to {times(max(ratios))}")
    if not found:
        return ""
    return (
        f"Our own policies divide the regret of {paper} by, from family to family: "
        f"{', '.join(found)}."
    )


def times(ratio: float) -> str:
    """A ratio with two digits."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def listed(names: Sequence[str]) -> str:
    """Names of problems in a sentence."""
    short = [name.replace("truncated normal ", "scale ") for name in names]
    return short[0] if len(short) == 1 else f"{', '.join(short[:-1])} and {short[-1]}"


def counts(claims: Sequence[Claim]) -> str:
    """How many verdicts there are, and what that means."""
    count = Counter(claim.verdict for claim in claims)
    decided = len(claims) - count[OPEN]
    stay = sum(firm([claim.test for claim in claims]))
    by_chance = f"{0.05 * len(claims):.0f}"
    return (
        f"Of {counted(len(claims), 'verdict')}, {count[HOLDS]} say that the claim holds, "
        f"{count[FAILS]} that it does not hold here, and {count[OPEN]} are undecided. Each test "
        f"errs in about 5 % of the cases, so that of {len(claims)} claims without any truth in "
        f"them about {by_chance} would be decided all the same. Of the {decided} that are decided, "
        f"{stay} stay so when the 5 % is shared by all of them (Holm's method); the others have a "
        f"star."
    )


def marks(claims: Sequence[Claim]) -> dict[Claim, str]:
    """A star behind verdicts that are decided alone, but not among all."""
    stays = firm([claim.test for claim in claims])
    return {
        claim: "" if stay or claim.verdict == OPEN else " *"
        for claim, stay in zip(claims, stays, strict=True)
    }
