"""The report of days that lapse: whose, when, and what the person was told of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Annotated, Final

from pydantic import ConfigDict, Field

from storage.base.allowance_values import Amount
from storage.base.values import IN_DAYS, About, Caller, Id, User
from storage.db.database import Transaction
from storage.leave import lapsing_days
from storage.leave.lapsing_days import ExpiryNotice
from storage.outbox.organisation_config import OrganisationConfig
from storage.reports import balances, reports
from storage.reports.reports import Run
from storage.rules.expiring_days import Lapse, LapseReason

# Notices since the beginning of any leave year of the day, and the reminders before it.
_TOLD_WITHIN: Final = timedelta(days=500)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpiringReportRow:
    """Days of a person that lapse unless they take more leave."""

    __pydantic_config__ = ConfigDict(title="ExpiringReportRow")

    employee_number: Annotated[str | None, About(example="10042")]
    last_name: Annotated[str, About(example="Lovelace")]
    first_name: Annotated[str, About(example="Ada")]
    department: Annotated[str | None, About(description="Its name on the day.", example="Sales")]
    allowance: Annotated[str, About(description="Its name.", example="Annual leave")]
    allowance_code: Annotated[str, About(example="annual")]
    reason: Annotated[
        LapseReason,
        About(
            description="`carry_over`: days carried over; `credit`: time in lieu; `year_end`: more "
            "than can be carried over.",
            example="year_end",
        ),
    ]
    half_days: Annotated[
        Amount,
        Field(serialization_alias="days"),
        IN_DAYS,
        About(
            description="The days that lapse; booked leave before it counts as taken.", example=1
        ),
    ]
    lapses_on: Annotated[
        date, About(description="The last day to take them.", example="2027-12-31")
    ]
    told_at: Annotated[
        datetime | None,
        About(
            description="When Slack last took a message to the person that named days of this "
            "allowance and day. Null: they were not told, for example without a Slack account."
        ),
    ]
    acknowledged_at: Annotated[
        datetime | None,
        About(description='When the person last clicked "Got it" under such a message.'),
    ]
    user_id: Id


def start(tx: Transaction, on: date | None, *, by: Caller, now: datetime) -> Run[ExpiringReportRow]:
    """The report of a day, today by default: of what lapses on it or later, as it is then.

    Raises InsufficientRole or InvalidInput ``out_of_range``.
    """
    on = balances.checked_day(tx, on, by=by, now=now)
    return reports.start(
        tx, "expiring", ExpiringReportRow, partial(_rows, on=on), {"on": on}, by=by, now=now
    )


def _rows(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], *, on: date
) -> list[ExpiringReportRow]:
    # Until when archived people without a last day were employed is not known.
    users = [user for user in users if user.status != "archived" or user.end_date is not None]
    pots = lapsing_days.pots_of_people(tx, config, users, on)
    losing = {
        user_id: of_person
        for user_id, of_person in pots.items()
        if any(pot.lapses for pot in of_person.values())
    }
    notices: dict[str, list[ExpiryNotice]] = {}
    if losing:
        since = on - _TOLD_WITHIN
        notices = lapsing_days.of_people(tx, config.organisation.id, [*losing], since)
    return [
        _row(config, user, allowance_id, lapse, notices.get(user.id, ()), on)
        for user in users
        if user.id in losing
        for allowance_id, pot in losing[user.id].items()
        for lapse in pot.lapses
    ]


def _row(
    config: OrganisationConfig,
    user: User,
    allowance_id: str,
    lapse: Lapse,
    notices: Iterable[ExpiryNotice],
    on: date,
) -> ExpiringReportRow:
    naming = [each for each in notices if (allowance_id, lapse.last_day) in each.named]
    allowance = config.allowances[allowance_id]
    return ExpiringReportRow(
        employee_number=user.employee_number,
        last_name=user.last_name,
        first_name=user.first_name,
        department=reports.department_name(config, user, on),
        allowance=allowance.name,
        allowance_code=allowance.code,
        reason=lapse.reason,
        half_days=lapse.half_days,
        lapses_on=lapse.last_day,
        told_at=max((each.sent_at for each in naming if each.sent_at), default=None),
        acknowledged_at=max((each.seen_at for each in naming if each.seen_at), default=None),
        user_id=user.id,
    )
