"""Links to a leave report that work once: for admins whose workspace gives the app no files.

The token is signed and names the person and the period; nothing is stored until it is used. Then
its fingerprint is, with those of the OAuth states, until the link has expired.
"""

from __future__ import annotations

import hashlib
import secrets as random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from itsdangerous import BadData, URLSafeSerializer

from storage.base import retention
from storage.base.secrets import Secrets, fingerprint
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.tables import SlackStateRow
from storage.people import people_rows
from storage.reports import leave
from storage.reports.leave import LeaveReportRow
from storage.reports.reports import Period, Run
from storage.rules import roles

LIFE: Final = timedelta(days=1)
PATH: Final = "/payroll/"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Link:
    organisation_id: str
    user_id: str
    first_day: date
    last_day: date
    expires_at: datetime


def url(base_url: str, secrets: Secrets, period: Period, *, by: Caller, now: datetime) -> str:
    """A link for this person, valid for a day."""
    token: str = _serializer(secrets).dumps(
        [
            by.organisation_id,
            by.user_id,
            period.first_day.isoformat(),
            period.last_day.isoformat(),
            int((now + LIFE).timestamp()),
            random.token_urlsafe(12),
        ]
    )
    return f"{base_url}{PATH}{token}"


def open_once(tx: Transaction, token: str, *, now: datetime) -> Run[LeaveReportRow] | None:
    """The report, the first time; None for a link that was used, has expired or was never made.

    And for one whose person is no admin any more.
    """
    link = _read(tx.secrets, token)
    if link is None or link.expires_at <= now:
        return None
    user = people_rows.find(tx, link.organisation_id, link.user_id)
    if user is None or user.status != "active" or not roles.has_role(user.role, "admin"):
        return None
    is_first = tx.insert_new(
        SlackStateRow,
        state_sha256=fingerprint(f"report {token}"),
        expires_at=link.expires_at + retention.USED_OAUTH_STATES,
    )
    if not is_first:
        return None
    by = Caller(
        organisation_id=link.organisation_id,
        user_id=user.id,
        role=user.role,
        scopes=frozenset(),
        source="slack",
    )
    return leave.start(tx, link.first_day, link.last_day, by=by, now=now)


def _read(secrets: Secrets, token: str) -> _Link | None:
    try:
        values = _serializer(secrets).loads(token)
    except BadData:
        return None
    organisation_id, user_id, first_day, last_day, expires_at, _ = values
    return _Link(
        organisation_id=organisation_id,
        user_id=user_id,
        first_day=date.fromisoformat(first_day),
        last_day=date.fromisoformat(last_day),
        expires_at=datetime.fromtimestamp(expires_at, UTC),
    )


def _serializer(secrets: Secrets) -> URLSafeSerializer:
    return URLSafeSerializer(
        secrets.signing_keys, salt="report link", signer_kwargs={"digest_method": hashlib.sha384}
    )
