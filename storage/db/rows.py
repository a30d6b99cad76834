"""The mapping of rows to values: by the names of columns and the types of the values' fields.

Both engines return ids and dates as text, instants as milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import lru_cache
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_type_hints

import orjson
from peewee import SQL, NodeList, Select

from storage.base.allowance_values import (
    Allowance,
    AllowanceFigure,
    AllowanceTerms,
    AllowanceUse,
    Amount,
    ProRata,
    TenureStep,
)
from storage.base.calendar_values import HolidaySet
from storage.base.event_values import Webhook
from storage.base.leave_values import (
    Amendment,
    Approval,
    Closure,
    LeaveRequest,
    LeaveType,
    SecondApproval,
    TypeName,
)
from storage.base.values import (
    ApiKey,
    ChannelDigest,
    Department,
    Employment,
    EmploymentPeriod,
    EmploymentRecord,
    Organisation,
    User,
    field_names,
)
from storage.db.compiled import Expr, milliseconds
from storage.db.database import Row
from storage.db.tables import (
    LeaveRequestRow,
    LeaveTypeRow,
    OrganisationRow,
    UserRow,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
day = date.fromisoformat


# The instants of one row are often equal, and rows are read far more often than written.
@lru_cache(maxsize=8_192)
def instant(milliseconds: int) -> datetime:
    """A column's milliseconds as an aware UTC datetime."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def instant_or_none(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else instant(milliseconds)


def day_or_none(text: str | None) -> date | None:
    return None if text is None else day(text)


def _texts(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))


