"""Erasing a person: a marker in everything that is kept about them, and no trace afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from peewee import BlobField, CharField, DateField, TextField

from storage.admin import allowances, erasure, people, people_status, personal_data
from storage.admin.erasure import NotArchived, UserErased
from storage.admin.personal_data import SECTIONS, Erasure, Section, without_texts
from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.ids import new_id
from storage.base.leave_values import Approval, LeaveRequest
from storage.base.values import User
from storage.calendars import feeds
from storage.db import rows
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import (
    TABLES,
    AmendmentRow,
    DeliveryAttemptRow,
    ExpiryNoticeRow,
    FlagField,
    LeaveRequestRow,
    UserRow,
)
from storage.keys import idempotency
from storage.keys.idempotency import Claim, IdempotencyAnswerErased, StoredResponse
from storage.leave import adjustments, decisions, leave_requests, suggestions, time_credits
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.webhooks import delivery_log
from storage.workspaces import slack_installations, slack_workspaces
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_key,
    a_person,
    a_request,
    a_slack_installation,
    a_slack_profile,
    a_webhook,
    an_organisation,
    audit_entries,
    caller_for,
    type_id,
)

MARKER: Final = "Zyxqmarker"
EMAIL: Final = f"{MARKER}@example.com"
SLACK_ID: Final = f"U{MARKER.upper()}"
LATER: Final = NOW + timedelta(days=1)

# Why the texts of a column need no erasure. Columns of SECTIONS are not here.
_REASONS: Final = {
    "a word or number of a fixed list": """
        absence_limits: enforcement
        amendments: end_half_day start_half_day status
        audit_entries: action source subject_type
        channel_digests: frequency locale
        closures: end_half_day start_half_day when_short
        deliveries: event_type status
        events: type
        expiry_notices: kind
        holiday_overrides: half
        holiday_sets: categories country_code
        leave_requests: counted_halves end_half_day start_half_day status
        suggestions: end_half_day start_half_day status
        time_credits: status
        users: public_holiday_country_code role status working_days
    """,
    "ids, days and amounts": """
        absence_limits: user_ids
        allowances: terms
        closures: excluded_user_ids skipped_user_ids
        departments: figures
        expiry_notices: contents
        leave_requests: approvals
        leave_types: allowance_uses second_approval
        users: earlier_periods employment figures
    """,
    "of the organisation, named by admins": """
        absence_limits: name
        allowances: code name
        closures: name
        departments: name
        display_links: name
        holiday_overrides: name
        leave_types: code colour emoji name names
        organisations: country_code day_ends_at day_starts_at digest_channel domain
        organisations: leave_year_type logo_url midday_at name pro_rata_rules slack_team_id slug
        organisations: timezone working_days
        webhooks: events url
    """,
    "of a channel or workspace": """
        channel_digests: channel refused_because shown_sha256 ts
        digests: channel refused_because refused_channel shown_sha256 ts
        slack_events: event_id
        slack_installations: bot_id bot_user_id enterprise_id scopes team_id
        slack_syncs: claim_id
    """,
    "a secret of the organisation, encrypted or hashed": """
        display_links: token_encrypted token_sha256
        secret_canaries: encrypted
        slack_installations: bot_token_encrypted
        slack_states: state_sha256
        webhooks: previous_secret_encrypted secret_encrypted
    """,
    "an error code": """
        deliveries: last_error
        delivery_attempts: error
        slack_syncs: last_error
        webhooks: disabled_reason
    """,
    "a random id": """
        deliveries: claim_id
        leases: holder name
    """,
    "made by a program, a random UUID if it follows the documentation, and deleted after a day": """
        idempotency_keys: idempotency_key request_sha256
    """,
    "ids and sizes, deleted after a day": """
        idempotency_keys: headers
    """,
}


def _listed(text: str) -> Iterator[str]:
    for line in text.strip().splitlines():
        table, _, columns = line.strip().partition(": ")
        yield from (f"{table}.{column}" for column in columns.split())


NOT_PERSONAL: Final = {
    column: reason for reason, text in _REASONS.items() for column in _listed(text)
}
# Columns with conditions, in rows that are deleted.
ONE_OF: Final = {"status": "pending"}
# What erasure.py empties beside SECTIONS.
ELSEWHERE: Final = frozenset(
    {
        "users.email",
        "users.email_key",
        "slack_installations.installed_by",
        "idempotency_keys.body",
    }
)


def is_text(field: Any) -> bool:
    return isinstance(field, (TextField, CharField, BlobField))


def text_columns(section: Section) -> list[str]:
    """The columns that erasure has to empty: all of a table whose rows are deleted."""
    if section.left is None:
        return [name for name, field in section.table._meta.fields.items() if is_text(field)]
    return sorted(section.typed | section.left.keys())


def test_every_text_column_is_erased_or_has_a_reason_why_not() -> None:
    erased = {
        f"{section.table._meta.table_name}.{name}"
        for section in SECTIONS.values()
        for name in text_columns(section)
    } | ELSEWHERE
    texts = {
        f"{table._meta.table_name}.{name}"
        for table in TABLES
        for name, field in table._meta.fields.items()
        if is_text(field)
    }

    assert sorted(texts - erased - NOT_PERSONAL.keys()) == []
    assert sorted(NOT_PERSONAL.keys() - texts) == []
    assert sorted(NOT_PERSONAL.keys() & erased) == []


def a_marked_life(database: Database, acme: Acme) -> User:
    """A person whose every text is the marker, made through the product; archived at the end."""
    a_webhook(database, acme)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(
        database,
        acme,
        first_name=MARKER,
        last_name=MARKER,
        email=EMAIL,
        job_title=MARKER,
        employee_number=MARKER,
        manager_id=grace.id,
    )
    by, boss = replace(caller_for(acme, ada), request_id=MARKER), caller_for(acme, grace)
    approved = a_request(database, acme, ada, note=MARKER)
    database.write_now(decisions.approve, approved.id, by=boss, now=NOW)
    longer = {"end_date": approved.end_date + timedelta(days=1), "note": MARKER}
    database.write_now(leave_requests.edit, approved.id, longer, by=by, now=NOW)
    database.write_now(decisions.decline, approved.id, by=boss, reason=MARKER, now=NOW)
    declined = a_request(database, acme, ada, start_date=date(2026, 9, 7), note=MARKER)
    dates = suggestions.Dates(
        start_date=date(2026, 9, 14),
        end_date=date(2026, 9, 14),
        start_half_day=None,
        end_half_day=None,
    )
    database.write_now(suggestions.suggest, declined.id, dates, by=boss, now=NOW)
    database.write_now(decisions.decline, declined.id, by=boss, reason=MARKER, now=NOW)
    recorded = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 7, 6),
        end_date=date(2026, 7, 6),
        note=MARKER,
    )
    acme.write(leave_requests.create, draft=recorded, user_id=ada.id, override_reason=MARKER)
    lieu = acme.write(allowances.create, {"name": "Lieu", "earnable": True}).allowance.id
    credit = database.write_now(
        time_credits.create,
        allowance_id=lieu,
        worked_on=date(2026, 5, 30),
        days=1,
        reason=MARKER,
        by=by,
        now=NOW,
    )
    database.write_now(time_credits.decline, credit.id, reason=MARKER, by=boss, now=NOW)
    acme.write(adjustments.add, ada.id, half_days=2, reason=MARKER, leave_year=2026)
    a_key(database, acme, ada, name=MARKER)
    database.write_now(feeds.create, MARKER, by=by, now=NOW)
    acme.write(people_status.archive, ada.id)
    return acme.read(people_rows.get, ada.id)


def marked(section: Section, acme: Acme, ids: Mapping[str, str]) -> dict[str, Any]:
    """A row of the section's table with the marker in every text; ``ids`` are by column."""
    values: dict[str, Any] = {"organisation_id": acme.id}
    for name, column in section.table._meta.fields.items():
        if name in ids:
            values[name] = ids[name]
        elif is_text(column):
            values[name] = ONE_OF.get(
                name, MARKER.encode() if isinstance(column, BlobField) else MARKER
            )
        elif isinstance(column, FlagField):
            values[name] = False
        elif name != "organisation_id" and not column.null:
            values[name] = "2026-05-04" if isinstance(column, DateField) else 1
    values["id"] = new_id(NOW)
    return {name: values[name] for name in values if name in section.table._meta.fields}


