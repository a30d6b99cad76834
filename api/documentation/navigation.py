"""The list of operations beside the reference, by tag. It is there before Swagger UI starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import quote

from api.documentation import events
from api.http.operations import Operation

# Method, summary and id.
_Entry = tuple[str, str, str]

_FOLDED: Final = "<details><summary>{tag}</summary>\n<ul>\n{entries}</ul></details>\n"
_OPEN: Final = _FOLDED.replace("<details>", "<details open>")


def html(operations: Sequence[Operation], others: Mapping[str, Mapping[str, Any]]) -> str:
    """``others`` are documented paths without operations. The first tag is open."""
    entries: dict[str, list[_Entry]] = {}
    for operation in operations:
        entry = (operation.method, operation.summary, operation.operation_id)
        entries.setdefault(operation.tag.name, []).append(entry)
    # Events, which Hiatus sends to webhooks, come last, as in Swagger UI.
    for methods in (*others.values(), *events.webhooks().values()):
        for method, described in methods.items():
            entry = (method.upper(), described["summary"], described["operationId"])
            for tag in described["tags"]:
                entries.setdefault(tag, []).append(entry)
    parts = [
        (_FOLDED if number else _OPEN).format(
            tag=escape(tag), entries="".join(_link(tag, *entry) for entry in found)
        )
        for number, (tag, found) in enumerate(entries.items())
    ]
    return (
        '<details class="operations"><summary>All operations</summary>\n'
        f'<nav aria-label="Operations">\n{"".join(parts)}</nav></details>'
    )


def _link(tag: str, method: str, summary: str, operation_id: str) -> str:
    # The address that Swagger UI gives to an operation (deepLinking).
    address = f"#/{quote(tag)}/{quote(operation_id)}"
    return f'<li><a href="{escape(address)}"><span>{method}</span> {escape(summary)}</a></li>\n'
