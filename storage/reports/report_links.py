"""Links to a leave report that work once: for admins whose workspace gives the app no files."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from storage.base.secrets import Secrets
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.keys import single_use_links
from storage.reports import leave
from storage.reports.leave import LeaveReportRow
from storage.reports.reports import Period, Run

PATH: Final = "/payroll/"


def url(base_url: str, secrets: Secrets, period: Period, *, by: Caller, now: datetime) -> str:
    """A link for this person, valid for a day."""
    about = (period.first_day.isoformat(), period.last_day.isoformat())
    return f"{base_url}{PATH}{single_use_links.token(secrets, 'report', about, by=by, now=now)}"


def open_once(tx: Transaction, token: str, *, now: datetime) -> Run[LeaveReportRow] | None:
    """The report, the first time; None for a link that was used, has expired or was never made.

    And for one whose person is no admin any more.
    """
    used = single_use_links.use(tx, "report", token, role="admin", now=now)
    if used is None:
        return None
    first_day, last_day = map(date.fromisoformat, used.about)
    return leave.start(tx, first_day, last_day, by=used.by, now=now)