def add_what_others_write(tx: Transaction, acme: Acme, user: User) -> None:
    """A row of each kind that erasure deletes, as the bot and the dispatchers write them, and what
    else repeats the person."""
    ids = personal_data.ids_of(tx, acme.id, user)
    allowance_id = organisation_config.of_organisation(tx, acme.id).default_allowance_id
    for section in SECTIONS.values():
        if section.left is None:
            columns = {
                "user_id": user.id,
                "allowance_id": allowance_id,
                "leave_request_id": ids["leave"][0],
                "time_credit_id": ids["credits"][0],
            }
            tx.insert(section.table, **marked(section, acme, columns))
    (delivery_id, *_) = ids["deliveries"]
    tx.insert(
        DeliveryAttemptRow,
        organisation_id=acme.id,
        id=new_id(NOW),
        delivery_id=delivery_id,
        attempted_at=0,
        duration_milliseconds=0,
        answer_excerpt=MARKER.encode(),
    )
    tx.insert(
        ExpiryNoticeRow,
        organisation_id=acme.id,
        id=new_id(NOW),
        user_id=user.id,
        kind="statement",
        told_on="2026-05-04",
        contents="{}",
        created_at=0,
    )
    approvals = rows.json_text([Approval(user_id="1", approved_at=NOW, override_reason=MARKER)])
    changed = {"approvals": approvals}
    tx.update(AmendmentRow, changed, organisation_id=acme.id, leave_request_id=ids["leave"])
    profile = {"slack_user_id": SLACK_ID, "avatar_url": MARKER, "timezone": MARKER}
    tx.update(UserRow, profile | {"locale": MARKER}, organisation_id=acme.id, id=user.id)
    installer = a_slack_profile("it@example.com", slack_user_id=SLACK_ID)
    new = a_slack_installation(installer, team_id="T1", team_name="Acme", bot_token="xoxb-1")
    slack_installations.install(tx, new, now=NOW)


