"""Checks of a webhook endpoint's fields: the form of its URL, the names of its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from storage.base.errors import InvalidInput
from storage.base.event_values import EVENT_TYPES

MAX_URL_CHARACTERS: Final = 2_000
EVERY_EVENT: Final = "*"


def check_url(url: object) -> str:
    """The URL unchanged. Raises InvalidInput ``url_invalid``."""
    if isinstance(url, str) and len(url) <= MAX_URL_CHARACTERS and url.isprintable():
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme in ("http", "https") and parts.hostname and " " not in url:
            return url
    raise InvalidInput.of(
        "url",
        "url_invalid",
        "Use a URL such as https://example.com/hook, with at most {most} characters.",
        most=MAX_URL_CHARACTERS,
    )


def check_events(events: Iterable[str] | None) -> list[str]:
    """The names without duplicates. Raises InvalidInput ``no_events`` or ``unknown_event``."""
    event_types = (*EVENT_TYPES, EVERY_EVENT)
    chosen = list(dict.fromkeys([] if isinstance(events, str) else events or []))
    unknown = [str(name) for name in chosen if name not in event_types]
    if unknown:
        raise InvalidInput.of(
            "events",
            "unknown_event",
            "There is no event {unknown}. Available events: {known}.",
            unknown=tuple(unknown),
            known=event_types,
        )
    if not chosen:
        raise InvalidInput.of(
            "events",
            "no_events",
            "Choose at least one event. Available events: {known}.",
            known=event_types,
        )
    return chosen
