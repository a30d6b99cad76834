"""Caches of rendered wallcharts.

They never decide whether a chart is current: the caller has just read the ``FeedOwner`` or the
``Display``, and charts of equal ones on the same day are equal.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from api.wallchart.wallchart_requests import DisplayRequest, WallchartRequest
from storage.access.display_links import Display
from storage.access.feed_owners import FeedOwner
from storage.base.caches import LRUCache

Format = Literal["html", "svg", "png"]

_MAX_CHARTS: Final = 1_000
_MAX_CONTENTS_BYTES: Final = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Everything that a chart depends on: ``owner`` has the versions of the data."""

    owner: FeedOwner | Display
    token: str
    request: WallchartRequest | DisplayRequest
    format: Format
    language: str
    today: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """A chart's page or SVG. ``policy`` is its Content-Security-Policy."""

    content: bytes
    policy: str

    @property
    def version(self) -> str:
        return hashlib.sha256(self.content).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """``tag`` is the entity tag of one coding of a chart."""

    tag: str
    policy: str


class WallchartCache:
    def __init__(self) -> None:
        self._versions: LRUCache[tuple[Subject, bool], Version] = LRUCache(_MAX_CHARTS)
        self._contents: LRUCache[str, bytes] = LRUCache(_MAX_CONTENTS_BYTES)

    def version(self, subject: Subject, *, is_compressed: bool) -> Version | None:
        return self._versions.get((subject, is_compressed))

    def add_version(self, subject: Subject, rendered: Rendered, *, is_compressed: bool) -> Version:
        # Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
        coding = "-gzip" if is_compressed else ""
        version = Version(
            tag=f'"{rendered.version}-{subject.format}{coding}"', policy=rendered.policy
        )
        self._versions.put((subject, is_compressed), version)
        return version

    def contents(self, version: Version) -> bytes | None:
        """The bytes of the response if they are cached."""
        return self._contents.get(version.tag)

    def add_contents(self, version: Version, contents: bytes) -> None:
        self._contents.put(version.tag, contents, len(contents))
