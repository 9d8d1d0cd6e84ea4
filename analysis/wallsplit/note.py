"""What a person must know about an analysis, as a value."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True)
class Note:
    """A sentence a newcomer understands, about what the numbers can and cannot say."""

    level: Level
    text: str
