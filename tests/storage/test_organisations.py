from __future__ import annotations

import zoneinfo
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from storage.admin import organisation_settings, organisations
from storage.admin.organisations import NewOrganisation
from storage.base.errors import AlreadyExists, InvalidInput, NotFound
from storage.base.values import Organisation, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.people import holiday_sets
from storage.workspaces.join_policy import country_of_timezone, employer_domain
from tests.builders import NOW, Acme, a_person, an_organisation, audit_entries

LATER = NOW + timedelta(hours=1)
NEW = NewOrganisation(
    name="Åcme & Söhne",
    country_code="gb",
    timezone="Europe/London",
    owner_email="ada@example.com",
    owner_first_name="Ada",
    owner_last_name="Lovelace",
)


def created(database: Database, **changes: Any) -> tuple[Organisation, User]:
    return database.write_now(organisations.create, replace(NEW, **changes), source="cli", now=NOW)


def updated(database: Database, acme: Acme, **changes: Any) -> Organisation:
    return database.write_now(organisation_settings.update, changes, by=acme.caller, now=LATER)


def test_a_new_organisation_has_everything_it_needs(database: Database) -> None:
    organisation, owner = created(database)

    config = database.read_now(organisation_config.of_organisation, organisation.id)
    assert config.organisation == organisation
    assert organisation.slug == "acme-sohne"
    assert organisation.working_days == ("monday", "tuesday", "wednesday", "thursday", "friday")
    assert organisation.default_leave_allowance_half_days == 50
    assert organisation.slack_members_join is True
    assert (owner.role, owner.status) == ("owner", "pending")
    assert [holiday_set.country_code for holiday_set in config.holiday_sets.values()] == ["GB"]


def test_a_new_organisation_has_the_five_types_in_order(database: Database, acme: Acme) -> None:
    types = database.read_now(leave_types.page, PageOf(), by=acme.caller).items

    assert [(t.code, t.requires_approval, t.deducts_allowance, t.is_private) for t in types] == [
        ("annual", True, True, False),
        ("sick", False, False, True),
        ("unpaid", True, False, False),
        ("parental", True, False, False),
        ("compassionate", True, False, True),
    ]


def test_creating_an_organisation_is_audited(database: Database, acme: Acme) -> None:
    entries = audit_entries(database, acme.caller)

    by_the_system = [entry.action for entry in entries if entry.actor_id is None]
    assert sorted(set(by_the_system)) == [
        "holiday_set.created",
        "leave_type.created",
        "organisation.created",
        "user.created",
    ]
    assert {entry.source for entry in entries if entry.actor_id is None} == {"cli"}


def test_slugs_of_one_name_are_numbered(database: Database) -> None:
    slugs = [created(database, name="Acme")[0].slug for _ in range(3)]

    assert slugs == ["acme", "acme-2", "acme-3"]


def test_a_name_without_letters_still_gives_a_slug(database: Database) -> None:
    organisation, _ = created(database, name="株式会社")

    assert organisation.slug == "organisation"


