"""The errors page: each code with what it means and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Final

from api.documentation.error_codes import Code, every_code
from api.http.operations import Operation

_ByStatus = list[tuple[int, list[Sequence[Code]]]]

INTRODUCTION: Final = (
    "Every error is `application/problem+json` with a stable `code`. `detail` says what is "
    "wrong with this request, `errors` points at each invalid field, and `request_id` finds the "
    "request in the log. If one field is invalid, the problem has that field's code; if several "
    "are, it has `invalid_input`."
)

_TITLES: Final = {
    400: "Bad request",
    401: "Unauthorised",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "Gone",
    412: "Precondition failed",
    413: "Content too large",
    415: "Unsupported media type",
    422: "Unprocessable content",
    428: "Precondition required",
    429: "Too many requests",
    500: "Internal server error",
    501: "Not implemented",
    503: "Service unavailable",
}


def html(operations: Iterable[Operation]) -> str:
    """The page's contents, between `<main>` and `</main>`: each code is an anchor."""
    by_status = _by_status(operations)
    parts = ["<h1>Errors</h1>", f"<p>{_formatted(INTRODUCTION)}</p>", _contents(by_status)]
    for status, codes in by_status:
        parts.append(f'<h2 id="status-{status}">{_heading(status)}</h2>')
        parts += [_in_html(entries, status) for entries in codes]
    return "\n".join(parts)


def _by_status(operations: Iterable[Operation]) -> _ByStatus:
    """Codes grouped by ascending status; all meanings of a code stay together."""
    meanings: dict[str, list[Code]] = {}
    for entry in every_code(operations):
        meanings.setdefault(entry.code, []).append(entry)
    in_order = sorted(meanings.values(), key=lambda entries: (entries[0].status, entries[0].code))
    return [
        (status, list(codes))
        for status, codes in groupby(in_order, lambda entries: entries[0].status)
    ]


def _heading(status: int) -> str:
    return f"{status} {_TITLES[status]}"


def _in_html(entries: Sequence[Code], status: int) -> str:
    first = entries[0]
    lines = [
        f'<section id="{first.code}">',
        f'<h3><a href="#{first.code}">{first.code}</a> <small>{status}</small></h3>',
    ]
    for entry in entries:
        meaning = f"{_as_a_field(entry, status)}{entry.meaning}"
        lines.append(f"<p>{_formatted(meaning)}</p>")
        lines.append(f'<p class="cure"><b>What to do:</b> {_formatted(entry.cure)}</p>')
    return "\n".join([*lines, "</section>"])


def _as_a_field(entry: Code, status: int) -> str:
    return f"As a field's code, with {entry.status}: " if entry.status != status else ""


def _contents(by_status: _ByStatus) -> str:
    items = [
        f'<li><a href="#status-{status}">{_heading(status)}</a></li>' for status, _ in by_status
    ]
    return f"<nav><ul>{''.join(items)}</ul></nav>"


def _formatted(text: str) -> str:
    """Text between backticks as code."""
    parts = escape(text).split("`")
    return "".join(
        f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts)
    )
