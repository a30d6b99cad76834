"""Records the minute in which each API key was last used, after the response."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from api.base.deferred_writes import DeferredWrites
from storage.access import authentication
from storage.access.authentication import Authenticated
from storage.db.database import Database, Transaction


class KeyUse:
    """Collects uses from any thread; ``write_soon`` writes at most one per key and minute."""

    def __init__(self, database: Database) -> None:
        self._uses: DeferredWrites[tuple[str, datetime]] = DeferredWrites(
            database, _record_all, lost="key uses not recorded", counted="keys"
        )

    def record(self, authenticated: Authenticated, now: datetime) -> None:
        """Collect a use, unless one was recorded within this minute."""
        caller = authenticated.caller
        if caller.key_id is not None and authentication.is_use_due(authenticated, now):
            self._uses.add(caller.key_id, (caller.organisation_id, now))

    def write_soon(self) -> None:
        """Write collected uses in the background; call on the event loop."""
        self._uses.write_soon()


def _record_all(tx: Transaction, uses: Mapping[str, tuple[str, datetime]]) -> None:
    # In the same order in every process, to avoid deadlocks.
    for key_id, (organisation_id, now) in sorted(uses.items()):
        authentication.record_use(tx, organisation_id, key_id, now=now)