def test_a_slug_can_be_chosen_once(database: Database) -> None:
    organisation, _ = created(database, slug="acme-uk")

    assert organisation.slug == "acme-uk"
    with pytest.raises(AlreadyExists):
        created(database, slug="acme-uk")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"country_code": "XX"}, "unknown_country"),
        ({"timezone": "Europe/Atlantis"}, "unknown_timezone"),
        ({"timezone": "../etc/passwd"}, "unknown_timezone"),
        ({"timezone": ""}, "unknown_timezone"),
        ({"name": " "}, "invalid_length"),
        ({"slug": "Not A Slug"}, "invalid_slug"),
        ({"slug": ""}, "invalid_slug"),
        ({"owner_email": "ada"}, "invalid_email"),
    ],
)
def test_an_invalid_organisation_is_not_created(
    database: Database, changes: dict[str, Any], code: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        created(database, **changes)

    assert refusal.value.code == code
    assert database.read_now(organisations.count) == 0


def test_settings_change_and_are_audited(database: Database, acme: Acme) -> None:
    after = updated(
        database,
        acme,
        name=" Acme Ltd ",
        working_days=["friday:am", "monday"],
        default_leave_allowance_half_days=61,
        carry_over_half_days=10,
    )

    assert (after.name, after.working_days) == ("Acme Ltd", ("monday", "friday:am"))
    assert (after.default_leave_allowance_half_days, after.updated_at) == (61, LATER)
    assert database.read_now(organisations.get, by=acme.caller, now=LATER) == after
    newest = audit_entries(database, acme.caller)[0]
    assert newest.action == "organisation.updated"
    assert newest.changes["name"] == {"before": "Acme", "after": "Acme Ltd"}
    assert newest.changes["carry_over"] == {"before": 0, "after": 5}


@pytest.mark.shared_database
@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"timezone": "Europe/Atlantis"}, "/timezone", "unknown_timezone"),
        ({"country_code": "GB-XXX"}, "/country_code", "unknown_country"),
        ({"working_days": ["funday"]}, "/working_days/0", "unknown_working_day"),
        ({"leave_year_type": "lunar"}, "/leave_year_type", "unknown_leave_year_type"),
        (
            {"leave_year_start_month": 2, "leave_year_start_day": 31},
            "/leave_year_start_day",
            "impossible_date",
        ),
        ({"default_leave_allowance_half_days": 733}, "/default_leave_allowance", "invalid_days"),
        ({"day_starts_at": "9:00"}, "/day_starts_at", "invalid_time"),
        ({"midday_at": "18:00"}, "/midday_at", "working_hours_out_of_order"),
        ({"name": None}, "/name", "invalid_length"),
        ({"slug": "other"}, "/slug", "unknown_field"),
    ],
)
def test_wrong_settings_are_refused(
    database: Database, acme: Acme, changes: dict[str, Any], pointer: str, code: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        updated(database, acme, **changes)

    assert [(error.pointer, error.code) for error in refusal.value.errors] == [(pointer, code)]
    assert database.read_now(organisations.get, by=acme.caller, now=LATER) == acme.organisation


def test_a_month_that_makes_the_stored_day_impossible_is_rejected(database: Database) -> None:
    acme = an_organisation(database, leave_year_start_month=1, leave_year_start_day=31)

    with pytest.raises(InvalidInput) as refusal:
        updated(database, acme, leave_year_start_month=2)

    assert refusal.value.code == "impossible_date"


def test_a_new_country_gets_a_holiday_set_once(database: Database, acme: Acme) -> None:
    updated(database, acme, country_code="de-by")
    updated(database, acme, country_code="GB")
    updated(database, acme, country_code="DE-BY")

    sets = database.read_now(holiday_sets.page, PageOf(), by=acme.caller).items
    assert [holiday_set.country_code for holiday_set in sets] == ["GB", "DE-BY"]


def test_the_only_organisation_is_found_unless_there_are_several(database: Database) -> None:
    none = database.read_now(organisations.only_one)
    acme = an_organisation(database)
    only_one = database.read_now(organisations.only_one)
    an_organisation(database, name="Globex")
    several = database.read_now(organisations.only_one)

    assert (none, only_one, several) == (None, acme.organisation, None)
    assert database.read_now(organisations.count) == 2


def test_organisations_are_found_by_slug(database: Database, acme: Acme) -> None:
    assert database.read_now(organisations.by_slug, "acme") == acme.organisation
    with pytest.raises(NotFound):
        database.read_now(organisations.by_slug, "globex")


def test_the_operators_list_counts_people_who_are_not_archived(database: Database) -> None:
    acme = an_organisation(database)
    globex = an_organisation(database, name="Globex", now=LATER)
    a_person(database, acme, status="deactivated")
    a_person(database, acme, status="archived")

    listed = database.read_now(organisations.listed)

    assert [(each.id, each.slug, each.name, each.people) for each in listed] == [
        (acme.organisation.id, acme.organisation.slug, "Acme", 2),
        (globex.organisation.id, globex.organisation.slug, "Globex", 1),
    ]
    assert [each.created_at for each in listed] == [NOW, LATER]


@pytest.mark.parametrize(
    ("email", "domain"),
    [
        ("Ada@Example.COM", "example.com"),
        ("ada@mail.example.com", "mail.example.com"),
        ("ada@GMAIL.com", None),
        ("ada@web.de", None),
        ("example.com", "example.com"),
        ("ada@", None),
        ("", None),
    ],
)
def test_a_company_address_gives_the_employers_domain(email: str, domain: str | None) -> None:
    assert employer_domain(email) == domain


@pytest.mark.parametrize(
    ("timezone", "country"),
    [
        ("Europe/London", "GB"),
        ("Europe/Berlin", "DE"),
        ("America/New_York", "US"),
        ("Asia/Kolkata", "IN"),
        ("UTC", None),
        ("Etc/GMT+3", None),
        ("", None),
    ],
)
def test_a_time_zone_gives_its_country(timezone: str, country: str | None) -> None:
    assert country_of_timezone(timezone) == country


def test_every_time_zone_gives_a_known_country_or_none() -> None:
    countries = {country_of_timezone(zone) for zone in zoneinfo.available_timezones()}

    assert len(countries) > 150
