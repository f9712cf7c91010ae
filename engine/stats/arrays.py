"""Sums over an index, as floats whatever goes in. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def sum_by(index: Ints, values: Floats, size: int = 0) -> Floats:
    """The sum of `values` at each index; at least `size` long. An empty index gives zeros."""
    import numpy as np

    return np.bincount(index, weights=values, minlength=size).astype(np.float64)


def count_by(index: Ints, size: int = 0) -> Floats:
    """How often each index occurs; at least `size` long."""
    import numpy as np

    return np.bincount(index, minlength=size).astype(np.float64)
