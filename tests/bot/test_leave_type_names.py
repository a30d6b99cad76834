"""People read, and type, the names of leave types in their own language."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.base import ids, language, type_names
from bot.base.language import using_locale
from storage.base.errors import Sentence
from storage.base.leave_values import LANGUAGES, TypeName
from storage.leave import leave_types
from storage.rules import leave_type_fields
from tests.bot.test_settings_access import choose, click, settings
from tests.bot.test_settings_admin import leave_types_of
from tests.bot.world import ADA, ADMIN, GRACE, World

BROUGHT = {str(fields["name"]) for fields in leave_type_fields.OF_NEW_ORGANISATION}


def a_type(world: World, **fields: Any) -> str:
    """The id of a new leave type."""
    return world.write(leave_types.create, fields).id


def test_the_types_that_hiatus_brings_are_translated_into_every_language() -> None:
    for name in {*LANGUAGES} - {"en"}:
        shown = {leave_type_fields.shown_name(TypeName(each), name) for each in BROUGHT}
        assert len(shown - BROUGHT) == len(BROUGHT), name


def test_names_can_be_given_in_every_language_that_slack_texts_have() -> None:
    assert {"en", *language.available()} <= set(LANGUAGES)


@pytest.mark.parametrize(
    ("name", "locale", "shown"),
    [
        (TypeName("Annual leave"), "de-DE", "Jahresurlaub"),
        (TypeName("Annual leave"), "en-GB", "Annual leave"),
        (TypeName("Annual leave"), "ja-JP", "Annual leave"),
        (TypeName("Annual leave", {"de": "Urlaub"}), "de-DE", "Urlaub"),
        (TypeName("Annual leave", {"de": "Urlaub"}), "en-GB", "Annual leave"),
        (TypeName("Holiday"), "de-DE", "Holiday"),
        (TypeName("Urlaub", {"en": "Holiday"}), "en-GB", "Holiday"),
        # A sentence of Hiatus is no name of a type that it brings.
        (TypeName("Approved"), "de-DE", "Approved"),
    ],
)
def test_a_second_name_comes_before_the_translation_and_the_name(
    name: TypeName, locale: str, shown: str
) -> None:
    with using_locale(locale):
        assert type_names.shown(name) == shown


def test_each_reader_has_the_name_in_their_language(world: World) -> None:
    study = a_type(world, name="Study leave", names={"de": "Bildungsurlaub"}, emoji="books")
    world.slack.change_person(GRACE, locale="de-DE")

    world.a_request(leave_type_id=study)

    assert "Bildungsurlaub" in world.card(GRACE).text
    world.command(ADA, "mine")
    assert "Study leave" in world.ephemerals(ADA)[-1]
    assert "Bildungsurlaub" in world.home(GRACE).visible_text


def test_the_form_offers_types_by_the_readers_names_in_their_order(world: World) -> None:
    a_type(world, name="Zeitausgleich", names={"en": "Comp day"})
    world.slack.change_person(ADA, locale="de-DE")

    world.command(ADA, "request")

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    (menu,) = [block for block in form.blocks if "leave_type" in block.get("block_id", "")]
    labels = [option["text"]["text"] for option in menu["element"]["options"]]
    assert [re.sub(r":\w+: ", "", label) for label in labels] == [
        *("Elternzeit", "Jahresurlaub", "Krankmeldung", "Sonderurlaub"),
        *("Unbezahlter Urlaub", "Zeitausgleich"),
    ]


@pytest.mark.parametrize("typed", ["elternzeit 6.7.", "eltern 6.7.", "parental leave 6.7."])
def test_people_type_a_type_in_their_language_or_as_it_is_called(world: World, typed: str) -> None:
    world.slack.change_person(ADA, locale="de-DE")

    world.command(ADA, typed)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert "Elternzeit" in form.visible_text
    assert "2026-07-06" in str(form.blocks)


def test_a_refusal_names_the_type_in_the_readers_language(world: World) -> None:
    rare = a_type(world, name="Study leave", names={"de": "Bildungsurlaub"}, requires_note=True)
    world.slack.change_person(ADA, locale="de-DE")

    refused = world.send_form(ADA, leave_type_id=rare)

    assert "Bildungsurlaub braucht eine Notiz." in str(refused.errors)
    assert str(Sentence("{type} needs a note.", type=TypeName("Study", {"de": "Bildung"}))) == (
        "Study needs a note."
    )


def test_an_admin_gives_a_type_names_in_other_languages(world: World) -> None:
    world.add_admin()
    listed = settings(world, ADMIN, "settings.leave_types")
    form = click(world, ADMIN, listed, "settings.leave_types.new")

    typed = "de: Bildungsurlaub\n ES : Permiso de estudios \n\n"
    assert world.submit(ADMIN, form, {"name": "Study leave", "names": typed}).errors == {}

    study = leave_types_of(world)[-1]
    assert study.names == {"de": "Bildungsurlaub", "es": "Permiso de estudios"}

    listed = settings(world, ADMIN, "settings.leave_types")
    form = choose(world, ADMIN, listed, "settings.leave_types.menu", f"edit {study.id}")
    assert world.submit(ADMIN, form, {"names": ""}).errors == {}
    assert leave_types_of(world)[-1].names == {}


@pytest.mark.parametrize(
    "names",
    ["xx: Name", "Bildungsurlaub", "de: Urlaub\nde: Ferien", "de:", "de: " + "x" * 201],
)
def test_wrong_names_are_reported_at_their_field(world: World, names: str) -> None:
    world.add_admin()
    listed = settings(world, ADMIN, "settings.leave_types")
    form = click(world, ADMIN, listed, "settings.leave_types.new")

    response = world.slack.submit(ADMIN, form, {"name": "Study leave", "names": names})

    assert list(response.errors) == ["names"]


def test_the_calendar_has_letters_of_the_readers_names(world: World) -> None:
    world.slack.change_person(ADA, locale="de-DE")
    world.a_request()
    world.click(GRACE, ids.APPROVE)
    world.clock.advance(days=(world.request().start_date - world.clock().date()).days)

    home = world.home(ADA)

    assert "Jahresurlaub" in home.visible_text
    assert "J Jahresurlaub" in home.visible_text
    assert "Annual leave" not in home.visible_text


def test_the_list_of_an_admin_has_their_name_and_the_one_that_integrations_see(
    world: World,
) -> None:
    world.add_admin()
    world.slack.change_person(ADMIN, locale="de-DE")

    listed = settings(world, ADMIN, "settings.leave_types")

    assert "*Jahresurlaub*" in listed.visible_text
    assert "Annual leave · `annual`" in listed.visible_text
