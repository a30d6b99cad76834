"""People who say that their balance is not right, which admins hear once a day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from storage.base.event_values import AuditAction
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.outbox import audit, notification_outbox
from storage.people import people_rows

PAUSE: Final = timedelta(days=1)
_ASKED: Final[AuditAction] = "balance.questioned"


def ask(tx: Transaction, *, by: Caller, now: datetime) -> bool:
    """Tell the admins that the caller's balance is not right; False if they were told lately."""
    user = people_rows.get(tx, str(by.user_id), by=by, for_update=True)
    asked_at = audit.last_at(tx, by.organisation_id, _ASKED, user.id)
    if asked_at is not None and now - asked_at < PAUSE:
        return False
    audit.record(tx, _ASKED, "user", user.id, by=by, now=now)
    notification_outbox.question_balance(tx, user.id, organisation_id=by.organisation_id, now=now)
    return True
