"""Catalogues are complete, and users read texts in their own language."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from string import Formatter
from typing import Any, Final

import pytest

from bot.base import ids, language
from bot.base.language import gettext, ngettext, using_locale
from bot.blocks import words
from storage.rules.leave_years import LeaveYear
from tests import catalogues
from tests.bot.world import GRACE, HEDY, World

NAMES = sorted(language.available())
# Masculine forms for anyone, the polite and the plural address, and second words for one thing.
NOT_IN_GERMAN: Final = re.compile(
    r"\b(Genehmiger|Inhaber|Kollegen|Mitarbeiter|Antragsteller|Nutzer|Vertreter)\b(?!:in)"
    r"|\b(Ihnen|Ihren?|euch|eu(er|re[mnrs]?))\b"
    r"|\b(Kanal|Korrektur|Startseite|Vorgesetzte[nr]?)\b"
)


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(message) if name is not None}


def forms(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@pytest.mark.parametrize("name", NAMES)
def test_a_catalogue_has_exactly_the_sentences_of_the_code(name: str) -> None:
    in_catalogue = {forms(message.id) for message in catalogues.read(name) if message.id}
    in_code = {forms(message.id) for message in catalogues.messages() if message.id}

    assert in_catalogue == in_code, "run `make catalogues` and translate what is new"


def test_the_sentences_of_the_code_are_found_in_f_strings_too() -> None:
    source = """
