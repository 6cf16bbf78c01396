"""Names for the array types that the whole package uses."""

from typing import Any, Protocol, TypeAlias

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
