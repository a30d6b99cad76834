from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import leave_type_changes
from storage.admin.effects import Effects
from storage.base.errors import CodeTaken, InsufficientRole, InvalidInput, NameTaken
from storage.base.ids import new_id
from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.db.tables import LeaveRequestRow, LeaveTypeRow
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    an_organisation,
    approved_leave,
    caller_for,
    dry_run,
    type_id,
)

pytestmark = pytest.mark.shared_database

LATER = NOW + timedelta(hours=1)


def config_of(database: Database, acme: Acme) -> OrganisationConfig:
    return database.read_now(organisation_config.of_organisation, acme.id)


def a_request_of(database: Database, acme: Acme, leave_type: LeaveType) -> None:
    ada = a_person(database, acme)

    def insert(tx: Transaction) -> None:
        tx.insert(
            LeaveRequestRow,
            organisation_id=acme.id,
            id=new_id(NOW),
            user_id=ada.id,
            leave_type_id=leave_type.id,
            status="cancelled",
            start_date="2026-06-01",
            end_date="2026-06-01",
            total_half_days=2,
            counted_halves="3",
            created_at=NOW,
            updated_at=NOW,
            version=1,
        )

    database.write_now(insert)


def test_a_type_needs_only_a_name(database: Database, acme: Acme) -> None:
    leave_type = a_leave_type(database, acme, name="Congé d'étude")

    assert (leave_type.code, leave_type.requires_approval, leave_type.deducts_allowance) == (
        "conge-d-etude",
        True,
        True,
    )
    assert acme.read(leave_types.get, leave_type.id) == leave_type
    assert config_of(database, acme).leave_types[leave_type.id] == leave_type


def test_every_field_is_stored_in_its_normal_form(database: Database, acme: Acme) -> None:
    leave_type = a_leave_type(
        database,
        acme,
        code="study_2",
        colour="#AABBCC",
        emoji=":Books:",
        requires_approval=False,
        deducts_allowance=False,
        allow_overdraft=True,
        is_paid=False,
        is_private=True,
        requires_note=True,
        min_notice_days=14,
        max_consecutive_days=5,
    )

    stored = acme.read(leave_types.get, leave_type.id)
    assert stored == leave_type
    assert (stored.code, stored.colour, stored.emoji) == ("study_2", "#aabbcc", "books")


def test_a_type_counts_as_away_until_an_admin_says_otherwise(
    database: Database, acme: Acme
) -> None:
    home_office = a_leave_type(database, acme, name="Home office")
    assert home_office.is_away

    acme.write(leave_types.update, home_office.id, {"is_away": False})

    assert not acme.read(leave_types.get, home_office.id).is_away
    assert not config_of(database, acme).leave_types[home_office.id].is_away


def test_names_by_language_are_replaced_together(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme, name="Study leave", names={"de": " Bildungsurlaub "})
    assert study.names == {"de": "Bildungsurlaub"}

    acme.write(leave_types.update, study.id, {"names": {"fr": "Formation"}})
    assert acme.read(leave_types.get, study.id).names == {"fr": "Formation"}
    acme.write(leave_types.update, study.id, {"names": {}})

    assert acme.read(leave_types.get, study.id).names == {}


def test_a_row_of_an_older_process_has_no_names(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme, name="Study leave", names={"de": "Bildungsurlaub"})

    database.write_now(lambda tx: tx.update(LeaveTypeRow, {"names": None}, id=study.id))

    assert acme.read(leave_types.get, study.id).names == {}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": ""}, "invalid_length"),
        ({"code": "Study Leave"}, "invalid_code"),
        ({"code": "a" * 65}, "invalid_code"),
        ({"code": ""}, "invalid_code"),
        ({"names": {"xx": "Name"}}, "unknown_language"),
        ({"names": {"de": " "}}, "invalid_length"),
        ({"names": {"de": 5}}, "invalid_length"),
        ({"names": "Urlaub"}, "unknown_language"),
        ({"names": None}, "unknown_language"),
        ({"colour": "red"}, "invalid_colour"),
        ({"colour": "#12345"}, "invalid_colour"),
        ({"emoji": "two words"}, "invalid_emoji"),
        ({"emoji": ":"}, "invalid_emoji"),
        ({"emoji": "palm_treee"}, "unknown_emoji"),
        ({"emoji": ":acme_party:"}, "unknown_emoji"),
        ({"is_paid": None}, "not_a_boolean"),
        ({"min_notice_days": -1}, "out_of_range"),
        ({"min_notice_days": 731}, "out_of_range"),
        ({"min_notice_days": True}, "out_of_range"),
        ({"max_consecutive_days": 0}, "out_of_range"),
        ({"max_consecutive_days": 367}, "out_of_range"),
        ({"flavour": "mint"}, "unknown_field"),
    ],
)
def test_wrong_fields_are_refused(database: Database, fields: dict[str, Any], code: str) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refusal:
        a_leave_type(database, acme, **fields)

    assert refusal.value.code == code


