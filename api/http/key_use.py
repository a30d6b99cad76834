"""When each API key was last used, written to the minute and apart from the requests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from api.base.deferred_writes import DeferredWrites
from storage.access import authentication
from storage.access.authentication import Recognised
from storage.db.database import Database, Transaction


class KeyUse:
    """Collects uses from any thread; ``write_soon`` writes those of a new minute."""

    def __init__(self, database: Database) -> None:
        self._uses: DeferredWrites[tuple[str, datetime]] = DeferredWrites(
            database, _touch_all, not_kept="key uses not kept", counted="keys"
        )

    def note(self, recognised: Recognised, now: datetime) -> None:
        """Remember a use that the database does not show yet."""
        caller = recognised.caller
        if caller.key_id is not None and authentication.needs_touch(recognised, now):
            self._uses.add(caller.key_id, (caller.organisation_id, now))

    def write_soon(self) -> None:
        """Write what was noted without making anybody wait; call on the event loop."""
        self._uses.write_soon()


def _touch_all(tx: Transaction, uses: Mapping[str, tuple[str, datetime]]) -> None:
    # In one order, so that two processes never wait for each other.
    for key_id, (organisation_id, now) in sorted(uses.items()):
        authentication.touch(tx, organisation_id, key_id, now=now)
