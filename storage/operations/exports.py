"""The exports of other products: their columns, as those products document them.

docs/moving.md has the same table, with where each is documented.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Export:
    """One file of another product. It is recognised by ``signature``, all of which it has.

    ``columns`` has our name of each of its columns, None for one that is left behind; names are in
    lower case with underscores.
    """

    product: str
    kind: Literal["people", "leave"]
    signature: frozenset[str]
    columns: Mapping[str, str | None]


EXPORTS: Final = (
    Export(
        product="Timetastic",
        kind="people",
        signature=frozenset(("email_address", "employment_start_date")),
        columns={
            "first_name": "first_name",
            "last_name": "last_name",
            "last/_surname": "last_name",
            "surname": "last_name",
            "email_address": "email",
            "department": "department",
            "employment_start_date": "start_date",
            "leave_allowance": "leave_allowance",
            "allowance_in_days_or_hours": "allowance_unit",
            "date_of_birth": None,
        },
    ),
    Export(
        product="Vacation Tracker",
        kind="leave",
        signature=frozenset(("email", "leave_type", "date_from", "date_to")),
        columns={
            "email": "email",
            "leave_type": "leave_type",
            "date_from": "start_date",
            "date_to": "end_date",
            "hour_from": "hour_from",
            "minute_from": "minute_from",
            "hour_to": "hour_to",
            "minute_to": "minute_to",
            "reason": "note",
            "is_half_day_/_hourly": None,
            "approver_email": None,
        },
    ),
    Export(
        product="Vacation Tracker",
        kind="people",
        signature=frozenset(("email", "department", "location")),
        columns={
            "email": "email",
            "name": "name",
            "department": "department",
            "start_date": "start_date",
            "end_date": "end_date",
            "employee_id": "employee_number",
            "location": None,
            "birthday": None,
        },
    ),
    Export(
        product="BambooHR",
        kind="leave",
        signature=frozenset(("name", "from", "to", "type", "amount", "status")),
        columns={
            "name": "name",
            "from": "start_date",
            "to": "end_date",
            "type": "leave_type",
            "amount": "amount",
            "status": "status",
            "notes": "note",
        },
    ),
    Export(
        product="BambooHR",
        kind="people",
        signature=frozenset(("email", "employee_#", "first_name", "last_name")),
        columns={
            "email": "email",
            "employee_#": "employee_number",
            "first_name": "first_name",
            "last_name": "last_name",
            "hire_date": "start_date",
            "job_title": "job_title",
            "department": "department",
        },
    ),
    Export(
        product="Personio",
        kind="leave",
        signature=frozenset(("employee's_email_address", "absence_type")),
        columns={
            "employee's_email_address": "email",
            "absence_type": "leave_type",
            "start_date": "start_date",
            "end_date": "end_date",
            "start_time": "start_time",
            "end_time": "end_time",
            "half_day_first_day": "from_midday",
            "half_day_last_day": "until_midday",
        },
    ),
    Export(
        product="Personio",
        kind="leave",
        signature=frozenset(("e_mail_adresse_des_mitarbeiters", "abwesenheitsart")),
        columns={
            "e_mail_adresse_des_mitarbeiters": "email",
            "abwesenheitsart": "leave_type",
            "anfangsdatum": "start_date",
            "enddatum": "end_date",
            "anfangszeit": "start_time",
            "endzeit": "end_time",
            "halber_tag_erster_tag": "from_midday",
            "halber_tag_letzter_tag": "until_midday",
        },
    ),
    Export(
        product="Personio",
        kind="people",
        signature=frozenset(("email", "first_name", "last_name", "hire_date")),
        columns={
            "email": "email",
            "first_name": "first_name",
            "last_name": "last_name",
            "hire_date": "start_date",
            "position": "job_title",
            "department": "department",
        },
    ),
)


def recognised(header: Collection[str]) -> Export | None:
    """The export whose columns these are: of several, the one that knows most of them."""
    columns = frozenset(header)
    return max(
        (export for export in EXPORTS if export.signature <= columns),
        key=lambda export: len(export.columns.keys() & columns),
        default=None,
    )