def test_a_code_is_unique_in_the_organisation(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme)

    with pytest.raises(CodeTaken):
        a_leave_type(database, acme, code="annual")
    with pytest.raises(CodeTaken):
        acme.write(leave_types.update, study.id, {"code": "sick"}, now=LATER)


@pytest.mark.parametrize("name", ["Annual leave", "  ANNUAL   leave ", "Ａnnual leave"])
def test_two_types_in_use_never_have_the_same_name(database: Database, name: str) -> None:
    acme = an_organisation(database)
    annual = type_id(database, acme)
    study = a_leave_type(database, acme)

    with pytest.raises(NameTaken) as refusal:
        a_leave_type(database, acme, name=name, code="other")
    with pytest.raises(NameTaken) as changed:
        acme.write(leave_types.update, study.id, {"name": name}, now=LATER)

    assert {refusal.value.other_id, changed.value.other_id} == {annual}


def test_the_name_of_an_archived_type_can_be_used_until_it_is_restored(database: Database) -> None:
    acme = an_organisation(database)

    def change(leave_type_id: str, **changes: Any) -> None:
        acme.write(leave_types.update, leave_type_id, changes, now=LATER)

    former = a_leave_type(database, acme)
    change(former.id, is_archived=True)
    newer = a_leave_type(database, acme, code="study-2")

    with pytest.raises(NameTaken):
        change(former.id, is_archived=False)
    change(former.id, is_archived=False, name="Study leave (former)")
    # Another spelling of its own name is not a clash.
    change(newer.id, name="STUDY LEAVE")


def test_of_two_concurrent_types_with_the_same_name_one_is_created(database: Database) -> None:
    acme = an_organisation(database)
    together = threading.Barrier(2)

    def make(code: str) -> str:
        together.wait()
        try:
            return a_leave_type(database, acme, name="Study", code=code).code
        except NameTaken as refusal:
            return refusal.code

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(make, ("one", "two")))

    assert outcomes.count("name_taken") == 1


def test_a_type_keeps_an_emoji_that_is_invalid_today(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme, emoji="wave::skin-tone-3")
    older = database.write_now(
        lambda tx: tx.update(
            LeaveTypeRow, {"emoji": "acme_party"}, organisation_id=acme.id, id=study.id
        )
    )
    assert older == 1

    changed = acme.write(
        leave_types.update, study.id, {"emoji": "acme_party", "requires_note": True}, now=LATER
    )

    assert (changed.emoji, changed.requires_note) == ("acme_party", True)


def test_an_unused_type_is_deleted(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme)

    deleted = acme.write(leave_types.delete, study.id, now=LATER)

    assert deleted is None
    assert study.id not in config_of(database, acme).leave_types


def test_a_limited_number_of_types_is_in_use(database: Database, acme: Acme) -> None:
    kept = [a_leave_type(database, acme, name=f"Leave {number}") for number in range(45)]
    archived = a_leave_type(database, acme, name="Sabbatical", is_archived=True)

    def restore() -> LeaveType:
        return acme.write(leave_types.update, archived.id, {"is_archived": False}, now=LATER)

    with pytest.raises(leave_types.TooManyLeaveTypes):
        a_leave_type(database, acme, name="Study")
    with pytest.raises(leave_types.TooManyLeaveTypes):
        restore()
    changed = {"name": "Leave of another name"}
    acme.write(leave_types.update, kept[0].id, changed, now=LATER)
    acme.write(leave_types.delete, kept[1].id, now=LATER)
    assert not restore().is_archived


def test_a_used_type_is_archived_and_can_be_restored(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme)
    a_request_of(database, acme, study)

    deleted = acme.write(leave_types.delete, study.id, now=LATER)
    again = acme.write(leave_types.delete, study.id, now=LATER)
    back = acme.write(leave_types.update, study.id, {"is_archived": False}, now=LATER)

    assert deleted == replace(study, is_archived=True, updated_at=LATER, version=2)
    assert again == deleted
    assert (back.is_archived, back.version) == (False, 3)


