"""What a client already has and what it can read: RFC 9110, sections 8.8, 12.5.3 and 13."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from typing import Final, NamedTuple

_TAG: Final = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_WEIGHT: Final = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_SECOND: Final = timedelta(seconds=1)


class LastModified(NamedTuple):
    """``is_settled`` is False while another change might still get the same second."""

    at: datetime
    is_settled: bool


def last_modified(changed_at: datetime, now: datetime) -> LastModified:
    """A whole second that no later change shares, once the second of this change is over.

    HTTP dates have no fractions: a change later in the very second would go unseen. Never later
    than ``now``, as RFC 9110, 8.8.2.1 wants it.
    """
    second = changed_at.replace(microsecond=0)
    if second + _SECOND <= now:
        return LastModified(second + _SECOND, True)
    return LastModified(min(second, now.replace(microsecond=0)), False)


@lru_cache(4_096)
def http_date(instant: datetime) -> str:
    """An aware UTC datetime as HTTP writes it."""
    return format_datetime(instant, usegmt=True)


def names_tag(if_none_match: str, *tags: str) -> bool:
    """Whether the header names one of the entity tags, or anything at all; compared weakly."""
    if if_none_match.strip() == "*":
        return True
    return any(found in tags for found in _TAG.findall(if_none_match))


def is_unmodified(if_modified_since: str, modified: LastModified) -> bool:
    """Whether nothing has changed since the date; a date that cannot be read says no."""
    try:
        since = parsedate_to_datetime(if_modified_since)
    except ValueError:
        return False
    if since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    return modified.is_settled and modified.at <= since


@lru_cache(256)
def prefers_gzip(accept_encoding: str) -> bool:
    """Whether the client takes gzip, and not less gladly than nothing."""
    weights = dict(_weighed(part) for part in accept_encoding.lower().split(",") if part.strip())
    anything = weights.get("*", 0.0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weighed(part: str) -> tuple[str, float]:
    coding, _, parameter = part.partition(";")
    name, _, weight = parameter.partition("=")
    weight = weight.strip()
    if name.strip() != "q":
        return coding.strip(), 1.0
    return coding.strip(), float(weight) if _WEIGHT.fullmatch(weight) else 0.0
