"""Names for the array types that the whole package uses."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# Elements are read and written as plain Python numbers by code that runs compiled, interpreted
# and live; mypy would see NumPy scalars there, so the element type stays open.
IntArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[Any]
Steps: TypeAlias = npt.NDArray[np.int64]