def dump(url: str) -> str:
    """Everything in the database as text."""
    tables = [table._meta.table_name for table in TABLES]
    contents = outside.rows_of_each(url, [f"SELECT * FROM {name}" for name in tables])
    return repr(
        [
            [bytes(value) if isinstance(value, memoryview) else value for value in row]
            for rows in contents
            for row in rows
        ]
    )


def traces(text: str) -> list[str]:
    """The marker with what surrounds it."""
    found = re.finditer(MARKER, text, re.IGNORECASE)
    return [text[max(match.start() - 80, 0) : match.end() + 20] for match in found]


def test_no_trace_of_an_erased_person_is_left(database: Database, database_url: str) -> None:
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link, acme.organisation, "T1", source="cli", now=NOW)
    ada = a_marked_life(database, acme)
    database.write_now(add_what_others_write, acme, ada)
    for name, section in SECTIONS.items():
        ids = database.read_now(personal_data.ids_of, acme.id, ada)[section.key]
        found = database.read_now(
            Transaction.select, section.table, organisation_id=acme.id, **{section.column: ids}
        )
        assert found, f"no row of {name} to erase"
        for column in text_columns(section):
            values = [getattr(row, section.table._meta.fields[column].column_name) for row in found]
            assert column in ONE_OF or traces(repr([*map(as_text, values)])), f"{name}.{column}"

    acme.write(erasure.erase, ada.id, confirm=EMAIL, now=LATER)

    assert traces(dump(database_url)) == []
    if database.engine == "sqlite":
        path = Path(database_url.removeprefix("sqlite:///"))
        for file in (path, path.with_name(f"{path.name}-wal")):
            assert traces(file.read_bytes().decode("latin-1")) == []


