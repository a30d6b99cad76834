"""The wallchart as HTML and SVG, from the templates. Imported by the first request only."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from api.wallchart.cells import Cell, Half, ink_on
from api.wallchart.pictures import MARGIN, Picture
from api.wallchart.shown import ShownChart
from api.wallchart.wallchart_requests import DisplayRequest, Month, WallchartRequest
from api.wallchart.wallchart_texts import TEXTS
from storage.access.wallcharts.chart_values import Wallchart

_TEMPLATES: Final = Environment(
    loader=PackageLoader("api.wallchart"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)

# Names may contain them: they are not control characters.
_NOT_IN_XML: Final = {0xFFFE: None, 0xFFFF: None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page and the hash by which its Content-Security-Policy allows its style element."""

    html: bytes
    style_hash: str


def page(
    chart: Wallchart,
    request: WallchartRequest | DisplayRequest,
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

    html = _TEMPLATES.get_template("wallchart.html").render(
        texts=shown.texts,
        is_display=shown.is_display,
        months=shown.months,
        caption=shown.caption,
        colours=colours,
        look=look,
        rendered=_rendered_once(),
        days=shown.days,
        people=shown.people,
        legend=[
            {"name": item.name, "letter": item.letter, "look": f"leave {classes[item.colour]}"}
            for item in shown.legend
        ],
        shows_pending=shown.shows_pending,
        pages=chart.pages,
        page_text=shown.texts["page"].format(page=chart.page, pages=chart.pages),
        previous_page=_link(request, page=chart.page - 1) if chart.page > 1 else None,
        next_page=_link(request, page=chart.page + 1) if chart.page < chart.pages else None,
        svg=f"{token}.svg{_link(request, page=chart.page)}",
        png=f"{token}.png{_link(request, page=chart.page)}",
        style=style,
        **({} if isinstance(request, DisplayRequest) else _choices(chart, request, shown)),
    )
    style_hash = b64encode(hashlib.sha256(colours.encode()).digest()).decode()
    return Page(html=html.encode(), style_hash=style_hash)


def _choices(chart: Wallchart, request: WallchartRequest, shown: ShownChart) -> dict[str, object]:
    """The links and the form with which the viewer chooses months and people."""
    month = request.month
    return {
        "departments": sorted(
            chart.config.departments.values(), key=lambda each: each.name.casefold()
        ),
        "department_id": request.department_id,
        "month_value": str(month),
        "previous": _month_link(request, month.plus(-1)),
        "current": _link(request, month=request.current),
        "is_current": month == request.current,
        "next": _month_link(request, month.plus(1)),
        "scopes": [
            {
                "text": shown.texts[scope],
                "href": f"?{urlencode({'scope': scope, 'month': str(month)})}",
                "is_current": request.scope == scope and request.department_id is None,
            }
            for scope in ("team", "org")
        ],
    }


def error_page(name: str, *, language: str, style: str) -> bytes:
    """Says what is wrong and what to do. ``name`` is that of its texts."""
    texts = TEXTS[language]
    html = _TEMPLATES.get_template("error.html").render(
        texts=texts,
        title=texts[f"{name}_title"],
        cure=texts[f"{name}_cure"],
        # An address without a query shows the team in this month; other links do not help.
        has_way_back=name.startswith("bad_") and name != "bad_link",
        style=style,
    )
    return html.encode()


def svg(
    chart: Wallchart,
    request: WallchartRequest | DisplayRequest,
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


def _rendered_once() -> Callable[[Iterable[Cell], Callable[[Cell], Markup]], Markup]:
    """Renders rows, and each cell that looks different only once: a page has six thousand.

    By identity, because cells that look alike are one object, and hashing their contents is slow.
    """
    rendered: dict[int, Markup] = {}

    def render(cells: Iterable[Cell], macro: Callable[[Cell], Markup]) -> Markup:
        row: list[str] = []
        for cell in cells:
            if id(cell) not in rendered:
                rendered[id(cell)] = macro(cell)
            row.append(rendered[id(cell)])
        return Markup("".join(row))

    return render


def _month_link(request: WallchartRequest, month: Month) -> str | None:
    return _link(request, month=month) if request.can_show(month) else None


def _link(
    request: WallchartRequest | DisplayRequest, *, month: Month | None = None, page: int = 1
) -> str:
    """Relative, so that it has no token."""
    if isinstance(request, DisplayRequest):
        return f"?page={page}"
    query = {"scope": request.scope, "month": str(month or request.month)}
    if request.department_id is not None:
        query["department_id"] = request.department_id
    if page > 1:
        query["page"] = str(page)
    return f"?{urlencode(query)}"
