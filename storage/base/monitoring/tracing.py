"""Spans for OpenTelemetry, which ``api.service.telemetry`` provides; without it, nothing happens.

Attributes are names from the code, numbers and ids: never names of people, notes, URLs or tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, Protocol

Kind = Literal["internal", "client", "server"]
Attributes = Mapping[str, str | int | bool]


class Span(Protocol):
    def rename(self, name: str) -> None: ...
    def set(self, attributes: Attributes) -> None: ...
    def fail(self, error_type: str) -> None: ...


class Tracing(Protocol):
    """What the SDK is used for. A span with an error has the error's type only."""

    def span(
        self, name: str, kind: Kind, attributes: Attributes, headers: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """A span around a block; with ``headers``, it continues the trace that they name."""

    def inner_span(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """A span of the database. Does nothing outside of another span."""

    def finished(self, name: str, seconds: float, attributes: Attributes) -> None:
        """A span of the database that has just ended. Does nothing outside of another span."""

    def ids(self) -> tuple[str, str] | None:
        """The ids of the current trace and span, in hexadecimal; None outside of a span."""


class _NoSpan:
    def rename(self, name: str) -> None: ...
    def set(self, attributes: Attributes) -> None: ...
    def fail(self, error_type: str) -> None: ...


_NOTHING: Final = nullcontext(_NoSpan())
# None unless tracing is on. Read it as an attribute of this module.
active: Tracing | None = None


def ids() -> tuple[str, str] | None:
    """The ids of the current trace and span, in hexadecimal; None outside of a span."""
    return None if active is None else active.ids()


def activate(tracing: Tracing) -> None:
    """Trace from now on."""
    global active
    active = tracing


def span(
    name: str,
    kind: Kind = "internal",
    attributes: Attributes | None = None,
    headers: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span]:
    """A span around a block of code, if tracing is on."""
    if active is None:
        return _NOTHING
    return active.span(name, kind, attributes or {}, headers)
