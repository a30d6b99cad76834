"""Dry runs: the real change rolled back, for every operation that takes ``?dry_run=true``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

import pytest

from storage.admin import (
    absence_limits,
    allowances,
    closures,
    departments,
    employment_records,
    erasure,
    holiday_overrides,
    holiday_set_changes,
    leave_type_changes,
    organisation_settings,
    people,
    people_status,
)
from storage.admin.effects import Effects, EffectsRecorder
from storage.admin.holiday_overrides import NewOverride
from storage.base.allowance_values import Amount
from storage.base.errors import NameTaken
from storage.base.leave_values import AbsenceLimit, LeaveRequest
from storage.base.values import User
from storage.calendars import feeds
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import TABLES, OrganisationRow
from storage.leave import leave_lists, ledgers
from storage.outbox import organisation_config
from storage.people import approvers, holiday_sets, people_lists
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
    caller_for,
    dry_run,
    type_id,
)
from tests.storage.test_recalculation import own_set

LATER = NOW + timedelta(hours=1)
DISPATCHERS: Final = ("notifications", "webhooks")

Change = Callable[..., Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """A team in Slack with a webhook: Grace leads and has leave, keys and feeds of her own."""

    acme: Acme
    grace: User
    ada: User
    team_id: str
    british_set_id: str
    french_set_id: str
    icelandic_set_id: str
    override_id: str
    record_id: str
    annual_id: str


# By the id of the operation and a label of the change.
def _future_terms(scene: Scene) -> str:
    """The id of terms of the default allowance that count from next year on."""
    acme = scene.acme
    changes = {"half_days_per_year": 60}
    day = date(2027, 1, 1)
    shown = acme.write(allowances.update, acme.id, changes, effective_from=day, now=NOW)
    terms: str = shown.allowance.terms[-1].id
    return terms


CLOSED: Final = {
    "name": "Closure",
    "start_date": date(2026, 12, 16),
    "end_date": date(2026, 12, 18),
}


def _closure(scene: Scene) -> str:
    """The id of a closure."""
    settings = CLOSED | {"leave_type_id": scene.annual_id}
    closure_id: str = scene.acme.write(closures.create, settings).id
    return closure_id


def _left(scene: Scene) -> str:
    """The id of an archived person."""
    database = scene.acme.database
    return a_person(database, scene.acme, email="left@example.com", status="archived").id


def _limit(scene: Scene) -> str:
    limit: AbsenceLimit = scene.acme.write(absence_limits.create, {"name": "All", "max_away": 9})
    return limit.id


CHANGES: Final[dict[tuple[str, str], Callable[[Scene], Change]]] = {
    ("absence_limits.create", ""): lambda scene: partial(
        absence_limits.create, settings={"name": "All", "max_away": 0}
    ),
    ("absence_limits.update", ""): lambda scene: partial(
        absence_limits.update, limit_id=_limit(scene), changes={"max_away": 0}
    ),
    ("allowances.update", "days"): lambda scene: partial(
        allowances.update, allowance_id=scene.acme.id, changes={"half_days_per_year": 6}
    ),
    ("allowances.delete_terms", "future"): lambda scene: partial(
        allowances.delete_terms, allowance_id=scene.acme.id, terms_id=_future_terms(scene)
    ),
    ("allowances.put_figure", "default"): lambda scene: partial(
        allowances.set_figure,
        user_id=scene.ada.id,
        allowance_id=scene.acme.id,
        half_days=3,
    ),
    ("users.update", "days"): lambda scene: partial(
        people.update,
        user_id=scene.ada.id,
        changes={"working_days": ["monday", "tuesday:am"], "leave_allowance_half_days": 3},
    ),
    ("users.update", "country and manager"): lambda scene: partial(
        people.update,
        user_id=scene.ada.id,
        changes={"public_holiday_country_code": "FR", "manager_id": scene.acme.owner.id},
    ),
    ("users.update", "role"): lambda scene: partial(
        people.update, user_id=scene.ada.id, changes={"role": "admin", "department_id": None}
    ),
    ("users.update", "days from a date on"): lambda scene: partial(
        people.update,
        user_id=scene.ada.id,
        changes={"working_days": ["monday"], "effective_from": date(2026, 8, 5)},
    ),
    ("users.update", "first day"): lambda scene: partial(
        people.update, user_id=scene.ada.id, changes={"start_date": date(2026, 4, 1)}
    ),
    ("users.update", "last day"): lambda scene: partial(
        people.update, user_id=scene.ada.id, changes={"end_date": date(2026, 8, 4)}
    ),
    ("employment.create", ""): lambda scene: partial(
        employment_records.add,
        user_id=scene.ada.id,
        fields_of_record={"valid_from": date(2026, 8, 4), "working_days": ["monday"]},
    ),
    ("employment.update", ""): lambda scene: partial(
        employment_records.update,
        user_id=scene.grace.id,
        record_id=scene.record_id,
        changes={"valid_from": date(2026, 8, 6)},
    ),
    ("employment.remove", ""): lambda scene: partial(
        employment_records.remove, user_id=scene.grace.id, record_id=scene.record_id
    ),
    ("users.archive", ""): lambda scene: partial(people_status.archive, user_id=scene.grace.id),
    ("personal_data.erase", ""): lambda scene: partial(
        erasure.erase, user_id=_left(scene), confirm="left@example.com"
    ),
    ("users.deactivate", ""): lambda scene: partial(
        people_status.deactivate, user_id=scene.grace.id
    ),
    ("departments.update", "manager and allowance"): lambda scene: partial(
        departments.update,
        department_id=scene.team_id,
        changes={"manager_id": scene.ada.id, "default_leave_allowance_half_days": 3},
    ),
    ("leave_types.update", ""): lambda scene: partial(
        leave_type_changes.update,
        leave_type_id=scene.annual_id,
        changes={"deducts_allowance": False},
    ),
    ("organisation.update", "country and days"): lambda scene: partial(
        organisation_settings.update,
        changes={"country_code": "DE-BY", "working_days": ["tuesday", "wednesday:pm", "friday"]},
    ),
    ("organisation.update", "allowances"): lambda scene: partial(
        organisation_settings.update,
        changes={
            "default_leave_allowance_half_days": 3,
            "carry_over_half_days": 0,
            "timezone": "Pacific/Auckland",
            "digest_channel": "C024BE91L",
        },
    ),
    ("organisation.add_set", ""): lambda _: partial(
        holiday_set_changes.add, country_code="SE", categories=["public"]
    ),
    ("organisation.change_set", ""): lambda scene: partial(
        holiday_set_changes.change_categories,
        set_id=scene.icelandic_set_id,
        categories=["public"],
    ),
    ("public_holidays.add_override", "every year"): lambda scene: partial(
        holiday_overrides.add,
        set_id=scene.british_set_id,
        new=NewOverride(date=date(2026, 1, 4), name="Market day", every_year=True),
    ),
    ("public_holidays.add_override", ""): lambda scene: partial(
        holiday_overrides.add,
        set_id=scene.british_set_id,
        new=NewOverride(date=date(2026, 8, 5), name="Market day", half="am"),
    ),
    ("public_holidays.remove_override", ""): lambda scene: partial(
        holiday_overrides.remove, set_id=scene.british_set_id, override_id=scene.override_id
    ),
    ("closures.create", ""): lambda scene: partial(
        closures.create, settings=CLOSED | {"leave_type_id": scene.annual_id}
    ),
    ("closures.update", "longer"): lambda scene: partial(
        closures.update,
        closure_id=_closure(scene),
        changes={"start_date": date(2026, 12, 15), "end_date": date(2026, 12, 17)},
    ),
    ("closures.update", "department"): lambda scene: partial(
        closures.update, closure_id=_closure(scene), changes={"department_id": scene.team_id}
    ),
    ("closures.delete", ""): lambda scene: partial(closures.delete, closure_id=_closure(scene)),
    ("public_holidays.remove_set", ""): lambda scene: partial(
        remove_set, set_id=scene.french_set_id
    ),
}


def remove_set(tx: Transaction, *, recorder: EffectsRecorder, **how: Any) -> None:
    """Delete a holiday set, which concerns no one's leave."""
    holiday_set_changes.remove(tx, **how)