def _texts_or_none(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else _texts(text)


def employment_or_none(text: str | None) -> Employment | None:
    """The records in JSON, as ``json_text`` wrote them."""
    if text is None:
        return None
    value = orjson.loads(text)
    return Employment(
        id=value["id"],
        valid_from=day_or_none(value["valid_from"]),
        others=tuple(map(_employment_record, value["others"])),
    )


def _employment_periods(text: str | None) -> tuple[EmploymentPeriod, ...]:
    return tuple(
        EmploymentPeriod(
            start_date=day_or_none(value["start_date"]), end_date=day_or_none(value["end_date"])
        )
        for value in orjson.loads(text or "[]")
    )


def _employment_record(value: dict[str, Any]) -> EmploymentRecord:
    working_days = value["working_days"]
    return EmploymentRecord(
        id=value["id"],
        valid_from=day_or_none(value["valid_from"]),
        working_days=None if working_days is None else tuple(working_days),
        leave_allowance_half_days=_amount_or_none(value["leave_allowance_half_days"]),
        public_holiday_country_code=value["public_holiday_country_code"],
        department_id=value["department_id"],
    )


def _dated(value: type[Any]) -> Callable[[str | None], tuple[Any, ...]]:
    """Reads a list of values of that kind from JSON; each has a ``valid_from``."""

    def read(text: str | None) -> tuple[Any, ...]:
        return tuple(
            value(**each | {"valid_from": day_or_none(each["valid_from"])})
            for each in orjson.loads(text or "[]")
        )

    return read


def _second_approval(text: str | None) -> SecondApproval | None:
    return None if text is None else SecondApproval(**orjson.loads(text))


def _names_by_language(text: str | None) -> dict[str, str]:
    names: dict[str, str] = orjson.loads(text or "{}")
    return names


def type_name(row: Row) -> TypeName:
    """Of the columns ``TYPE_NAME``."""
    return TypeName(row.type_name, _names_by_language(row.type_names))


def _approvals(text: str | None) -> tuple[Approval, ...]:
    return tuple(
        Approval(
            user_id=value["user_id"],
            approved_at=datetime.fromisoformat(value["approved_at"]),
            override_reason=value.get("override_reason"),
        )
        for value in orjson.loads(text or "[]")
    )


def _terms(text: str) -> tuple[AllowanceTerms, ...]:
    return tuple(
        AllowanceTerms(
            **value
            | {
                "valid_from": day_or_none(value["valid_from"]),
                "half_days_per_year": _amount_or_none(value["half_days_per_year"]),
                "carry_over_half_days": _amount_or_none(value["carry_over_half_days"]),
                "by_tenure": tuple(
                    TenureStep(
                        after_years=step["after_years"],
                        half_days_per_year=_amount(step["half_days_per_year"]),
                    )
                    for step in value["by_tenure"]
                ),
            }
        )
        for value in orjson.loads(text)
    )


def _figures(text: str | None) -> tuple[AllowanceFigure, ...]:
    return tuple(
        AllowanceFigure(
            **value
            | {
                "valid_from": day_or_none(value["valid_from"]),
                "half_days": _amount_or_none(value["half_days"]),
            }
        )
        for value in orjson.loads(text or "[]")
    )


def _amount(value: int | str) -> Amount:
    """Of JSON: a fraction is a text such as ``168/5``."""
    return value if isinstance(value, int) else Fraction(value)


def _amount_or_none(value: int | str | None) -> Amount | None:
    return None if value is None else _amount(value)


# How a column becomes a field of such a type; of any other type it stays as it is.
_CONVERTERS: Final[dict[Any, Callable[[Any], Any]]] = {
    bool: bool,
    datetime: instant,
    datetime | None: instant_or_none,
    date: day,
    date | None: day_or_none,
    tuple[str, ...]: _texts,
    tuple[str, ...] | None: _texts_or_none,
    dict[str, dict[str, object]]: orjson.loads,
    Employment | None: employment_or_none,
    tuple[EmploymentPeriod, ...]: _employment_periods,
    tuple[AllowanceTerms, ...]: _terms,
    tuple[AllowanceUse, ...]: _dated(AllowanceUse),
    tuple[AllowanceFigure, ...]: _figures,
    tuple[ProRata, ...]: _dated(ProRata),
    tuple[Approval, ...]: _approvals,
    SecondApproval | None: _second_approval,
    dict[str, str]: _names_by_language,
}


def json_text(value: Any) -> str:
    """A list, dict or dataclass as JSON text, for a TextField."""
    return orjson.dumps(value, default=str).decode()


def columns(value: DataclassInstance) -> dict[str, Any]:
    """A value's fields as the columns of its row: the inverse of ``mapper``."""
    shown = {name: _column(getattr(value, name)) for name in field_names(type(value))}
    if isinstance(value, User):
        half_days = value.leave_allowance_half_days
        shown["leave_allowance_hundredths"] = None
        if isinstance(half_days, Fraction):
            shown["leave_allowance_half_days"] = ceil(half_days)
            shown["leave_allowance_hundredths"] = int(50 * half_days)
    return shown


def changes(value: DataclassInstance) -> dict[str, Any]:
    """As ``columns``, except the id and the time of creation, which never change."""
    shown = columns(value)
    del shown["id"], shown["created_at"]
    return shown


_IN_JSON: Final = (tuple, dict, Employment, SecondApproval)


def _column(value: Any) -> Any:
    if isinstance(value, datetime):
        return milliseconds(value)
    if isinstance(value, date):
        return value.isoformat()
    return json_text(value) if isinstance(value, _IN_JSON) else value


def columns_of(table: Any, value: type[DataclassInstance]) -> tuple[Any, ...]:
    """The columns of a table that have the names of a value's fields."""
    return tuple(getattr(table, name) for name in field_names(value))


ORGANISATION: Final = columns_of(OrganisationRow, Organisation)
USER: Final = (*columns_of(UserRow, User), UserRow.leave_allowance_hundredths)
LEAVE_REQUEST: Final = columns_of(LeaveRequestRow, LeaveRequest)
TYPE_NAME: Final = (LeaveTypeRow.name.alias("type_name"), LeaveTypeRow.names.alias("type_names"))


def with_names(leave: Select) -> Select:
    """A query of leave requests, joined with their people and leave types."""
    return leave.join(
        UserRow,
        on=(UserRow.organisation_id == LeaveRequestRow.organisation_id)
        & (UserRow.id == LeaveRequestRow.user_id),
    ).join(
        LeaveTypeRow,
        on=(LeaveTypeRow.organisation_id == LeaveRequestRow.organisation_id)
        & (LeaveTypeRow.id == LeaveRequestRow.leave_type_id),
    )


def is_undecided(leave: Expr) -> Expr:
    """Whether a leave request or its amendment awaits a decision, as SQL.

    It reads like the condition of the index ``leave_requests_undecided``, or SQLite would not use
    that. The names of the columns are of the table, or of its alias. During an upgrade, processes
    without amendments cancel and decline leave that keeps its ``amendment_id``.
    """
    indexed = NodeList(
        (
            leave.status,
            SQL("= 'pending' OR"),
            leave.amendment_id,
            SQL("IS NOT NULL"),
        ),
        parens=True,
    )
    return indexed & NodeList((leave.status, SQL("IN ('pending', 'approved')")), parens=True)


def mapper(value: type[T], prefix: str = "") -> Callable[[Row], T]:
    """A function that makes a value of a row's columns that have the names of its fields.

    The types of the fields say how columns are converted. Other columns are ignored. ``prefix`` is
    what the names of columns begin with.
    """
    names = field_names(value)
    types = get_type_hints(value)
    converted = [(name, _CONVERTERS[types[name]]) for name in names if types[name] in _CONVERTERS]
    columns_of_row = attrgetter(*[prefix + name for name in names])

    def map_row(row: Row) -> T:
        columns = dict(zip(names, columns_of_row(row), strict=True))
        for name, convert in converted:
            columns[name] = convert(columns[name])
        return value(**columns)

    return map_row


allowance: Final = mapper(Allowance)
organisation: Final = mapper(Organisation)
_user: Final = mapper(User)


def user(row: Row) -> User:
    """The person of a row with the columns of ``USER``."""
    person, hundredths = _user(row), row.leave_allowance_hundredths
    if hundredths is None:
        return person
    return replace(person, leave_allowance_half_days=Fraction(hundredths, 50))


department: Final = mapper(Department)
channel_digest: Final = mapper(ChannelDigest)
leave_type: Final = mapper(LeaveType)
leave_request: Final = mapper(LeaveRequest)
amendment: Final = mapper(Amendment)
closure: Final = mapper(Closure)
api_key: Final = mapper(ApiKey)
webhook: Final = mapper(Webhook)
holiday_set: Final = mapper(HolidaySet)
