"""What a handler of `/api/v1` gets and returns, and the services that all endpoints share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from starlette.datastructures import Headers

from api.http.rate_limits import RateLimits
from storage.admin.effects import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Database, Transaction
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig

T = TypeVar("T")
Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The services that all endpoints share."""

    database: Database
    clock: Clock
    base_url: str
    allow_private_webhooks: bool
    # None for no limits.
    rate_limits: RateLimits | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestContext:
    """One authenticated request. ``ids`` are those of the path, in lower case.

    ``reference_version`` is that of the organisation's configuration; None in a change, which reads
    the version in its own transaction.
    """

    caller: Caller
    reference_version: int | None
    now: datetime
    base_url: str
    ids: Mapping[str, str]
    headers: Headers
    # Set in a dry run: records what the change does to others.
    recorder: EffectsRecorder | None = None

    @property
    def id(self) -> str:
        """The path's ``{id}``."""
        return self.ids["id"]

    def config(self, tx: Transaction) -> OrganisationConfig:
        """The configuration of the caller's organisation."""
        return organisation_config.of_organisation(
            tx, self.caller.organisation_id, self.reference_version
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Result(Generic[T]):
    """A body with response headers."""

    body: T
    headers: Sequence[tuple[bytes, bytes]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Created(Result[T]):
    """A new resource with its ``Location``."""


def created(path: str, body: T) -> Created[T]:
    """A new resource at that path."""
    return Created(body=body, headers=[(b"location", path.encode("ascii"))])
