"""What a step is made of: units of work in the order in which the host issued them."""

import numpy as np
import numpy.typing as npt

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ranks import ranked

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]

KERNEL, GRAPH, COPY, HOST_COPY, SYNC = range(5)
"""What a unit is. HOST_COPY: a copy to or from the host; with SYNC, a wait, these are exchanges with the host."""


@dataclass(frozen=True)
class Units:
    """Units of work in host order, one entry each. All times in ns."""

    token: Ints
    """Equal for the same work: numbers from 0 on."""
    kind: Codes
    host: Times
    """When the host began to issue the unit; ascending."""
    returned: Times
    """When the host was done with issuing it."""
    gpu: Times
    """When its first operation began; `host` where it has none."""
    end: Times
    """When its last operation ended."""

    def __len__(self) -> int:
        return len(self.token)

    def of(self, rows: Ints | slice) -> "Units":
        """Return some of the units, in the order given."""
        return Units(
            self.token[rows], self.kind[rows], self.host[rows], self.returned[rows], self.gpu[rows], self.end[rows]
        )

    def part(self, first: int, last: int) -> "Units":
        """Return the units `first` to `last` (excluded)."""
        return self.of(slice(first, last))

    def followed_by(self, other: "Units") -> "Units":
        """Return the units of both, these first."""
        return Units(
            np.append(self.token, other.token),
            np.append(self.kind, other.kind),
            np.append(self.host, other.host),
            np.append(self.returned, other.returned),
            np.append(self.gpu, other.gpu),
            np.append(self.end, other.end),
        )

    @property
    def is_exchange(self) -> npt.NDArray[np.bool_]:
        """Return which units copy to or from the host, or wait."""
        return self.kind >= HOST_COPY

    @property
    def is_work(self) -> npt.NDArray[np.bool_]:
        """Return which units are kernels or graphs."""
        return self.kind <= GRAPH


def work(units: Units, first: int, last: int) -> dict[int, int]:
    """Return how often each kernel occurs in the units `first` to `last` (excluded); graphs count as alike, as -1."""
    body = units.part(first, last)
    tokens = np.where(body.kind == GRAPH, -1, body.token)[body.is_work]
    numbers, place = ranked(tokens)
    return dict(zip(numbers.tolist(), np.bincount(place, minlength=len(numbers)).tolist(), strict=True))


def shared(one: dict[int, int], other: dict[int, int]) -> int:
    """Return how much work two bodies have in common, in units."""
    return sum(min(count, other.get(token, 0)) for token, count in one.items())