def a_scene(database: Database) -> Scene:
    acme = an_organisation(database, carry_over_half_days=6, carry_over_expiry_month=3)

    def link(tx: Transaction) -> None:
        tx.update(OrganisationRow, {"slack_team_id": "T1"}, id=acme.id)
        organisation_config.changed(tx, acme.id)

    database.write_now(link)
    url = "https://hooks.example.com/hiatus"
    a_webhook(database, acme, url=url)
    grace = a_person(database, acme, first_name="Grace")
    team = a_department(database, acme, manager_id=grace.id)
    ada = a_person(database, acme, department_id=team.id, manager_id=grace.id)
    sam = a_person(database, acme, first_name="Sam", department_id=team.id)
    astrid = a_person(database, acme, first_name="Astrid", public_holiday_country_code="SE")
    bjork = a_person(database, acme, first_name="Björk", public_holiday_country_code="IS")
    for user in (ada, sam, grace, astrid, bjork):
        a_request(database, acme, user, start_date=date(2026, 8, 3), end_date=date(2026, 8, 7))
        approved_leave(
            database, acme, user, start_date=date(2026, 12, 21), end_date=date(2027, 1, 8)
        )
    by = caller_for(acme, grace)
    database.write_now(feeds.create, None, by=by, now=NOW)
    a_key(database, acme, grace)
    french = acme.write(holiday_sets.add, "FR")
    icelandic = acme.write(holiday_sets.add, "IS")
    british_set_id = own_set(database, acme)
    new = NewOverride(date=date(2026, 8, 6), name="Founders' day")
    override = acme.write(holiday_overrides.add, british_set_id, new)
    part_time = {"valid_from": date(2026, 8, 5), "working_days": ["friday"]}
    _, record = acme.write(employment_records.add, grace.id, part_time)
    return Scene(
        acme=acme,
        grace=grace,
        ada=ada,
        team_id=team.id,
        british_set_id=british_set_id,
        french_set_id=french.id,
        icelandic_set_id=icelandic.id,
        override_id=override.id,
        record_id=record.id,
        annual_id=type_id(database, acme),
    )


