"""The wallchart as HTML and SVG, from the templates. Lengths are in pixels."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from api.wallchart import rasteriser
from api.wallchart.chart import AWAY_COLOUR, Cell, Half, ShownChart, ink_on
from api.wallchart.wallchart_requests import WallchartRequest, can_show, plus_months
from api.wallchart.wallchart_texts import TEXTS
from api.website.welcome import Website, framed
from storage.calendars.wallchart import Wallchart

_TEMPLATES: Final = Environment(
    loader=PackageLoader("api.wallchart"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)

# Names may contain them: they are not control characters.
_NOT_IN_XML: Final = {0xFFFE: None, 0xFFFF: None}

CELL: Final = 26
MARGIN: Final = 16
NAMES: Final = 176
TOP: Final = 92
# The line with the names of months.
MONTHS: Final = 24
LEGEND: Final = 30
MAX_NAME: Final = 24
# The bar of leave that does not count as away.
BAR: Final = 6
# The wider letters of a legend's text.
LETTER_WIDTH: Final = 7.6

_COLOURS: Final = {"off": "#edf1f1", "holiday": "url(#holiday)"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page and the hash by which its Content-Security-Policy allows its style element."""

    html: bytes
    style_hash: str


def page(
    chart: Wallchart,
    request: WallchartRequest,
    *,
    language: str,
    today: date,
    token: str,
    style: str,
) -> Page:
    """``style`` is the address of the style sheet."""
    shown = ShownChart(chart, request, language, today)
    classes = {item.colour: f"leave-{number}" for number, item in enumerate(shown.legend)}
    colours = "".join(
        f".{name}{{--colour:{colour};--on-colour:{ink_on(colour)}}}"
        for colour, name in classes.items()
    )

    def look(half: Half) -> str:
        return f"{half.kind} {classes[half.colour]}" if half.colour else half.kind

    @cache
    def rendered(macro: Callable[[Cell], Markup], cell: Cell) -> Markup:
        """Each different cell is rendered once: a page has six thousand cells."""
        return macro(cell)

    html = _TEMPLATES.get_template("wallchart.html").render(
        texts=shown.texts,
        is_display=shown.is_display,
        months=shown.months,
        caption=shown.caption,
        colours=colours,
        look=look,
        rendered=rendered,
        days=shown.days,
        people=shown.people,
        legend=[
            {
                "name": item.name,
                "letter": item.letter,
                "look": f"{item.kind} {classes[item.colour]}",
            }
            for item in shown.legend
        ],
        shows_pending=shown.shows_pending,
        pages=chart.pages,
        page_text=shown.texts["page"].format(page=chart.page, pages=chart.pages),
        previous_page=_link(request, page=chart.page - 1) if chart.page > 1 else None,
        next_page=_link(request, page=chart.page + 1) if chart.page < chart.pages else None,
        svg=f"{token}.svg{_link(request, page=chart.page)}",
        png=f"{token}.png{_link(request, page=chart.page)}" if rasteriser.is_installed() else None,
        style=style,
        **({} if request.month is None else _choices(chart, request, shown, request.month, today)),
    )
    style_hash = b64encode(hashlib.sha256(colours.encode()).digest()).decode()
    return Page(html=html.encode(), style_hash=style_hash)


def _choices(
    chart: Wallchart, request: WallchartRequest, shown: ShownChart, month: date, today: date
) -> dict[str, object]:
    """The links and the form with which the viewer chooses months and people."""

    def link(months: int) -> str | None:
        other = plus_months(month, months)
        return _link(request, month=other) if can_show(other, today) else None

    return {
        "departments": sorted(
            chart.config.departments.values(), key=lambda each: each.name.casefold()
        ),
        "department_id": request.department_id,
        "month_value": f"{month:%Y-%m}",
        "previous": link(-1),
        "current": _link(request, month=today),
        "is_current": month == plus_months(today, 0),
        "next": link(1),
        "scopes": [
            {
                "text": shown.texts[scope],
                "href": f"?{urlencode({'scope': scope, 'month': f'{month:%Y-%m}'})}",
                "is_current": request.scope == scope and request.department_id is None,
            }
            for scope in ("team", "org")
        ],
    }


@cache
def error_page(name: str, language: str) -> bytes:
    """Says what is wrong and what to do. ``name`` is that of its texts."""
    texts = TEXTS[language]
    title = texts[f"{name}_title"]
    # An address without a query shows the team in this month; other links do not help.
    has_way_back = name.startswith("bad_") and name != "bad_link"
    link = f'<p class="actions"><a class="button" href="?">{texts["current"]}</a></p>\n'
    return framed(
        f"{title} – Hiatus",
        f"<main>\n<h1>{title}</h1>\n<p>{texts[f'{name}_cure']}</p>\n"
        f"{link if has_way_back else ''}</main>\n",
        language,
        Website(),
        root="../",
    ).content


def svg(
    chart: Wallchart,
    request: WallchartRequest,
    *,
    language: str,
    today: date,
) -> bytes:
    """The picture, without links and scripts."""
    shown = ShownChart(chart, request, language, today)
    picture = Picture(shown)
    text = _TEMPLATES.get_template("wallchart.svg").render(
        texts=shown.texts,
        caption=shown.caption,
        margin=MARGIN,
        width=picture.width,
        height=picture.height,
        boxes=picture.boxes,
        lines=picture.lines,
        labels=picture.labels,
        today=picture.today,
    )
    return text.translate(_NOT_IN_XML).encode()


def _link(request: WallchartRequest, *, month: date | None = None, page: int = 1) -> str:
    """Relative, so that it has no token."""
    month = month or request.month
    if month is None:
        return f"?page={page}"
    query = {"scope": request.scope, "month": f"{month:%Y-%m}"}
    if request.department_id is not None:
        query["department_id"] = request.department_id
    if page > 1:
        query["page"] = str(page)
    return f"?{urlencode(query)}"


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
    """Where the boxes and texts of a chart's picture are."""

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
        # A dashed border lies inside the cell, a bar at its bottom.
        inset = 2 if half.kind == "pending" else 0
        height = BAR if half.kind == "elsewhere" else CELL - 2 * inset
        self.boxes.append(
            Box(
                x=x + inset / 2,
                y=y + CELL - inset - height,
                width=width - inset,
                height=height,
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
            (Half(kind=each.kind, letter=each.letter, colour=each.colour), each.name)
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