label = f"{gettext('Open' ' it')} {count:{gettext('wide')}} {gettext(name)}"
more = f"{link(ngettext('{count} day', '{count} days', count))}"
"""

    found = set(catalogues.messages_in_f_strings(source))

    assert found == {"Open it", "wide", ("{count} day", "{count} days")}


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_is_translated_with_the_same_placeholders(name: str) -> None:
    wrong = []
    catalogue = catalogues.read(name)
    for message in catalogue:
        if not message.id:
            continue
        expected = placeholders(forms(message.id)[-1])
        translated = forms(message.string)
        is_complete = len(translated) == (catalogue.num_plurals if message.pluralizable else 1)
        if not is_complete or any(
            not text or placeholders(text) - {"count"} != expected - {"count"}
            for text in translated
        ):
            wrong.append(message.id)

    assert wrong == []


def test_german_says_du_and_names_people_and_things_alike() -> None:
    texts = [
        text
        for message in catalogues.read("de")
        if message.id
        for text in forms(message.string)
        if NOT_IN_GERMAN.search(text)
    ]

    assert texts == []


def test_spanish_says_tu() -> None:
    polite = re.compile(r"\b(?:[Uu]sted(?:es)?|[Pp]uede usted|[Vv]osotros|vuestr[oa]s?)\b")
    texts = [
        text for message in catalogues.read("es") if message.id for text in forms(message.string)
    ]

    assert [text for text in texts if polite.search(text)] == []


def test_french_says_vous() -> None:
    familiar = re.compile(
        r"\b(?:[Tt]u|[Tt]e|[Tt]oi|[Tt]on|[Tt]a|[Tt]es|[Tt]ien(?:ne)?s?|Prends|Saisis|Crée|Archive"
        r"|Choisis|Ouvre|Écris)\b"
    )
    texts = [
        text for message in catalogues.read("fr") if message.id for text in forms(message.string)
    ]

    assert [text for text in texts if familiar.search(text)] == []


@pytest.mark.parametrize("name", ["fr", "es"])
def test_quotation_marks_are_those_of_the_language(name: str) -> None:
    others = re.compile({"fr": "[“”„]|« |[^\u00a0]»", "es": "[«»„]"}[name])
    texts = [
        text for message in catalogues.read(name) if message.id for text in forms(message.string)
    ]

    assert [text for text in texts if others.search(text)] == []


@pytest.mark.parametrize(
    ("slack_locale", "text"),
    [
        ("de-DE", "Abwesend"),
        ("de", "Abwesend"),
        ("de-AT", "Abwesend"),
        ("en-US", "Away"),
        ("es-ES", "Ausente"),
        ("es-LA", "Ausente"),
        ("fr-FR", "Absence"),
        ("fr-CA", "Absence"),
        ("it-IT", "Away"),
        ("", "Away"),
        (None, "Away"),
        ("../../etc", "Away"),
    ],
)
def test_the_language_is_that_of_the_locale_or_english(slack_locale: str | None, text: str) -> None:
    with using_locale(slack_locale):
        assert gettext("Away") == text
    assert gettext("Away") == "Away"


def test_user_input_is_never_read_as_a_placeholder() -> None:
    assert gettext("Note: {note}", note="{names} {0} {") == "Note: {names} {0} {"
    assert ngettext("{days} day", "{days} days", 1, days="{count}") == "{count} day"
    assert gettext("") == ""


def test_a_click_is_answered_in_the_clicking_users_language(world: World) -> None:
    world.slack.change_person(GRACE, locale="de-DE")
    world.a_request()
    card = world.slack.dm(GRACE)[-1]

    world.click(HEDY, ids.APPROVE)
    world.click(GRACE, ids.APPROVE, card)

    assert world.ephemerals(GRACE) == ["Schon genehmigt von Hedy Lamarr."]
    assert "Genehmigt von Hedy Lamarr" in card.text or world.slack.dm(GRACE)[-1].text


def test_days_of_one_month_name_it_once() -> None:
    first, last = date(2026, 8, 3), date(2026, 8, 7)

    spans = {}
    for slack_locale in ("en-GB", "de-DE"):
        with using_locale(slack_locale):
            spans[slack_locale] = [
                words.span(first, last, "pm", "am"),
                words.span(first, date(2026, 9, 4)),
                words.span(first, date(2027, 1, 8)),
                words.short_span(first, last),
                words.short_span(first, date(2027, 1, 8)),
            ]

    assert spans == {
        "en-GB": [
            "Mon 3 from midday to Fri 7 Aug 2026 until midday",
            "Mon 3 Aug to Fri 4 Sept 2026",
            "Mon 3 Aug 2026 to Fri 8 Jan 2027",
            "Mon 3 to Fri 7 Aug",
            "Mon 3 Aug 2026 to Fri 8 Jan 2027",
        ],
        "de-DE": [
            "Mo 3. ab Mittag bis Fr 7. Aug. 2026 mittags",
            "Mo 3. Aug. bis Fr 4. Sept. 2026",
            "Mo 3. Aug. 2026 bis Fr 8. Jan. 2027",
            "Mo 3. bis Fr 7. Aug.",
            "Mo 3. Aug. 2026 bis Fr 8. Jan. 2027",
        ],
    }


@pytest.mark.parametrize(
    ("locale", "names", "awaits_reader", "shown"),
    [
        ("en-GB", ["Hedy"], True, "Waiting for you and Hedy"),
        ("en-GB", ["Hedy"], False, "Awaiting Hedy"),
        ("en-GB", [], True, "Waiting for you"),
        ("en-GB", [], False, "Awaiting a decision"),
        ("de-DE", ["Hedy", "Olive"], True, "Wartet auf dich, Hedy und Olive"),
    ],
)
def test_approvers_read_that_leave_awaits_them(
    locale: str, names: list[str], *, awaits_reader: bool, shown: str
) -> None:
    with using_locale(locale):
        assert words.awaiting(names, awaits_reader=awaits_reader) == shown


@pytest.mark.parametrize(
    ("locale", "month", "shown"),
    [
        ("en-GB", 1, "2026"),
        ("en-GB", 4, "1 Apr 2026 to 31 Mar 2027"),
        ("de-DE", 4, "1. Apr. 2026 bis 31. März 2027"),
    ],
)
def test_a_leave_year_is_its_calendar_year_or_its_days(locale: str, month: int, shown: str) -> None:
    first = date(2026, month, 1)
    last = first.replace(year=2027) - timedelta(days=1)

    with using_locale(locale):
        assert words.leave_year(LeaveYear(first_day=first, last_day=last)) == shown


def test_pending_requests_of_colleagues_are_told_without_a_heading_above_them() -> None:
    assert words.colleagues_off([], 0, 1) == ["1 request of a colleague for these days is pending."]
    with using_locale("de-DE"):
        assert words.colleagues_off([], 0, 2) == [
            "Für diese Tage sind 2 Anträge aus dem Team offen."
        ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Amir", "Le congé approuvé d'Amir a été annulé."),
        ("Émilie", "Le congé approuvé d'Émilie a été annulé."),
        ("Grace", "Le congé approuvé de Grace a été annulé."),
        ("Hugo", "Le congé approuvé de Hugo a été annulé."),
        ("<@U1>", "Le congé approuvé de <@U1> a été annulé."),
    ],
)
def test_french_elides_before_names_that_begin_with_a_vowel(name: str, shown: str) -> None:
    with using_locale("fr-FR"):
        assert gettext("{requester}'s approved leave was cancelled.", requester=name) == shown


def test_french_counts_the_first_of_a_month_as_an_ordinal() -> None:
    with using_locale("fr-FR"):
        assert words.day(date(2027, 1, 1)) == "ven. 1er janv. 2027"
        assert words.day(date(2027, 1, 11)) == "lun. 11 janv. 2027"
        assert words.weekday_and_number(date(2026, 12, 1)) == "mar. 1er"
        moment = datetime(2027, 1, 1, 1, 11, tzinfo=UTC)
        assert words.moment(moment, "UTC") == "1er janv. 2027, 01:11"


def test_a_sentence_that_ends_with_an_abbreviation_has_one_full_stop() -> None:
    with using_locale("fr-FR"):
        day = words.short_day(date(2027, 1, 4))
        assert gettext("You have no leave booked {when}.", when=day).endswith("4 janv.")