def every_row(url: str) -> dict[str, list[str]]:
    """Every table's content, as another process sees it."""
    names = [table._meta.table_name for table in TABLES]
    rows = outside.rows_of_each(url, [f"SELECT * FROM {name}" for name in names])
    return {name: sorted(map(repr, of_table)) for name, of_table in zip(names, rows, strict=True)}


def requests(database: Database, acme: Acme) -> dict[str, LeaveRequest]:
    page = acme.read(leave_lists.filtered, PageOf(limit=100))
    return {leave_request.id: leave_request for leave_request in page.items}


def approver_ids(database: Database, acme: Acme) -> dict[str, list[str]]:
    """The approvers of every person's leave."""
    everyone = acme.read(people_lists.list_all)
    approvers_of = database.read_now(
        approvers.of_people, acme.id, [user.id for user in everyone], today=LATER.date()
    )
    return {
        user.id: [approver.id for approver in approvers_of.get(user.id, [])] for user in everyone
    }


def without_new_ids(effects: Effects) -> str:
    """The effects, except the random ids of new employment records, closures and their leave."""
    shown = re.sub(r"(Employment\w*|LeaveRequest)\(id='[^']+'", r"\1(", repr(effects))
    return re.sub(r"closure_id='[^']+'", "", shown)


def balances(acme: Acme) -> dict[tuple[str, date], Amount]:
    """Everyone's remaining half-days of this leave year and the next."""
    return {
        (user.id, on): acme.read(ledgers.balance, user.id, on=on, now=LATER).remaining_half_days
        for user in acme.read(people_lists.list_all)
        for on in (LATER.date(), date(2027, 1, 1))
    }


