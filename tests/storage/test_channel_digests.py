"""Digests of channels: who may change them, how many there are, and what goes with departments."""

from __future__ import annotations

import pytest
from peewee import Delete

from storage.admin import channel_digests, departments, organisation_settings
from storage.base.errors import AlreadyExists
from storage.base.values import ChannelDigest
from storage.db.compiled import Param, compiled
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.db.tables import DepartmentRow
from tests.builders import (
    Acme,
    a_department,
    audit_entries,
)

CHANNEL = "C024BE91L"


@compiled
def delete_department(organisation_id: Param[str], department_id: Param[str]) -> Delete:
    return DepartmentRow.delete().where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )


def a_digest(database: Database, acme: Acme, **settings: object) -> ChannelDigest:
    return acme.write(channel_digests.create, {"channel": CHANNEL, **settings})


def all_digests(database: Database, acme: Acme) -> list[ChannelDigest]:
    return acme.read(channel_digests.page, PageOf(limit=100)).items


def test_a_digest_is_daily_for_everyone_in_english_unless_it_says_otherwise(
    database: Database, acme: Acme
) -> None:
    labs = a_department(database, acme)

    plain = a_digest(database, acme)
    other = a_digest(database, acme, department_id=labs.id, frequency="weekly", locale="de")

    assert (plain.department_id, plain.frequency, plain.locale) == (None, "daily", "en")
    assert all_digests(database, acme) == [plain, other]


def test_a_channel_gets_the_same_digest_once(database: Database, acme: Acme) -> None:
    labs = a_department(database, acme)
    a_digest(database, acme)
    weekly = a_digest(database, acme, frequency="weekly")
    a_digest(database, acme, department_id=labs.id)

    with pytest.raises(AlreadyExists):
        a_digest(database, acme, locale="de")
    with pytest.raises(AlreadyExists):
        acme.write(channel_digests.update, weekly.id, {"frequency": "daily"})
    with pytest.raises(AlreadyExists):
        acme.write(organisation_settings.update, {"digest_channel": CHANNEL})


def test_the_organisations_own_channel_gets_no_second_digest_of_everyone(
    database: Database, acme: Acme
) -> None:
    acme.write(organisation_settings.update, {"digest_channel": CHANNEL})

    with pytest.raises(AlreadyExists):
        a_digest(database, acme)
    assert a_digest(database, acme, frequency="weekly").channel == CHANNEL


def test_an_organisation_has_a_limited_number_of_digests(database: Database, acme: Acme) -> None:
    for number in range(channel_digests.MAX_DIGESTS):
        a_digest(database, acme, channel=f"C{number:08}")

    with pytest.raises(channel_digests.TooManyDigests):
        a_digest(database, acme)


def test_a_deleted_department_takes_its_digests_with_it(database: Database, acme: Acme) -> None:
    labs = a_department(database, acme, name="Labs")
    of_labs = a_digest(database, acme, department_id=labs.id)
    of_everyone = a_digest(database, acme)

    acme.write(departments.delete, labs.id)

    assert all_digests(database, acme) == [of_everyone]
    (entry,) = audit_entries(database, acme.caller, action="digest.deleted")
    assert entry.subject_id == of_labs.id


def test_an_older_version_can_delete_a_department_that_has_a_digest(
    database: Database, acme: Acme
) -> None:
    labs = a_department(database, acme, name="Labs")
    a_digest(database, acme, department_id=labs.id)

    database.write_now(
        lambda tx: tx.change(delete_department, organisation_id=acme.id, department_id=labs.id)
    )

    assert all_digests(database, acme) == []