@pytest.mark.parametrize(
    "word",
    [
        lambda study: study.id,
        lambda study: study.id.upper(),
        lambda study: "study",
        lambda study: "Study",
        lambda study: " study LEAVE ",
    ],
    ids=["id", "id in capitals", "code", "code in capitals", "name"],
)
def test_a_type_is_found_by_id_code_or_name(
    database: Database, acme: Acme, word: Callable[[LeaveType], str]
) -> None:
    study = a_leave_type(database, acme, code="study")

    leave_type = leave_types.by_word(config_of(database, acme), word(study))

    assert leave_type == study


def test_a_name_prefers_the_type_in_use(database: Database, acme: Acme) -> None:
    former = a_leave_type(database, acme, code="study", is_archived=True)
    current = a_leave_type(database, acme, code="study-2")
    config = config_of(database, acme)

    assert leave_types.by_word(config, "Study leave") == current
    assert leave_types.by_word(config, "study") == former


def test_an_unknown_word_is_refused(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    elsewhere = a_leave_type(database, globex)

    with pytest.raises(InvalidInput) as refusal:
        leave_types.by_word(config_of(database, acme), elsewhere.id)

    assert [(e.pointer, e.code) for e in refusal.value.errors] == [
        ("/leave_type", "unknown_leave_type")
    ]


def test_an_unknown_word_is_refused_with_the_known_codes(database: Database, acme: Acme) -> None:
    study = a_leave_type(database, acme)
    acme.write(leave_types.update, study.id, {"is_archived": True})

    with pytest.raises(InvalidInput) as refused:
        leave_types.by_word(config_of(database, acme), "annul")

    assert refused.value.errors[0].detail == (
        "There is no leave type 'annul'. Use one of annual, compassionate, parental, sick, unpaid "
        "(GET /api/v1/leave-types)."
    )


def effects_of(database: Database, acme: Acme, code: str, **changes: Any) -> Effects:
    leave_type_id = type_id(database, acme, code)
    return dry_run(
        database, leave_type_changes.update, leave_type_id, changes, by=acme.caller, now=NOW
    )


def test_balances_rise_when_a_type_stops_using_the_allowance(database: Database) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 7))
    approved_leave(database, acme, grace, date(2026, 8, 3), code="unpaid")

    effects = effects_of(database, acme, "annual", deducts_allowance=False)

    assert (effects.deducts_allowance, effects.rebalanced, effects.overdrawn) == (False, 1, ())
    (balance,) = effects.balances
    assert (balance.user_id, balance.before_half_days, balance.after_half_days) == (ada.id, 40, 50)
    assert effects.affects_others
    kept = acme.read(leave_types.get, type_id(database, acme))
    assert kept.deducts_allowance


def test_balances_become_negative_when_a_type_starts_using_it(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=4)
    ada = a_person(database, acme)
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 7), code="unpaid")

    effects = effects_of(database, acme, "unpaid", deducts_allowance=True)

    assert (effects.deducts_allowance, effects.rebalanced) == (True, 1)
    assert [balance.after_half_days for balance in effects.overdrawn] == [-6]


def test_only_past_leave_is_told_as_well(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, start_date=date(2024, 1, 1))
    approved_leave(database, acme, ada, date(2025, 8, 4))

    effects = effects_of(database, acme, "annual", deducts_allowance=False)

    assert (effects.deducts_allowance, effects.rebalanced, effects.balances) == (False, 0, ())
    assert effects.affects_others


@pytest.mark.parametrize("changes", [{"name": "Holiday"}, {"deducts_allowance": True}])
def test_other_changes_affect_no_one(database: Database, changes: dict[str, Any]) -> None:
    acme = an_organisation(database)
    approved_leave(database, acme, a_person(database, acme))

    assert effects_of(database, acme, "annual", **changes) == Effects()


def test_only_admins_see_what_would_change(database: Database, acme: Acme, ada: User) -> None:
    with pytest.raises(InsufficientRole):
        dry_run(
            database,
            leave_type_changes.update,
            type_id(database, acme),
            {"deducts_allowance": False},
            by=caller_for(acme, ada),
            now=NOW,
        )