def as_text(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def erased(database: Database, acme: Acme, user: User) -> Erasure:
    return acme.write(erasure.erase, user.id, confirm=user.email, now=LATER)


def test_leave_and_days_of_an_erased_person_stay(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_marked_life(database, acme)
    before = database.read_now(
        Transaction.select, LeaveRequestRow, organisation_id=acme.id, user_id=ada.id
    )

    result = erased(database, acme, ada)

    after = database.read_now(
        Transaction.select, LeaveRequestRow, organisation_id=acme.id, user_id=ada.id
    )
    kept = ("id", "status", "start_date", "end_date", "total_half_days", "leave_type_id")
    assert [[getattr(row, name) for name in kept] for row in after] == [
        [getattr(row, name) for name in kept] for row in before
    ]
    assert result.leave_requests == len(after)
    assert {row.note for row in after} == {None}
    assert all(new.version > old.version for old, new in zip(before, after, strict=True))
    # Whether leave was recorded past the rules is still known.
    reasons = [row.override_reason is None for row in before]
    assert [row.override_reason is None for row in after] == reasons
    shown = acme.read(people_rows.get, ada.id)
    assert shown.name == "Erased person"
    assert shown.email.endswith("@erased.invalid")


def test_only_owners_erase_and_only_archived_people_with_their_address(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, email=EMAIL)
    admin = caller_for(acme, a_person(database, acme, role="admin"))
    with pytest.raises(NotArchived):
        acme.write(erasure.erase, ada.id, confirm=EMAIL)
    acme.write(people_status.archive, ada.id)
    rows = dump(database_url)

    with pytest.raises(InsufficientRole):
        database.write_now(erasure.erase, ada.id, confirm=EMAIL, by=admin, now=LATER)
    with pytest.raises(InvalidInput) as refused:
        acme.write(erasure.erase, ada.id, confirm="other@example.com")

    assert [(each.pointer, each.code) for each in refused.value.errors] == [
        ("/confirm", "does_not_match")
    ]
    assert dump(database_url) == rows
    assert acme.write(erasure.erase, ada.id, confirm=f" {EMAIL.upper()} ").user_id == ada.id


def test_erasing_twice_changes_nothing(database: Database, database_url: str) -> None:
    acme = an_organisation(database)
    ada = a_marked_life(database, acme)
    first = erased(database, acme, ada)
    rows = dump(database_url)

    again = acme.write(erasure.erase, ada.id, confirm=EMAIL, now=LATER + timedelta(days=1))

    assert again.erased_at == first.erased_at
    assert (again.leave_requests, again.removed_rows) == (0, 0)
    assert dump(database_url) == rows


def test_an_erased_person_is_not_restored_and_their_address_is_free(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, email=EMAIL, status="archived")
    erased(database, acme, ada)

    with pytest.raises(UserErased):
        acme.write(people.restore, ada.id, start_date=None)

    new = a_person(database, acme, email=EMAIL)
    acme.write(people_status.archive, new.id)
    erased(database, acme, new)
    assert a_person(database, acme, email=EMAIL).id not in (ada.id, new.id)


def test_webhooks_are_told_the_id_and_nothing_else(database: Database) -> None:
    acme = an_organisation(database)
    webhook = a_webhook(database, acme, "user.erased")
    ada = a_person(database, acme, email=EMAIL, status="archived")

    erased(database, acme, ada)

    (delivery,) = acme.read(delivery_log.page, webhook.id, PageOf(limit=10)).items
    body = orjson.loads(acme.read(delivery_log.body_of, delivery))
    assert body["type"] == delivery.event_type == "user.erased"
    user = acme.read(people_rows.get, ada.id)
    assert body["data"] == {
        "id": ada.id,
        "organisation_id": acme.id,
        "sequence": user.version,
    }


def test_events_that_wait_are_sent_without_the_person(database: Database) -> None:
    acme = an_organisation(database)
    webhook = a_webhook(database, acme, "leave_request.created")
    ada = a_person(database, acme, email=EMAIL)
    request = a_request(database, acme, ada, note=MARKER)
    acme.write(people_status.archive, ada.id)

    erased(database, acme, ada)

    (delivery,) = acme.read(delivery_log.page, webhook.id, PageOf(limit=10)).items
    data = orjson.loads(acme.read(delivery_log.body_of, delivery))["data"]
    assert delivery.status == "pending"
    assert (data["id"], data["note"], data["total_days"]) == (request.id, None, 1.0)
    assert data["user"]["first_name"] == "Erased"
    assert data["user"]["email"] == f"{ada.id}@erased.invalid"


def test_a_repeated_request_is_refused_instead_of_answered_with_the_person(
    database: Database,
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, email=EMAIL, status="archived")
    claim = Claim(
        organisation_id=acme.id, api_key_id=new_id(NOW), idempotency_key="once", sha256="0" * 64
    )
    answer = StoredResponse(status=201, headers=(), content=MARKER.encode())
    database.write_now(idempotency.store, claim, answer, now=LATER)

    erased(database, acme, ada)

    with pytest.raises(IdempotencyAnswerErased):
        database.read_now(idempotency.find, claim, now=LATER)


def test_the_audit_trail_keeps_who_did_what_when_without_details(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_marked_life(database, acme)
    before = audit_entries(database, acme.caller)

    erased(database, acme, ada)

    newest, *after = audit_entries(database, acme.caller)
    assert (newest.action, newest.subject_id) == ("user.erased", ada.id)
    assert newest.changes.keys() == {"erased_at"}
    assert [(e.id, e.action, e.actor_id) for e in after[:50]] == [
        (e.id, e.action, e.actor_id) for e in before[:50]
    ]
    assert {str(e.changes) for e in after if e.subject_id == ada.id} == {"{}"}


def test_texts_are_removed_at_any_depth() -> None:
    value = {"a": [{"note": "x", "reason": "y"}], "note": {"before": None, "after": "z"}, "b": 1}

    assert without_texts(value, {"b": 2}) == {
        "a": [{"note": None, "reason": ""}],
        "note": {"before": None, "after": None},
        "b": 2,
    }


def test_a_note_that_is_written_meanwhile_is_erased_everywhere_or_nowhere(
    database: Database,
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, email=EMAIL)
    requests = [
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(days=7 * week))
        for week in range(4)
    ]
    for request in requests:
        acme.write(decisions.approve, request.id)
    acme.write(people_status.archive, ada.id, now=datetime(2026, 10, 1, 9, tzinfo=UTC))

    def write_note(request: LeaveRequest) -> None:
        acme.write(leave_requests.edit, request.id, {"note": MARKER}, now=LATER)

    with ThreadPoolExecutor(5) as pool:
        notes = [pool.submit(write_note, request) for request in requests]
        erasing = pool.submit(erased, database, acme, ada)
        for note in notes:
            note.result()
        erasing.result()

    for request in requests:
        mine = {"organisation_id": acme.id, "id": request.id}
        (row,) = database.read_now(Transaction.select, LeaveRequestRow, **mine)
        entries = audit_entries(database, acme.caller, subject_id=request.id)
        # A note that came after the erasure is there with its entry; one before it left none.
        assert (row.note == MARKER) == any(traces(str(entry.changes)) for entry in entries)
