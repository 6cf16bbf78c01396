"""What goes in and out as JSON; the types check requests and make the OpenAPI document."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

LONGEST_NAME = 200  # characters
MOST_ARMS = 2000
DIGITS = "^[0-9]{1,19}$"
LONGEST_TIME = 9_000_000_000.0  # seconds

Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LONGEST_NAME,
        description="The name of an arm, without control characters.",
        examples=["fra"],
    ),
]
Seconds = Annotated[float, Meta(ge=0, le=LONGEST_TIME, description="Seconds, 0 or more.")]
Positive = Annotated[float, Meta(ge=0.000001, le=LONGEST_TIME, description="Seconds, above 0.")]
Digits = Annotated[
    str,
    Meta(
        pattern=DIGITS,
        description="The id of a play: digits, as text, since it has more of them than the numbers "
        "of JavaScript can hold.",
    ),
]
PlayId = Digits | Annotated[int, Meta(ge=0, le=2**63 - 1)]
Context = Annotated[
    dict[Annotated[str, Meta(max_length=LONGEST_NAME)], str | float | None],
    Meta(max_length=100, description="What is known of the request, by the names of features."),
]
Token = Annotated[str, Meta(min_length=1, max_length=2000, description="From /v1/page/ask.")]
AgentName = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_NAME, description="The name of an agent."),
]


def is_name(text: str) -> bool:
    """Whether an agent can have this name: some addresses cannot be written otherwise."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and text not in (".", "..")


class Body(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Something that is sent to the service: what nobody knows is refused, not ignored."""


class Feature(Body):
    """A feature of requests: one of a few texts, a number, or a number that comes round."""

    values: Annotated[list[str], Meta(min_length=1, max_length=200)] | None = None
    log: Annotated[bool, Meta(description="Of a number, whether its logarithm counts.")] = False
    curve: Annotated[bool, Meta(description="Of a number, whether its square counts too.")] = False
    missing: (
        Annotated[float, Meta(description="A number that stands for one that is not known.")] | None
    ) = None
    period: (
        Annotated[float, Meta(gt=0, description="After how much it comes round, in its own unit.")]
        | None
    ) = None


class AgentBody(Body):
    """An agent to be made, or to be as said here."""

    arms: Annotated[list[Name], Meta(min_length=1, max_length=MOST_ARMS)]
    payoff: Literal["cost", "reward"]
    max_delay: Positive
    policy: (
        Annotated[
            str,
            Meta(max_length=500, description='As "RegimeThompson" or "BDSE(keep_history=True)".'),
        ]
        | UnsetType
    ) = UNSET
    lease: Positive | UnsetType | None = UNSET
    heartbeat: Positive | UnsetType | None = UNSET
    features: (
        Annotated[
            dict[str, Feature],
            Meta(
                description='By name: {"values": ["phone", "desktop"]} for one of a few texts, {} '
                'for a number, {"period": 24} for one that comes round. A number may have {"log": '
                'true} if its logarithm counts, {"curve": true} if its square counts too, and '
                '{"missing": -1} if -1 stands for one that is not known.'
            ),
        ]
        | UnsetType
    ) = UNSET
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | UnsetType = UNSET
    horizon: Annotated[int, Meta(ge=2, le=2**62)] | UnsetType = UNSET
    keep: Annotated[
        bool,
        Meta(description="Whether arms that are there and not given stay; else they go for good."),
    ] = False


class ArmBody(Body):
    """An arm that comes."""

    arm: Name


class Ask(Body):
    """A request for a choice."""

    context: Context | None = None


class Tell(Body):
    """A play came back just now, or took `delay` seconds."""

    play: PlayId
    delay: Seconds | None = None


class Which(Body):
    """A play."""

    play: PlayId


class Alive(Body):
    """A play has lasted so long, and goes on."""

    play: PlayId
    seconds: Seconds


class Explain(Body):
    """For which request; for all of them if there is no context."""

    context: Context | None = None


class PageAsk(Body):
    """A page asks for its variant."""

    agent: AgentName
    key: Annotated[str, Meta(max_length=200)] = ""
    context: Context | None = None


class PageReport(Body):
    """A page reports how long it was looked at so far."""

    token: Token
    seconds: Seconds


class Asked(Struct):
    """A choice."""

    play: Digits
    arm: Name
    time: Annotated[float, Meta(description="When it began: seconds since the epoch, UTC.")]


class ToldAnswer(Struct):
    """What became of an answer."""

    told: Literal["returned", "repeated", "late", "forgotten"]


class StillOut(Struct):
    """Whether the play is still out: if not, nobody need go on reporting."""

    out: bool


class Cancelled(Struct):
    """Whether the play was still out."""

    cancelled: bool


class PageAsked(Struct):
    """A variant for a page, and what it needs to report."""

    token: Token
    arm: Name
    heartbeat: Annotated[float, Meta(description="Seconds between two reports.")]
    max_delay: float
    lease: float


class Arm(Struct):
    """An arm of an agent."""

    name: str
    paused: bool


class AgentShown(Struct):
    """An agent."""

    name: str
    arms: list[Arm]
    payoff: Literal["cost", "reward"]
    max_delay: float
    lease: float | None
    heartbeat: float | None
    policy: str
    features: dict[str, Feature] | None
    counts: Annotated[dict[str, int], Meta(description="Numbers of plays, and of what was odd.")]
    store: Annotated[str, Meta(description="Why it cannot be written just now; empty if it can.")]


class AgentNames(Struct):
    """The agents of this service."""

    agents: list[str]


class ArmExplained(Struct):
    """What is known of an arm; times are in seconds, null where nothing is known."""

    arm: str
    plays: int
    returned: int
    pending: int
    oldest_pending: float | None
    closed: int
    cancelled: int
    failed: int
    late: int
    mean: float | None
    low: float | None
    high: float | None
    share: float
    paused: bool
    why: str
    since: float | None
    sure: float | None
    vanished: int
    void: int


class Explained(Struct):
    """What an agent knows."""

    policy: str
    payoff: Literal["cost", "reward"]
    counts: dict[str, int]
    probing: float | None
    warning: str
    arms: list[ArmExplained]


class History(Struct):
    """The latest plays, oldest first; a list for each column."""

    arms: Annotated[list[str], Meta(description="The names of all arms that the plays have.")]
    arm: Annotated[list[int], Meta(description="The place in `arms` of the arm of each play.")]
    time: Annotated[list[float], Meta(description="Seconds: what it took, or its age so far.")]
    finished: list[bool]
    start: Annotated[list[float], Meta(description="Seconds since the epoch, UTC.")]
    status: list[str]
    context: dict[str, list[Any]]
    max_delay: float
    total: Annotated[int, Meta(description="How many plays the history has in all.")]


class Problem(Struct):
    """An error, as RFC 9457 has it; `detail` is one sentence."""

    type: str
    title: str
    status: int
    detail: str


class Health(Struct):
    """Whether the service works."""

    status: Literal["ok", "behind"]
    agents: int
