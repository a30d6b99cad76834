"""Plans that stay fast in a large organisation on SQLite, which has no statistics."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from storage.access import absences, feed_owners, wallchart
from storage.base.ids import new_id
from storage.base.secrets import Secrets
from storage.base.values import User
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.tables import LeaveRequestRow
from storage.directory import colleagues
from storage.events import audit, organisation_config
from storage.leave import cover_notices, covers
from storage.leave.lists import caller_leave, filtered_leave, periods, visible_leave
from storage.rules.spans import Span
from tests.bench.filling import filling
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    caller_for,
    personal_token,
    type_id,
)
from tests.plans import plans_of

_COLUMNS: Final = {"pending": "status", "declined": "status"}
_MONTH: Final = {"first_day": date(2026, 6, 1), "last_day": date(2026, 6, 30)}
_FROM: Final = {"first_day": date(2026, 6, 1)}
_TO: Final = {"last_day": date(2026, 6, 30)}

_OVERLAP: Final = (
    "SEARCH t1 USING INDEX leaverequestrow_organisation_id_end_date_start_date "
    "(organisation_id=? AND end_date>? AND end_date<?)"
)
_LONG: Final = "SEARCH t1 USING INDEX leave_requests_long (organisation_id=? AND end_date>?"
_BY_PERSON: Final = "(organisation_id=? AND user_id=? AND end_date>?)"
_CREATED: Final = "leaverequestrow_organisation_id_created_at_id (organisation_id=?"
_STARTED: Final = "leaverequestrow_organisation_id_start_date_id (organisation_id=?"
_OF_STATUS: Final = "status_created_at_id (organisation_id=? AND status=?"
_STATUS_STARTED: Final = "status_start_date_id (organisation_id=? AND status=?"
_BY_STATUS: Final = "_id (organisation_id=? AND status=?"
_OF_DEPARTMENT: Final = (
    "SEARCH t2 USING COVERING INDEX leave_requests_filters (organisation_id=? AND user_id=?"
)
_OF_TYPE: Final = "leave_type_id_created_at_id (organisation_id=? AND leave_type_id=?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """An organisation; with ``is_large``, each filter leaves more rows than are sorted."""

    database: Database
    url: str
    acme: Acme
    department_id: str
    leave_type_id: str
    manager: User
    feed_token: str

    def plans(self, use_case: Callable[..., Any], *args: Any, **params: Any) -> list[str]:
        return plans_of(self.database, self.url, use_case, *args, **params)

    def plan_of_list(self, sort: Any, names: Sequence[str], days: dict[str, date]) -> str:
        values: dict[str, Any] = {
            "status": "approved",
            "pending": "pending",
            "declined": "declined",
            "user_id": self.acme.owner.id,
            "leave_type_id": self.leave_type_id,
            "department_id": self.department_id,
        }
        filters: Any = {_COLUMNS.get(name, name): values[name] for name in names}
        return self.plans(
            filtered_leave.page, PageOf(), by=self.acme.caller, sort=sort, **filters, **days
        )[-1]


@pytest.fixture(scope="module", params=["small", "large"])
def filled(
    request: pytest.FixtureRequest,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Filled]:
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("growth") / "hiatus.db")
    url = f"sqlite:///{path}"
    with closing(open_database(url, Secrets.generate())) as database:
        acme = an_organisation(database)
        department = a_department(database, acme)
        manager = a_person(database, acme, department_id=department.id)
        leave_type_id = type_id(database, acme)
        feed_token = database.write_now(personal_token, by=caller_for(acme, manager), now=NOW)
    if request.param == "large":
        _add_leave(url, acme, manager, leave_type_id)
    with closing(open_database(url, Secrets.generate())) as database:
        yield Filled(
            database=database,
            url=url,
            acme=acme,
            department_id=department.id,
            leave_type_id=leave_type_id,
            manager=manager,
            feed_token=feed_token,
        )


def _add_leave(url: str, acme: Acme, manager: User, leave_type_id: str) -> None:
    """Leave of one type on one day, of one person."""
    first_day = date(2026, 6, 15)
    with filling(url) as bulk:
        bulk.insert(
            LeaveRequestRow,
            [
                {
                    "organisation_id": acme.organisation.id,
                    "id": new_id(NOW),
                    "user_id": manager.id,
                    "leave_type_id": leave_type_id,
                    "status": status,
                    "start_date": first_day.isoformat(),
                    "end_date": first_day.isoformat(),
                    "total_half_days": 2,
                    "counted_halves": "3",
                    "decided_by": manager.id,
                    "created_at": number,
                    "updated_at": number,
                    "version": 1,
                }
                for number in range(periods.MANY_ROWS // 2 + 1)
                for status in ("approved", "pending")
            ],
        )


@pytest.mark.parametrize("pending", ["none", "awaiting", "all"])
@pytest.mark.parametrize("scope", ["team", "org"])
def test_absences_are_found_by_their_last_day_and_those_of_a_team_by_person(
    filled: Filled, scope: Any, pending: Any
) -> None:
    plan, *_ = filled.plans(
        absences.away,
        PageOf(),
        filled.manager,
        filled.acme.organisation,
        scope,
        {},
        first_day=date(2026, 6, 1),
        last_day=date(2026, 6, 7),
        pending=pending,
        today=date(2026, 6, 1),
    )

    if scope == "team":
        assert _BY_PERSON in plan
    else:
        assert _OVERLAP in plan
        assert _LONG in plan


@pytest.mark.parametrize("pending", ["none", "awaiting", "all"])
@pytest.mark.parametrize("scope", ["team", "org"])
def test_the_wallchart_finds_leave_by_person(filled: Filled, scope: Any, pending: Any) -> None:
    # The first read also loads the organisation's configuration.
    *_, people, leave = filled.plans(
        wallchart.load,
        organisation_id=filled.acme.id,
        viewer_id=filled.manager.id,
        viewer_department_id=filled.department_id,
        scope=scope,
        pending=pending,
        today=date(2026, 6, 1),
        first_day=date(2026, 6, 1),
        day_count=30,
    )

    assert people.startswith("SEARCH t1 USING INDEX")
    assert _BY_PERSON in leave


def test_colleagues_of_many_requests_are_found_by_person(filled: Filled) -> None:
    monday = Span(start_date=date(2026, 6, 15), end_date=date(2026, 6, 15))
    asked = {new_id(NOW): (person, monday) for person in (filled.manager, filled.acme.owner)}

    (plan,) = filled.plans(colleagues.off_with_each, filled.acme.id, asked, includes_pending=True)

    # Not all leave to come: only what ends within a month, and long leave.
    assert "(organisation_id=? AND user_id=? AND end_date>? AND end_date<?)" in plan
    assert f"{_LONG} AND end_date<?)".replace("t1", "t10") in plan


@pytest.mark.parametrize("scope", ["personal", "team", "org"])
def test_feeds_find_leave_by_its_last_day_or_by_person(filled: Filled, scope: Any) -> None:
    owner = filled.database.read_now(feed_owners.find_by_token, filled.feed_token)
    config = filled.database.read_now(organisation_config.of_organisation, filled.acme.id)
    plan, *_ = filled.plans(
        absences.visible,
        owner,
        scope,
        config.leave_types,
        first_day=date(2026, 3, 1),
        last_day=date(2027, 6, 1),
        now=NOW,
    )

    if scope == "org":
        assert _OVERLAP in plan
        assert _LONG in plan
    else:
        assert _BY_PERSON in plan


def test_pending_approvals_are_read_from_the_index_of_what_is_undecided(filled: Filled) -> None:
    plan = filled.plans(caller_leave.assigned, PageOf(), by=filled.acme.caller, now=NOW)[-1]

    assert "leave_requests_undecided (organisation_id=?)" in plan.splitlines()[0]


def test_own_leave_is_found_by_the_person(filled: Filled) -> None:
    (plan,) = filled.plans(caller_leave.own, PageOf(), by=filled.acme.caller, today=NOW.date())

    assert "(organisation_id=? AND user_id=?" in plan


def test_covered_leave_is_found_by_its_cover(filled: Filled) -> None:
    acme, today = filled.acme, NOW.date()
    (upcoming,) = filled.plans(covers.upcoming_covered, acme.id, acme.owner.id, today, limit=6)
    (released, *_) = filled.plans(cover_notices.lock_covered, acme.id, acme.owner.id, today)

    for plan in (upcoming, released):
        assert "leave_requests_covered (organisation_id=? AND cover_user_id=?" in plan


@pytest.mark.parametrize("order", ["", "-"])
@pytest.mark.parametrize(
    ("sort", "names", "days", "small", "large"),
    [
        ("created_at", "", {}, _CREATED, _CREATED),
        ("created_at", "status", {}, _OF_STATUS, _OF_STATUS),
        ("created_at", "leave_type_id", {}, _OF_TYPE, _OF_TYPE),
        ("created_at", "status leave_type_id", {}, _OF_TYPE, _OF_TYPE),
        ("created_at", "pending leave_type_id", {}, _OF_STATUS, _OF_STATUS),
        ("created_at", "department_id", {}, _OF_DEPARTMENT, _CREATED),
        ("created_at", "department_id leave_type_id", {}, _OF_DEPARTMENT, _OF_TYPE),
        ("created_at", "department_id declined", {}, _OF_DEPARTMENT, _OF_DEPARTMENT),
        ("created_at", "declined leave_type_id", {}, _OF_TYPE, _BY_STATUS),
        ("created_at", "user_id status", _TO, "user_id=?", "user_id=?"),
        ("created_at", "", _TO, "AND start_date<?", _CREATED),
        ("created_at", "", _FROM, "AND end_date>?", _CREATED),
        ("created_at", "", _MONTH, _OVERLAP, _OVERLAP),
        ("created_at", "status leave_type_id department_id", _MONTH, _OF_DEPARTMENT, _OVERLAP),
        ("created_at", "status", _TO, "(organisation_id=? AND sta", _OF_STATUS),
        ("start_date", "", {}, _STARTED, _STARTED),
        ("start_date", "status", {}, _BY_STATUS, _STARTED),
        ("start_date", "leave_type_id", {}, _OF_TYPE, _STARTED),
        ("start_date", "department_id", {}, _OF_DEPARTMENT, _STARTED),
        ("start_date", "user_id leave_type_id", _FROM, "user_id=?", "user_id=?"),
        ("start_date", "", _TO, "AND start_date<?", "AND start_date<?"),
        ("start_date", "", _FROM, "AND start_date>?", "AND start_date>?"),
        (
            "start_date",
            "",
            _MONTH,
            "start_date>? AND start_date<?",
            "start_date>? AND start_date<?",
        ),
        ("start_date", "pending", {}, _STATUS_STARTED, _STATUS_STARTED),
        ("start_date", "pending", _FROM, _STATUS_STARTED, _STATUS_STARTED),
    ],
    ids=str,
)
def test_a_list_is_read_by_a_filter_that_leaves_few_rows_or_in_its_order(
    request: pytest.FixtureRequest,
    filled: Filled,
    order: str,
    sort: str,
    names: str,
    days: dict[str, date],
    small: str,
    large: str,
) -> None:
    plan = filled.plan_of_list(order + sort, names.split(), days)

    is_large = "large" in request.node.callspec.params["filled"]
    assert (large if is_large else small) in plan, plan


@pytest.mark.parametrize(
    ("sort", "days", "column"),
    [("created_at", _FROM, "end_date"), ("-created_at", _TO, "start_date")],
    ids=["from", "to"],
)
def test_periods_without_leave_of_the_days_are_skipped(
    request: pytest.FixtureRequest, filled: Filled, sort: Any, days: Any, column: str
) -> None:
    plans = filled.plans(
        filtered_leave.page,
        PageOf(),
        by=filled.acme.caller,
        sort=sort,
        leave_type_id=filled.leave_type_id,
        **days,
    )

    comparison = ">" if column == "end_date" else "<"
    is_large = "large" in request.node.callspec.params["filled"]
    # The type leaves few rows, or those of each period are counted in two ways.
    searches = 2 if is_large else 0
    condition = f"<expr>=? AND {column}{comparison}?"
    assert sum(plan.count(condition) for plan in plans) == searches, plans


@pytest.mark.parametrize(
    ("names", "searched"),
    [
        ("", "auditrow_organisation_id_occurred_at_id (organisation_id=?)"),
        ("action", "(organisation_id=? AND action=?)"),
        ("actor_id", "(organisation_id=? AND actor_id=?)"),
        ("action actor_id", "(organisation_id=? AND actor_id=? AND action=?)"),
        ("action actor_id subject_id", "(organisation_id=? AND subject_id=?)"),
    ],
)
@pytest.mark.parametrize("days", [{}, _MONTH], ids=["", "days"])
def test_audit_entries_are_read_in_their_order(
    filled: Filled, days: dict[str, date], names: str, searched: str
) -> None:
    manager_id = filled.manager.id
    values: dict[str, Any] = {
        "action": "user.created",
        "actor_id": manager_id,
        "subject_id": manager_id,
    }
    filters = {name: values[name] for name in names.split()}

    (plan,) = filled.plans(audit.entries, PageOf(), by=filled.acme.caller, **filters, **days)

    searched_days = " AND occurred_at>? AND occurred_at<?)" if days else ")"
    assert searched.removesuffix(")") + searched_days in plan
    assert "ORDER BY" not in plan


@pytest.mark.parametrize(
    "filters",
    [{}, {"starts_before": date(2026, 6, 1)}, {"status": "approved", "starts_after": NOW.date()}],
    ids=["", "before", "status and after"],
)
def test_leave_visible_to_an_approver_is_found_or_read_in_its_order(
    request: pytest.FixtureRequest, filled: Filled, filters: dict[str, Any]
) -> None:
    by = caller_for(filled.acme, filled.manager)
    visible: dict[str, Any] = {"by": by, "now": NOW, **filters}

    plan = filled.plans(visible_leave.page, PageOf(), **visible)[-1]
    of_person = filled.plans(visible_leave.page, PageOf(), user_id=by.user_id, **visible)[-1]

    is_large = "large" in request.node.callspec.params["filled"]
    in_order = _OF_STATUS if "status" in filters else _CREATED
    if "starts_before" in filters:
        in_order = "(organisation_id=? AND start_date<?)"
    assert (in_order if is_large else "(organisation_id=? AND id=?)") in plan.splitlines()[0]
    assert "(organisation_id=? AND user_id=?" in of_person.splitlines()[0]
