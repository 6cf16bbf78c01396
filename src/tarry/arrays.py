"""Names for the array types that the whole package uses, and what an array of a rule is for.

Every array in a rule, and in the ledger, has a *role*, which stands in its annotation:

    ArmEvidence[Floats]     what happened, by arm: only facts change it (an answer, an age, a start)
    SharedEvidence[Floats]  what happened, of no arm in particular
    ArmState[Floats]        what decisions keep for themselves, by arm: a cached draw, a bound
    SharedState[Floats]     likewise, of no arm in particular: the threshold B of an elimination
    FreshState[Ints]        positions in the list of arms, worth nothing once the arms change
    Constant[Floats]        follows from the settings and never changes: the edges of bins

Arrays by arm are arm-major: an array of n numbers for K arms has n / K of them for arm 0, then as
many for arm 1, and so on. With that, arms can come, go and pause while nobody has to guess.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[Any]
Steps: TypeAlias = npt.NDArray[np.int64]


class Ints(Protocol):
    """Integers by position: an array in the simulator, a list in live use."""

    def __getitem__(self, position: int, /) -> int:
        """The number at this position."""

    def __setitem__(self, position: int, value: int, /) -> None:
        """Replace it."""

    def __len__(self) -> int:
        """How many there are."""


class Floats(Protocol):
    """Floating-point numbers by position, as `Ints`."""

    def __getitem__(self, position: int, /) -> float:
        """The number at this position."""

    def __setitem__(self, position: int, value: float, /) -> None:
        """Replace it."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(frozen=True)
class Role:
    """What an array is for: see the module."""

    name: str
    evidence: bool = False  # changed by facts only, never by a decision
    by_arm: bool = False  # arm-major; an arm takes its part along
    kept: bool = False  # stays when arms change, though it is not by arm

    @property
    def only_read(self) -> bool:
        """Whether decisions only read it."""
        return self.evidence or self.name == "Constant"


T = TypeVar("T")
ArmEvidence = Annotated[T, Role("ArmEvidence", evidence=True, by_arm=True)]
SharedEvidence = Annotated[T, Role("SharedEvidence", evidence=True, kept=True)]
ArmState = Annotated[T, Role("ArmState", by_arm=True)]
SharedState = Annotated[T, Role("SharedState", kept=True)]
FreshState = Annotated[T, Role("FreshState")]
Constant = Annotated[T, Role("Constant")]


def is_tuple(value: Any) -> bool:
    """Whether `value` is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_writable(array: Any) -> bool:
    """Whether an array, or a list, can be changed."""
    return not isinstance(array, np.ndarray) or array.flags.writeable


@functools.lru_cache(maxsize=256)  # every snapshot of an agent asks
def roles_of(cls: type) -> dict[str, Role]:
    """The roles that the fields of a NamedTuple class name, by field."""
    roles = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        found = [a for a in get_args(hint)[1:] if isinstance(a, Role)]
        if get_origin(hint) is Annotated and found:
            roles[name] = found[0]
    return roles


def arrays_of(value: Any, path: str = "") -> Iterator[tuple[str, Any, Role | None]]:
    """All arrays of a NamedTuple and of those inside it: path, array and role, None if not said."""
    roles = roles_of(type(value))  # type: ignore[arg-type]  # classes are hashable
    for name, field in zip(value._fields, value, strict=True):
        if is_tuple(field):
            yield from arrays_of(field, f"{path}{name}.")
        elif hasattr(field, "__setitem__"):
            yield f"{path}{name}", field, roles.get(name)
