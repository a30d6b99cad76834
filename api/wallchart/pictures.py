"""Where everything of the wallchart's picture is. Lengths are in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.wallchart.cells import AWAY_COLOUR, Half, ink_on
from api.wallchart.shown import ShownChart

CELL: Final = 26
MARGIN: Final = 16
NAMES: Final = 176
TOP: Final = 92
# The line with the names of months.
MONTHS: Final = 24
LEGEND: Final = 30
MAX_NAME: Final = 24
# The wider letters of a legend's text.
LETTER_WIDTH: Final = 7.6

_COLOURS: Final = {"off": "#edf1f1", "holiday": "url(#holiday)"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """``colour`` fills the box, or is that of its dashed border if ``kind`` is pending."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    colour: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    is_centred: bool = False
    ink: str = ""


class Picture:
    """The boxes and texts of a chart."""

    def __init__(self, shown: ShownChart) -> None:
        self.boxes: list[Box] = []
        self.labels: list[Label] = []
        self.today: Box | None = None
        self._top = TOP + (MONTHS if shown.months else 0)
        self._bottom = self._top + CELL * len(shown.people)
        self._right = MARGIN + NAMES + CELL * len(shown.days)
        self._add_days(shown)
        for number, person in enumerate(shown.people):
            y = self._top + CELL * number
            name = person.name if len(person.name) <= MAX_NAME else f"{person.name[:MAX_NAME]}…"
            self.labels.append(Label(x=MARGIN, y=y + 18, text=name))
            for column, cell in enumerate(person.cells):
                self._add_cell(cell.halves, MARGIN + NAMES + CELL * column, y)
        legend_end = self._add_legend(shown)
        self.width = self._right + MARGIN
        self.height = legend_end + MARGIN

    @property
    def lines(self) -> str:
        """The grid, as the data of a path."""
        rows = range(self._top, self._bottom + 1, CELL)
        columns = range(MARGIN + NAMES, self._right + 1, CELL)
        return "".join(
            [f"M{MARGIN} {y + 0.5}H{self._right}" for y in rows]
            + [f"M{x + 0.5} {self._top}V{self._bottom}" for x in columns]
        )

    def _add_days(self, shown: ShownChart) -> None:
        start = MARGIN + NAMES
        for month in shown.months:
            self.labels.append(Label(x=start + 4, y=self._top - 50, text=month.name))
            start += CELL * month.day_count
        for column, day in enumerate(shown.days):
            middle = MARGIN + NAMES + CELL * column + CELL / 2
            self.labels.append(Label(x=middle, y=self._top - 26, text=day.letter, is_centred=True))
            self.labels.append(
                Label(x=middle, y=self._top - 8, text=str(day.number), is_centred=True)
            )
            if day.is_today:
                self.today = Box(
                    x=middle - CELL / 2,
                    y=self._top - 40,
                    width=CELL,
                    height=self._bottom - self._top + 40,
                    kind="today",
                    colour="",
                )

    def _add_cell(self, halves: tuple[Half, ...], x: float, y: float) -> None:
        width = CELL / len(halves)
        for number, half in enumerate(halves):
            self._add_half(half, x + number * width, y, width)

    def _add_half(self, half: Half, x: float, y: float, width: float) -> None:
        if half.kind == "work":
            return
        # A dashed border lies inside the cell.
        inset = 2 if half.kind == "pending" else 0
        self.boxes.append(
            Box(
                x=x + inset / 2,
                y=y + inset,
                width=width - inset,
                height=CELL - 2 * inset,
                kind=half.kind,
                colour=half.colour or _COLOURS[half.kind],
            )
        )
        if half.letter:
            ink = ink_on(half.colour) if half.kind == "leave" else ""
            middle = x + width / 2
            self.labels.append(
                Label(x=middle, y=y + 18, text=half.letter, is_centred=True, ink=ink)
            )

    def _add_legend(self, shown: ShownChart) -> float:
        """Below the chart, in as many lines as it needs; returns where it ends."""
        kinds = [
            (Half(kind="leave", letter=each.letter, colour=each.colour), each.name)
            for each in shown.legend
        ]
        if shown.shows_pending:
            kinds.append((Half(kind="pending", colour=AWAY_COLOUR), shown.texts["your_pending"]))
        kinds.append((Half(kind="holiday"), shown.texts["public_holiday"]))
        kinds.append((Half(kind="off"), shown.texts["non_working"]))
        x, y = float(MARGIN), float(self._bottom + MARGIN)
        for half, name in kinds:
            width = CELL + 8 + LETTER_WIDTH * len(name) + MARGIN
            if x > MARGIN and x + width > self._right:
                x, y = float(MARGIN), y + LEGEND
            self._add_half(half, x, y, CELL)
            self.labels.append(Label(x=x + CELL + 8, y=y + 18, text=name))
            x += width
        return y + LEGEND
