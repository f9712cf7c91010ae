"""What a table cell holds: roles, frozen payloads and columns as data.

The contract between item models (which fill them from records) and the table view (which draws
them). Neither knows the other. QtCore only; no colours here, only the names of tones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import Qt

R = TypeVar("R")

UNKNOWN = "–"
"""What stands where a value is not known. Never 0."""


class Role(IntEnum):
    """Roles beside Qt's own. DISPLAY text is what is copied, exported and searched."""

    SORT = Qt.ItemDataRole.UserRole + 1
    RECORD = Qt.ItemDataRole.UserRole + 2
    CELL = Qt.ItemDataRole.UserRole + 3
    MUTED = Qt.ItemDataRole.UserRole + 4
    COLUMN = Qt.ItemDataRole.UserRole + 5


class Align(StrEnum):
    """Words left, figures right; nothing in a table is centred but a place number."""

    LEFT = "left"
    RIGHT = "right"
    CENTRE = "centre"


class Tone(StrEnum):
    """Kinds of chips and strips; each has its own pair of colours and a default icon."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    INFO = "info"
    NEUTRAL = "neutral"


class Tie(StrEnum):
    """Where a row stands in the bracket of models too close to tell apart."""

    NONE = "none"
    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"
    ALONE = "alone"
    """A member whose neighbours are none: the table is sorted otherwise, or weights part the group."""


@dataclass(frozen=True, slots=True)
class Link:
    """A word in a cell that does something; `id` comes back with the click and from the context menu."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A score on 0 to 100: track, band from low to high, dot, number. None = not measured."""

    value: float | None
    low: float | None = None
    high: float | None = None
    text: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class PlaceCell:
    """A place and the row's part of the bracket."""

    text: str
    tie: Tie = Tie.NONE


@dataclass(frozen=True, slots=True)
class ModelCell:
    """A model: its shape and colour (`index` in project order, None = no mark), name, grey suffix."""

    name: str
    index: int | None = None
    suffix: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class ChipCell:
    """A state that is an exception: chip, then grey text, then links."""

    text: str
    tone: Tone = Tone.NEUTRAL
    icon: str = ""
    links: tuple[Link, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class IconTextCell:
    """The normal state: small icon and grey text, then links. `icon_tone` colours the icon."""

    icon: str
    text: str
    icon_tone: str = "good"
    tone: str = "text2"
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class LaneCell:
    """Capsules: `used` filled, up to `width` free, up to `configured` closed; `text` beside them."""

    used: int
    width: int
    configured: int
    text: str


@dataclass(frozen=True, slots=True)
class ProgressCell:
    """Text and a small bar; `share` and `failed` 0 to 1, the second drawn in red after the first."""

    text: str
    share: float
    failed: float = 0.0


@dataclass(frozen=True, slots=True)
class TwoLineCell:
    """A name with a grey second line."""

    title: str
    second: str


@dataclass(frozen=True, slots=True)
class ChangeCell:
    """Before (ring) and after (dot) on 0 to 100, with words. `tone`: good, bad or text2."""

    before: float | None
    after: float | None
    text: str
    tone: str = "text2"


@dataclass(frozen=True, slots=True)
class MarksCell:
    """One mark per model: passed, failed, or None = no answer."""

    marks: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class LinksCell:
    """Only links, at the right end."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class TitleMarksCell:
    """A list row: number, title with grey second line, marks at the right."""

    number: str
    title: str
    second: str
    marks: tuple[bool | None, ...] = ()


Cell = (
    ScoreCell
    | PlaceCell
    | ModelCell
    | ChipCell
    | IconTextCell
    | LaneCell
    | ProgressCell
    | TwoLineCell
    | ChangeCell
    | MarksCell
    | LinksCell
    | TitleMarksCell
)


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column as data. `text` is what is shown, copied and searched; the rest refines it.

    `sort` gives a comparable value or None for unknown (always last); without it the text sorts.
    `spoken` is for screen readers where the text alone does not say it. `drop` > 0 lets the table
    hide the column when it gets narrow, lowest number first. `put` makes cells editable and answers
    whether the value was taken; `checked` makes it a column of check boxes.
    """

    id: str
    title: str
    text: Callable[[R], str]
    cell: Callable[[R], Cell | None] | None = None
    sort: Callable[[R], Any] | None = None
    sortable: bool = True
    spoken: Callable[[R], str] | None = None
    tip: Callable[[R], str] | None = None
    align: Align = Align.LEFT
    weight: str = "body"
    tone: str = "text"
    width: int = 120
    minimum: int = 56
    stretch: int = 0
    drop: int = 0
    hidden: bool = False
    can_hide: bool = True
    edit: Callable[[R], Any] | None = None
    put: Callable[[R, Any], bool] | None = None
    checked: Callable[[R], bool] | None = None
    check: Callable[[R, bool], None] | None = None
    help: str = ""
    head_models: tuple[int, ...] = ()


class Shown(NamedTuple):
    """What is drawn in one cell: the payload, or the text where there is none; a check box before it."""

    text: str
    cell: Cell | None = None
    check: Qt.CheckState | None = None
    muted: bool = False


class TableRows(Protocol):
    """What the table view asks of a model beside Qt's own calls."""

    counts_changed: Any

    def shown(self, row: int, section: int) -> Shown: ...
    def column_at(self, section: int) -> Column[Any]: ...
    def shown_count(self) -> int: ...
    def total_count(self) -> int: ...
    def set_filter(self, text: str) -> None: ...
    def filter_text(self) -> str: ...
    def sorted_by(self) -> tuple[str, Qt.SortOrder] | None: ...
    def row_key(self, row: int) -> Any: ...
    def row_of(self, key: Any) -> int: ...
    def rows_of(self, keys: Collection[Any]) -> list[int]: ...
    def read_texts(
        self,
        rows: Sequence[int],
        sections: Sequence[int],
        make: Callable[[Sequence[Sequence[str]]], Any],
        take: Callable[[Any], None],
    ) -> bool: ...
