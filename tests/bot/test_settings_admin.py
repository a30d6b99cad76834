"""People, departments, leave types and the organisation in Slack's settings, over signed HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.base import ids
from bot.blocks.fields import WEEK_FIELDS
from storage.admin import organisations, people
from storage.base.leave_values import LeaveType
from storage.base.values import Department, Organisation, User
from storage.db.pages import PageOf
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.people import department_rows, employment_by_date, people_rows
from storage.workspaces import setup_checklist
from tests.bot.test_settings_access import as_sent, choose, click, settings
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_department, a_key, a_person
from tests.fakes.slack import View


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    return world.add_admin()


def person(world: World, who: str) -> User:
    return world.database.read_now(people_rows.get, world.people[who].id, by=world.acme.caller)


def organisation(world: World) -> Organisation:
    return world.database.read_now(organisations.get, by=world.acme.caller, now=world.clock())


def departments_of(world: World) -> list[Department]:
    return world.database.read_now(
        department_rows.page, PageOf(limit=100), by=world.acme.caller
    ).items


def leave_types_of(world: World) -> list[LeaveType]:
    return world.database.read_now(leave_types.page, PageOf(limit=100), by=world.acme.caller).items


def search_result(world: World, view: View, action_id: str, typed: str, value: str) -> Any:
    """Search with the typed text; returns the option with that value."""
    offered = world.slack.suggest(ADMIN, view, action_id, typed).body["options"]
    return next(option for option in offered if option["value"] == value)


def week_of(days: Sequence[str]) -> dict[str, str]:
    """What is chosen in the menus of a working week."""
    chosen = {f"working_days/{day.partition(':')[0]}": day for day in days}
    return dict.fromkeys(WEEK_FIELDS, ids.NOTHING) | chosen


def form_of(world: World, who: str = ADA) -> Any:
    """Search a person; returns their form."""
    search = settings(world, ADMIN, "settings.people")
    user = world.people[who]
    picked = search_result(world, search, "settings.people.pick", user.first_name, user.id)
    world.pick(ADMIN, search, None, "settings.people.pick", picked)
    return world.slack.open_modal(ADMIN, "settings.people.form")


def test_everything_of_a_person_is_saved(world: World) -> None:
    sales = a_department(world.database, world.acme, name="Sales")
    form = form_of(world)
    grace = world.people[GRACE].id

    response = world.slack.submit(
        ADMIN,
        form,
        {
            "role": "approver",
            "department_id": sales.id,
            "manager_id": search_result(world, form, "settings.search.person", "grace", grace),
            **week_of(["monday", "friday:am"]),
            "leave_allowance": "12.5",
            "start_date": "2026-02-01",
            "public_holiday_country_code": search_result(
                world, form, "settings.search.country", "scotland", "GB-SCT"
            ),
        },
    )

    assert response.errors == {}
    ada = person(world, ADA)
    assert (ada.role, ada.department_id, ada.manager_id) == (
        "approver",
        sales.id,
        world.people[GRACE].id,
    )
    assert ada.working_days == ("monday", "friday:am")
    assert (ada.leave_allowance_half_days, str(ada.start_date)) == (25, "2026-02-01")
    assert ada.public_holiday_country_code == "GB-SCT"


def test_the_form_shows_the_saved_person_and_saving_again_changes_nothing(world: World) -> None:
    before = person(world, ADA)

    assert world.slack.submit(ADMIN, form_of(world)).errors == {}

    assert person(world, ADA) == before


def test_working_days_that_match_the_organisations_are_no_longer_a_persons_own(
    world: World,
) -> None:
    by, now, ada = world.acme.caller, world.clock(), world.people[ADA].id
    world.database.write_now(people.update, ada, {"working_days": ["friday"]}, by=by, now=now)
    as_everyone = ["monday", "tuesday", "wednesday", "thursday", "friday"]

    assert world.submit(ADMIN, form_of(world), week_of(as_everyone)).errors == {}
    follows = person(world, ADA).working_days
    world.slack.close(ADMIN, world.slack.open_modal(ADMIN), is_cleared=True)
    assert world.slack.submit(ADMIN, form_of(world), week_of(as_everyone[:4])).errors == {}

    assert follows is None
    assert person(world, ADA).working_days == tuple(as_everyone[:4])


@pytest.mark.parametrize(
    ("filled", "field"),
    [
        ({"leave_allowance": "12.345"}, "leave_allowance"),
        (week_of([]), "working_days/monday"),
        ({"role": "owner"}, "role"),
    ],
)
def test_an_invalid_person_is_reported_at_its_field(
    world: World, filled: dict[str, Any], field: str
) -> None:
    response = world.slack.submit(ADMIN, form_of(world), filled)

    assert list(response.errors) == [field]


@pytest.mark.parametrize("filled", [{"leave_allowance": "20"}, None], ids=["form", "confirmation"])
def test_an_admin_demoted_while_a_modal_is_open_changes_nothing(
    world: World, filled: dict[str, str] | None
) -> None:
    form, before = form_of(world), person(world, ADA)
    view = form if filled else click(world, ADMIN, form, "settings.people.deactivate")
    world.write(people.update, world.people[ADMIN].id, {"role": "member"})

    response = world.submit(ADMIN, view, filled)

    shown = f"{response.errors} {world.slack.open_modal(ADMIN).visible_text}"
    assert "the role Admin or higher" in shown
    assert person(world, ADA) == before


def test_the_form_of_a_person_leads_to_their_balance(world: World) -> None:
    balance = click(world, ADMIN, form_of(world), "settings.people.balance")

    assert balance.callback_id == "settings.people.adjustment.form"
    assert "Ada Lovelace" in balance.visible_text


def test_deactivating_shows_its_effects_and_can_be_reversed(world: World) -> None:
    a_key(world.database, world.acme, world.people[ADA])
    form = form_of(world)

    confirmation = click(world, ADMIN, form, "settings.people.deactivate")
    assert "Ada Lovelace can't use Hiatus" in confirmation.visible_text
    assert "1 API key stops working." in confirmation.visible_text
    assert person(world, ADA).status == "active"
    world.submit(ADMIN, confirmation)
    assert person(world, ADA).status == "deactivated"

    modal = world.slack.open_modal(ADMIN, "Deactivated")
    click(world, ADMIN, modal, "settings.people.reactivate")
    assert person(world, ADA).status == "active"


def test_a_person_is_unlinked_from_the_wrong_slack_account(world: World) -> None:
    world.open_form(ADA)
    form = form_of(world)
    (button,) = [button for button in form.buttons if button.action_id == "settings.people.unlink"]
    assert "confirm" in button.element
    assert f"Slack account: <@{ADA}>" in form.visible_text

    modal = click(world, ADMIN, form, "settings.people.unlink")

    assert person(world, ADA).slack_user_id is None
    assert "settings.people.unlink" not in {button.action_id for button in modal.buttons}
    assert "Slack account" not in modal.visible_text


@pytest.mark.both_engines
def test_people_are_searched_with_a_bounded_number_of_options(world: World) -> None:
    for number in range(120):
        a_person(world.database, world.acme, first_name="Zoë", last_name=f"Number {number:03}")
    search = settings(world, ADMIN, "settings.people")

    many = world.slack.suggest(ADMIN, search, "settings.people.pick", "ZO").body["options"]
    single = world.slack.suggest(ADMIN, search, "settings.people.pick", "number 117").body[
        "options"
    ]
    accented = world.slack.suggest(ADMIN, search, "settings.people.pick", "Zoë Number 003").body[
        "options"
    ]
    none = world.slack.suggest(ADMIN, search, "settings.people.pick", "%_*").body["options"]

    assert len(many) == 99
    assert (len(single), len(accented), none) == (1, 1, [])


def test_members_find_no_people_in_settings(world: World) -> None:
    search = settings(world, ADMIN, "settings.people")
    assert world.slack.suggest(ADMIN, search, "settings.people.pick", "ada").body["options"]
    world.write(people.update, world.people[ADMIN].id, {"role": "member"})

    assert world.slack.suggest(ADMIN, search, "settings.people.pick", "ada").body["options"] == []


# Departments


def test_departments_are_added_once_changed_and_deleted(world: World) -> None:
    listed = settings(world, ADMIN, "settings.departments")
    form = click(world, ADMIN, listed, "settings.departments.new")
    values = {"name": "Sales & *more*", "default_leave_allowance": "27"}
    first = world.slack.submit(ADMIN, form, values)
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()
    (sales,) = [
        department for department in departments_of(world) if department.name.startswith("Sales")
    ]
    assert sales.default_leave_allowance_half_days == 54

    listed = world.slack.open_modal(ADMIN, "Sales &amp; *more*")
    form = choose(world, ADMIN, listed, "settings.departments.menu", f"edit {sales.id}")
    world.submit(ADMIN, form, {"name": "Selling"})
    listed = world.slack.open_modal(ADMIN, "Selling")

    question = choose(world, ADMIN, listed, "settings.departments.menu", f"delete {sales.id}")
    assert "Selling will be deleted." in question.visible_text
    assert len(departments_of(world)) == 2
    assert world.submit(ADMIN, question).ok
    assert "Selling" not in world.slack.open_modal(ADMIN).visible_text
    assert [department.name for department in departments_of(world)] == ["Engineering"]


def test_a_department_with_people_stays(world: World) -> None:
    listed = settings(world, ADMIN, "settings.departments")
    (engineering,) = departments_of(world)
    value = f"delete {engineering.id}"
    question = choose(world, ADMIN, listed, "settings.departments.menu", value)

    world.slack.submit(ADMIN, question)

    refusal = world.slack.open_modal(ADMIN)
    assert "still belong to Engineering" in refusal.visible_text
    assert len(departments_of(world)) == 1


# Leave types


def test_leave_types_are_added_archived_and_restored(world: World) -> None:
    form = click(
        world, ADMIN, settings(world, ADMIN, "settings.leave_types"), "settings.leave_types.new"
    )
    world.submit(
        ADMIN,
        form,
        {
            "name": "Study",
            "emoji": ":books:",
            "flags": ["requires_approval"],
            "shown_to_others": ["is_private"],
            "min_notice_days": "3",
            "max_consecutive_days": "10",
        },
    )
    study = leave_types_of(world)[-1]
    assert (study.name, study.code, study.emoji) == ("Study", "study", "books")
    assert (study.requires_approval, study.is_private) == (True, True)
    assert (study.deducts_allowance, study.tells_approvers) == (False, False)
    assert not study.is_away
    assert (study.min_notice_days, study.max_consecutive_days) == (3, 10)

    world.submit_over_rest(ADA, leave_type_id=study.id)
    listed = world.slack.open_modal(ADMIN, "`study`")
    question = choose(world, ADMIN, listed, "settings.leave_types.menu", f"archive {study.id}")
    assert "People can no longer request Study." in question.visible_text
    assert not leave_types_of(world)[-1].is_archived
    assert world.submit(ADMIN, question).ok
    assert leave_types_of(world)[-1].is_archived

    listed = world.slack.open_modal(ADMIN, "Archived")
    listed = choose(world, ADMIN, listed, "settings.leave_types.menu", f"restore {study.id}")
    assert "Archived" not in listed.visible_text
    assert not leave_types_of(world)[-1].is_archived


@pytest.mark.parametrize(
    ("filled", "field"),
    [
        ({"code": "annual"}, "code"),
        ({"emoji": "no way"}, "emoji"),
        ({"emoji": "bookz"}, "emoji"),
        ({"name": "annual LEAVE"}, "name"),
    ],
)
def test_an_invalid_leave_type_is_reported_at_its_field(
    world: World, filled: dict[str, str], field: str
) -> None:
    form = click(
        world, ADMIN, settings(world, ADMIN, "settings.leave_types"), "settings.leave_types.new"
    )

    response = world.slack.submit(ADMIN, form, {"name": "Study"} | filled)

    assert list(response.errors) == [field]
    assert len(leave_types_of(world)) == 5


# The organisation


def test_private_channels_are_offered_for_the_digest_and_shared_ones_are_not(
    world: World,
) -> None:
    form = settings(world, ADMIN, "settings.in_slack")

    (field,) = [block for block in form.blocks if block["block_id"] == "digest_channel"]
    assert field["element"]["type"] == "conversations_select"
    assert field["element"]["filter"] == {
        "include": ["public", "private"],
        "exclude_external_shared_channels": True,
    }


def test_the_forms_change_the_organisation(world: World) -> None:
    world.slack.add_channel("C0DIGEST01", "who-is-out")
    form = settings(world, ADMIN, "settings.organisation")

    response = world.slack.submit(
        ADMIN,
        form,
        {
            "name": "Acme GmbH",
            "country_code": search_result(world, form, "settings.search.country", "DE-BY", "DE-BY"),
            "timezone": search_result(
                world, form, "settings.search.timezone", "berlin", "Europe/Berlin"
            ),
        },
    )

    assert response.errors == {}
    year = {
        "leave_year_type": "fiscal",
        "leave_year_start_month": "4",
        "default_leave_allowance": "30",
        "carry_over": "5",
        "carry_over_expiry_month": "6",
    }
    slack = {"slack": ["digest"], "digest_channel": "C0DIGEST01"}
    for name, filled in (("settings.leave_year", year), ("settings.in_slack", slack)):
        assert world.submit(ADMIN, settings(world, ADMIN, name), filled).errors == {}
    after = organisation(world)
    assert (after.name, after.country_code, after.timezone) == (
        "Acme GmbH",
        "DE-BY",
        "Europe/Berlin",
    )
    assert (after.leave_year_type, after.leave_year_start_month) == ("fiscal", 4)
    assert (after.default_leave_allowance_half_days, after.carry_over_half_days) == (60, 10)
    assert (after.carry_over_expiry_month, after.digest_channel) == (6, "C0DIGEST01")
    assert (after.slack_members_join, after.expiry_notices) == (False, False)
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    assert "DE-BY" in {holiday_set.country_code for holiday_set in config.holiday_sets.values()}
    assert employment_by_date.holiday_count(config, "DE-BY", 2026) > 0


def test_the_country_step_of_the_setup_fills_the_pro_rata_rule(world: World) -> None:
    form = settings(world, ADMIN, "settings.organisation")
    country = search_result(world, form, "settings.search.country", "DE-BY", "DE-BY")

    assert world.slack.submit(ADMIN, form, {"country_code": country}).errors == {}

    after = organisation(world)
    assert (after.pro_rata, after.full_claim_after_months) == ("full_months", 6)
    form = settings(world, ADMIN, "settings.organisation")
    country = search_result(world, form, "settings.search.country", "GB-SCT", "GB-SCT")
    assert world.slack.submit(ADMIN, form, {"country_code": country}).errors == {}
    assert organisation(world).pro_rata == "full_months"


def test_saving_an_unchanged_form_changes_nothing(world: World) -> None:
    world.database.write_now(
        setup_checklist.check_off, "country", by=world.acme.caller, now=world.clock()
    )
    before = organisation(world)

    for name in ("settings.organisation", "settings.leave_year", "settings.in_slack"):
        assert world.submit(ADMIN, settings(world, ADMIN, name)).errors == {}

    assert organisation(world) == before


def test_a_country_with_regions_is_labelled_as_national(world: World) -> None:
    form = settings(world, ADMIN, "settings.organisation")

    offered = world.slack.suggest(ADMIN, form, "settings.search.country", "united kingdom").body[
        "options"
    ]

    labels = {option["value"]: option["text"]["text"] for option in offered}
    assert labels["GB"] == "United Kingdom (GB), national holidays only"
    assert labels["GB-SCT"] == "United Kingdom: Scotland (GB-SCT)"


def test_the_chosen_country_is_shown_by_name(world: World) -> None:
    world.slack.change_person(ADMIN, locale="de-DE")

    form = settings(world, ADMIN, "settings.organisation")

    (country,) = (block for block in form.body["blocks"] if block.get("block_id") == "country_code")
    option = country["element"]["initial_option"]
    assert option == {
        "text": {"type": "plain_text", "text": "Vereinigtes Königreich (GB)", "emoji": True},
        "value": "GB",
    }


def test_countries_are_offered_in_the_readers_language(world: World) -> None:
    world.slack.change_person(ADMIN, locale="de-DE")
    form = settings(world, ADMIN, "settings.organisation")

    offered = world.slack.suggest(ADMIN, form, "settings.search.country", "frankreich").body[
        "options"
    ]

    assert offered[0]["text"]["text"].startswith("Frankreich (FR)")


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_countries_and_regions_are_found_by_english_and_own_names(
    world: World, locale: str
) -> None:
    world.slack.change_person(ADMIN, locale=locale)
    form = settings(world, ADMIN, "settings.organisation")
    codes = {
        "Bavaria": "DE-BY",
        "bayern": "DE-BY",
        "Germany: Bavaria": "DE-BY",
        "Germany (DE)": "DE",
        "lower saxony": "DE-NI",
        "thuringen": "DE-TH",
        "Vienna": "AT-9",
        "wien": "AT-9",
        "Zurich": "CH-ZH",
        "geneva": "CH-GE",
        "Genève": "CH-GE",
        "Catalunya": "ES-CT",
        "cote d'ivoire": "CI",
    }

    for typed, code in codes.items():
        offered = world.slack.suggest(ADMIN, form, "settings.search.country", typed).body["options"]

        assert code in [option["value"] for option in offered], typed
        assert len(offered) < 20, typed


@pytest.mark.parametrize(
    ("name", "filled", "field"),
    [
        ("organisation", {"name": " "}, "name"),
        ("in_slack", {"slack": ["digest"]}, "digest_channel"),
        (
            "leave_year",
            {"leave_year_start_day": "31", "leave_year_start_month": "2"},
            "leave_year_start_day",
        ),
        ("leave_year", {"default_leave_allowance": "0.333"}, "default_leave_allowance"),
    ],
)
def test_an_invalid_setting_of_the_organisation_is_reported_at_its_field(
    world: World, name: str, filled: dict[str, Any], field: str
) -> None:
    before = organisation(world)

    response = world.slack.submit(ADMIN, settings(world, ADMIN, f"settings.{name}"), filled)

    assert list(response.errors) == [field]
    assert organisation(world) == before
