"""Typed phrases: politeness, synonyms, public holidays by name, lists of days, and questions."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.typed.phrases.commands import Command, command_of
from bot.typed.typed_leave import ParsedLeave
from tests.bot.test_typed_leave import dates_of, parsed

# A Monday.
TODAY = date(2026, 11, 23)
HOLIDAYS = {
    "christmas day": date(2026, 12, 25),
    "good friday": date(2027, 3, 26),
    "easter monday": date(2027, 3, 29),
    "thanksgiving day": date(2026, 11, 26),
    "ascension day": date(2027, 5, 6),
}


def typed(text: str, language: str = "en", today: date = TODAY) -> ParsedLeave:
    return parsed(text, today=today, language=language, main_type_id="annual", holidays=HOLIDAYS)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Could I take Friday off, please?", "2026-11-27", "2026-11-27"),
        ("hi, I'd like to book 14-18 dec off. Thank you!", "2026-12-14", "2026-12-18"),
        ("I’m off today and tomorrow", "2026-11-23", "2026-11-24"),
        ("mon, tue and wed", "2026-11-23", "2026-11-25"),
        ("3, 4 and 5 august", "2027-08-03", "2027-08-05"),
        ("friday and monday", "2026-11-27", "2026-11-30"),
        ("the rest of the week", "2026-11-23", "2026-11-27"),
        ("next week as vacation", "2026-11-30", "2026-12-04"),
        ("thursday and friday next week", "2026-12-03", "2026-12-04"),
        ("next week monday", "2026-11-30", "2026-11-30"),
        ("from monday to wednesday next week", "2026-11-30", "2026-12-02"),
        ("i won't be in tomorrow", "2026-11-24", "2026-11-24"),
        ("the week after next", "2026-12-07", "2026-12-11"),
        ("christmas", "2026-12-25", "2026-12-25"),
        ("xmas eve", "2026-12-24", "2026-12-24"),
        ("24 dec to new year", "2026-12-24", "2027-01-01"),
        ("between christmas and new year's eve", "2026-12-25", "2026-12-31"),
        ("thanksgiving and fri", "2026-11-26", "2026-11-27"),
        ("week of easter monday", "2027-03-29", "2027-04-02"),
    ],
)
def test_polite_english_is_understood(text: str, first: str, last: str) -> None:
    leave = typed(text)

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Kann ich bitte morgen frei haben?", "2026-11-24", "2026-11-24"),
        ("heute und morgen frei, danke", "2026-11-23", "2026-11-24"),
        ("Ich möchte gerne vom 3. bis 7. August Urlaub nehmen", "2027-08-03", "2027-08-07"),
        ("zwischen Weihnachten und Silvester", "2026-12-25", "2026-12-31"),
        ("Heiligabend", "2026-12-24", "2026-12-24"),
        ("Übernächste Woche frei?", "2026-12-07", "2026-12-11"),
        ("Ich wäre am Montag und Dienstag nicht da", "2026-11-23", "2026-11-24"),
        ("nächste Woche Montag", "2026-11-30", "2026-11-30"),
        ("Karfreitag bis Ostermontag", "2027-03-26", "2027-03-29"),
        ("Christi Himmelfahrt", "2027-05-06", "2027-05-06"),
        ("Rest der Woche", "2026-11-23", "2026-11-27"),
    ],
)
def test_polite_german_is_understood(text: str, first: str, last: str) -> None:
    leave = typed(text, "de")

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize(
    ("text", "language", "start", "end"),
    [
        ("this afternoon", "en", "pm", None),
        ("this morning off please", "en", None, "am"),
        ("tomorrow after lunch", "en", "pm", None),
        ("diesen Nachmittag", "de", "pm", None),
    ],
)
def test_parts_of_the_day_have_other_names(
    text: str, language: str, start: str | None, end: str | None
) -> None:
    leave = typed(text, language)

    assert (leave.start_half_day, leave.end_half_day, leave.problems) == (start, end, ())
    assert leave.start_date is not None


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("pto tomorrow", "en", "annual"),
        ("vacation", "en", "annual"),
        ("on holiday next week", "en", "annual"),
        ("i'm ill today", "en", "sick"),
        ("not feeling well today", "en", "sick"),
        ("unpaid vacation next week", "en", "unpaid"),
        ("sick holiday", "en", "sick"),
        ("maternity leave", "en", "parental"),
        ("Urlaub morgen", "de", "annual"),
        ("Ich bin krank", "de", "sick"),
        ("unbezahlten Urlaub nächste Woche", "de", "unpaid"),
        ("off tomorrow", "en", None),
    ],
)
def test_leave_types_have_synonyms(text: str, language: str, code: str | None) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.problems) == (code, ())
    assert leave.is_about_leave


@pytest.mark.parametrize(
    "text", ["monday and wednesday", "today, tomorrow and friday", "3 and 7 august"]
)
def test_days_that_are_not_in_a_row_are_several_periods(text: str) -> None:
    leave = typed(text)

    assert [problem.kind for problem in leave.problems] == ["several_days"]
    assert dates_of(leave) is None


def test_a_public_holiday_that_a_person_does_not_have_is_unknown() -> None:
    assert typed("juneteenth").unknown_words == "juneteenth"


def test_the_days_beside_an_unknown_word_are_kept_for_the_button() -> None:
    leave = typed("lunch on friday with grace")

    assert leave.unknown_words == "lunch … with grace"
    assert dates_of(leave) is None
    assert leave.otherwise.start_date == date(2026, 11, 27)


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("who's out", "out", ""),
        ("Who’s out tomorrow?", "out", "tomorrow"),
        ("is anyone off on friday?", "out", "on friday"),
        ("who is on holiday next week", "out", "next week"),
        ("out tomorrow", "out", "tomorrow"),
        ("who's not in next monday?", "out", "next monday"),
        ("show me how much holiday is left", "balance", ""),
        ("Wer ist morgen weg?", "out", "morgen"),
        ("wer fehlt heute", "out", "heute"),
        ("wer hat nächste Woche Urlaub?", "out", "nächste woche"),
        ("how many days do I have left?", "balance", ""),
        ("what's my balance, please?", "balance", ""),
        ("wie viele Tage habe ich noch?", "balance", ""),
        ("mein Resturlaub", "balance", ""),
        ("show my requests", "mine", ""),
        ("cancel my holiday", "cancel", ""),
        ("?", "help", ""),
        ("what can you do?", "help", ""),
    ],
)
def test_questions_are_recognised(text: str, name: str, rest: str) -> None:
    command = command_of(text)

    assert command is not None
    assert (command.name, command.rest) == (name, rest)


@pytest.mark.parametrize(
    "text",
    ["", "tomorrow", "my holiday 3-7 aug", "out of office on friday", "i'm out tomorrow", "pto"],
)
def test_requests_are_no_questions(text: str) -> None:
    assert command_of(text) is None


@given(st.text(max_size=80))
def test_any_text_is_a_question_or_not(text: str) -> None:
    assert isinstance(command_of(text), Command | None)