@pytest.mark.parametrize("which", CHANGES, ids=" ".join)
def test_a_dry_run_predicts_the_change_and_stores_nothing(
    database: Database, database_url: str, which: tuple[str, str]
) -> None:
    scene = a_scene(database)
    acme, change = scene.acme, CHANGES[which](scene)
    notified: list[str] = []
    for name in DISPATCHERS:
        database.on_notify(name, partial(notified.append, name))
    config = database.read_now(organisation_config.of_organisation, acme.id)
    cached, rows = database.config_cache.copy(), every_row(database_url)

    predicted = dry_run(database, change, by=acme.caller, now=LATER)

    # The scene has something to tell about every change but this one.
    assert (predicted == Effects()) == (which[0] == "public_holidays.remove_set")
    assert every_row(database_url) == rows
    assert notified == []
    assert database.config_cache == cached
    assert database.read_now(organisation_config.of_organisation, acme.id) == config

    leave, approvers_before = requests(database, acme), approver_ids(database, acme)
    balances_before = balances(acme)
    done = EffectsRecorder()
    acme.write(partial(change, recorder=done), now=LATER)

    assert without_new_ids(predicted) == without_new_ids(done.effects)
    balances_after = balances(acme)
    told = {
        (balance.user_id, balance.on): (balance.before_half_days, balance.after_half_days)
        for balance in predicted.balances
    }
    happened = {
        which: (before, balances_after[which])
        for which, before in balances_before.items()
        if which in balances_after and before != balances_after[which]
    }
    # Of a change that concerns everyone's allowance, only negative balances are told.
    assert told.items() <= happened.items() if predicted.changes_allowances else told == happened
    leave_after, approvers_after = requests(database, acme), approver_ids(database, acme)
    changed = {
        name: leave_request
        for name, leave_request in leave_after.items()
        if name in leave and leave_request != leave[name]
    }
    of_closures = [
        (before, after)
        for effect in predicted.closed
        for before, after in zip(effect.before, effect.after, strict=False)
        if before != after
    ]
    pairs = [*((change.before, change.after) for change in predicted.leave), *of_closures]
    assert {after.id: after for _, after in pairs} == changed
    assert {before.id: before for before, _ in pairs} == {name: leave[name] for name in changed}
    new = sum(len(effect.after) - len(effect.before) for effect in predicted.closed)
    assert len(leave_after.keys() - leave.keys()) == new
    assert {change.request.user_id for change in predicted.reassigned} == {
        request.user_id
        for request in leave_after.values()
        if request.status == "pending"
        and approvers_before[request.user_id] != approvers_after[request.user_id]
    }
    for reassignment in predicted.reassigned:
        user_id = reassignment.request.user_id
        assert [user.id for user in reassignment.before] == approvers_before[user_id]
        assert [user.id for user in reassignment.after] == approvers_after[user_id]
    database.close()
    assert set(notified) >= (set(DISPATCHERS) if predicted.leave else set())


def test_a_refused_dry_run_changes_nothing(database: Database, database_url: str) -> None:
    scene = a_scene(database)
    a_department(database, scene.acme, name="Sales")
    rows = every_row(database_url)

    with pytest.raises(NameTaken):
        dry_run(
            database,
            departments.update,
            scene.team_id,
            {"name": "sales"},
            by=scene.acme.caller,
            now=LATER,
        )

    assert every_row(database_url) == rows


def test_concurrent_changes_are_kept(database: Database, acme: Acme) -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                for run, kind in (
                    (database.dry_run, "Tried"),
                    (database.write, "Made"),
                ):
                    fields = {"name": f"{kind} {number}"}
                    group.create_task(run(departments.create, fields, by=acme.caller, now=NOW))

    asyncio.run(work())

    config = database.read_now(organisation_config.of_organisation, acme.id)
    names = {f"Made {number}" for number in range(20)}
    assert {department.name for department in config.departments.values()} == names
