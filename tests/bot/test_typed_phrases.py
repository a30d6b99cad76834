"""Typed phrases: politeness, synonyms, public holidays by name, lists of days, and questions."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_phrases import Command, command_of
from bot.parsing.typed_ranges import Span
from tests.bot.test_typed_leave import TYPES, a_type, dates_of, parsed

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
        ("the 30th", "2026-11-30", "2026-11-30"),
        ("from the 3rd to the 5th", "2026-12-03", "2026-12-05"),
        ("from the 28th to the 2nd", "2026-11-28", "2026-12-02"),
        ("from the 28th of december till the 4th", "2026-12-28", "2027-01-04"),
        ("friday the 4th", "2026-12-04", "2026-12-04"),
        ("week of the 14th", "2026-12-14", "2026-12-18"),
        ("today until the 30th", "2026-11-23", "2026-11-30"),
        ("Friday before Christmas", "2026-12-18", "2026-12-18"),
        ("could I please have the Friday after Christmas off?", "2027-01-01", "2027-01-01"),
        ("the day after thanksgiving", "2026-11-27", "2026-11-27"),
        ("the monday before new year", "2026-12-28", "2026-12-28"),
        ("friday before the 15th", "2026-12-11", "2026-12-11"),
        ("off mon-wed, back thursday", "2026-11-23", "2026-11-25"),
        ("off on tuesday, back on friday", "2026-11-24", "2026-11-26"),
        ("out tomorrow, thursday back", "2026-11-24", "2026-11-25"),
        ("away 1/12 to 4/12, back on the 7th", "2026-12-01", "2026-12-04"),
        ("ooo thu+fri :palm_tree:", "2026-11-26", "2026-11-27"),
        ("week 51", "2026-12-14", "2026-12-18"),
        ("week 53", "2026-12-28", "2027-01-01"),
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
        ("am 30. frei", "2026-11-30", "2026-11-30"),
        ("am 30.", "2026-11-30", "2026-11-30"),
        ("vom 3. bis 5. Urlaub", "2026-12-03", "2026-12-05"),
        ("Freitag, den 11.", "2026-12-11", "2026-12-11"),
        ("am Montag, den 7. Dezember frei", "2026-12-07", "2026-12-07"),
        ("Freitag vor Weihnachten", "2026-12-18", "2026-12-18"),
        ("am Tag nach Heiligabend", "2026-12-25", "2026-12-25"),
        ("Dienstag nach Ostermontag", "2027-03-30", "2027-03-30"),
        ("KW 52", "2026-12-21", "2026-12-25"),
        ("Montag bis Mittwoch weg, am Donnerstag zurück", "2026-11-23", "2026-11-25"),
        ("Di frei, ab Freitag wieder da", "2026-11-24", "2026-11-26"),
        ("Brückentag am 8. Januar", "2027-01-08", "2027-01-08"),
        ("hab ab dem 14. zwei Wochen Urlaub", "2026-12-14", "2026-12-25"),
        ("ganze nächste Woche Urlaub", "2026-11-30", "2026-12-04"),
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


@pytest.mark.parametrize(
    ("text", "today", "kind"),
    [
        # 23 November may be over, or the last day of leave that has begun.
        ("from the 21st to the 23rd", "2026-11-23", "which_month"),
        ("from the 3rd to the 5th", "2026-12-04", "which_month"),
        ("the 31st", "2026-11-23", "which_month"),
        ("the 30th", "2026-01-31", "which_month"),
        ("friday the 5th", "2026-11-23", "which_month"),
        ("sick on the 30th", "2026-11-23", "which_month"),
        ("sick on the 3rd", "2026-11-23", "which_month"),
        # Boxing Day, the day before Christmas Eve's weekend, and Fridays that are over.
        ("the friday after christmas", "2025-11-24", "which_day"),
        ("friday before christmas", "2027-11-22", "which_day"),
        ("friday before christmas", "2026-12-21", "which_day"),
        ("two days before christmas", "2026-11-23", "which_day"),
        ("a week from friday", "2026-11-23", "which_day"),
        ("3 days from today", "2026-11-23", "which_day"),
        ("monday after next week", "2026-11-23", "which_day"),
        ("friday before 12", "2026-11-23", "which_month"),
        ("before friday", "2026-11-23", "which_day"),
        ("off mon-wed, back friday", "2026-11-23", "which_last_day"),
        ("off mon-wed, back on the 24th", "2026-11-23", "which_last_day"),
        ("back thursday", "2026-11-23", "which_first_day"),
        ("off tomorrow, back after lunch", "2026-11-23", "which_last_day"),
        # That week has begun.
        ("week 48", "2026-11-24", "which_year"),
        ("week 54", "2026-11-23", "impossible_day"),
    ],
)
def test_days_beside_others_are_never_guessed(text: str, today: str, kind: str) -> None:
    leave = typed(text, today=date.fromisoformat(today))

    assert kind in [problem.kind for problem in leave.problems]
    assert dates_of(leave) is None


def test_a_calendar_week_is_ambiguous_where_weeks_are_counted_in_other_ways() -> None:
    leave = parsed("week 51", today=TODAY, is_month_first=True)

    assert [problem.kind for problem in leave.problems] == ["which_day"]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("sick on the 20th", "2026-11-20", "2026-11-20"),
        ("sick the 18th to the 20th", "2026-11-18", "2026-11-20"),
        ("sick since the 19th", "2026-11-19", "2026-11-23"),
        ("sick since thursday, back on wednesday", "2026-11-19", "2026-11-24"),
    ],
)
def test_sick_days_of_this_month_may_be_over(text: str, first: str, last: str) -> None:
    leave = typed(text)

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize("text", ["personal day on friday", "a personal day on friday, please"])
@pytest.mark.parametrize("name", ["Personal day", "Personal leave"])
def test_a_personal_day_is_a_day_of_the_type_with_that_name(text: str, name: str) -> None:
    leave = parsed(text, today=TODAY, types=[*TYPES, a_type(name)])

    assert (dates_of(leave), leave.leave_type_id) == (("2026-11-27", "2026-11-27"), "personal")
    assert typed(text).unknown_words == "personal"


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("last friday of november", "november"),
        ("monday after the 4th advent", "advent"),
        ("lunch, off tomorrow, back thursday", "lunch"),
        ("off next week except wednesday", "except"),
        ("off over christmas", "over"),
    ],
)
def test_days_that_an_unknown_word_may_move_are_not_kept(text: str, unknown: str) -> None:
    leave = typed(text)

    assert leave.unknown_words == unknown
    assert leave.otherwise.start_date is None


_SIDES = st.sampled_from(["before", "after", "prior to", "vor", "nach dem"])
_NEAR = st.sampled_from(["friday", "mon", "the day", "dienstag", "a week", "am tag", "back"])
_ANCHORS = st.sampled_from(
    ["christmas", "the 15th", "31st", "am 30.", "silvester", "12", "next week", "KW 1", "monday"]
    + ["24.12.", "31.12.9999", "29 feb", "back", "neujahr", "week 53", ""]
)
_RETURNS = st.sampled_from(
    ["", ", back thursday", " back", " wieder da am 3.", ", back on the 31st"]
)


@given(
    st.tuples(_NEAR, _SIDES, _ANCHORS, _RETURNS).map(" ".join)
    | st.tuples(_ANCHORS, st.sampled_from(["to", "and", "bis"]), _ANCHORS, _RETURNS).map(" ".join),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.sampled_from(["en", "de"]),
)
def test_days_beside_others_are_never_in_the_past(text: str, today: date, language: str) -> None:
    leave = parsed(text, today=today, language=language)

    if leave.start_date is not None and leave.end_date is not None:
        assert today <= leave.start_date <= leave.end_date


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(1, 31))
def test_a_number_is_the_next_such_day_of_this_month_or_the_next(today: date, number: int) -> None:
    leave = typed(f"the {number}th", today=today)

    if leave.start_date is None:
        assert [problem.kind for problem in leave.problems] == ["which_month"]
        assert number > 28
    else:
        assert leave.start_date.day == number
        assert 0 <= (leave.start_date - today).days <= 31


def test_a_public_holiday_that_a_person_does_not_have_is_unknown() -> None:
    assert typed("juneteenth").unknown_words == "juneteenth"


def test_the_days_beside_an_unknown_word_are_kept_for_the_button() -> None:
    leave = typed("off on friday with the choir")

    assert leave.unknown_words == "with choir"
    assert dates_of(leave) is None
    assert (leave.otherwise.start_date, leave.has_subject) == (date(2026, 11, 27), False)


@pytest.mark.parametrize(
    "text", ["chloe sick today", "my aunt is ill today", "mum's funeral on friday"]
)
def test_an_unknown_word_at_the_beginning_may_be_a_person(text: str) -> None:
    assert typed(text).has_subject


@pytest.mark.parametrize(
    "text",
    [
        "friday at noon",
        "off on friday evening",
        "tomorow in mourning",
        "off nxt friday",
        "friday ma off",
    ]
    + [
        "off friday until further notice",
        "off on friday 9am",
        "off fridays",
        "half day friday chores",
    ],
)
def test_days_and_halves_that_an_unknown_word_may_change_are_not_kept(text: str) -> None:
    leave = typed(text)

    assert not leave.fills_form or leave.problems
    assert leave.otherwise.start_date is None


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
        ("wer fehlt nächste Woche?", "out", "nächste woche"),
        ("Sind morgen Leute weg?", "out", "morgen"),
        ("Ist am Freitag jemand im Urlaub?", "out", "am freitag"),
        ("fehlt morgen jemand?", "out", "morgen"),
        ("wer fehlt am 30.?", "out", "am 30."),
        ("wer ist nächste Woche alles im Urlaub?", "out", "nächste woche"),
        ("is anyone off tomorrow?", "out", "tomorrow"),
        ("are people away next week?", "out", "next week"),
        ("who else is off on the 24th?", "out", "on the 24th"),
        ("who has friday off?", "out", "friday"),
        ("who isn't in tomorrow?", "out", "tomorrow"),
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
    ["", "tomorrow", "my holiday 3-7 aug", "out of office on friday", "i'm out tomorrow", "pto"]
    + ["out sick today", "out tomorrow, back thursday", "out on pto next week"],
)
def test_requests_are_no_questions(text: str) -> None:
    assert command_of(text) is None


@given(st.text(max_size=80))
def test_any_text_is_a_question_or_not(text: str) -> None:
    assert isinstance(command_of(text), Command | None)


@pytest.mark.parametrize(
    ("text", "language", "note"),
    [
        ("sick today, dentist", "en", "dentist"),
        ("Sick today, Dentist :tooth:, thanks!", "en", "Dentist :tooth:"),
        ("friday off because of the dentist", "en", "the dentist"),
        ("3-7 aug (family visit)", "en", "family visit"),
        ("tomorrow morning off – moving house", "en", "moving house"),
        ("next week - wedding in Rome", "en", "wedding in Rome"),
        ("off tomorrow: boiler & plumber", "en", "boiler & plumber"),
        ("heute krank – Zahnarzt", "de", "Zahnarzt"),
        ("morgen frei, Umzug nach Köln", "de", "Umzug nach Köln"),
        ("Freitag frei wegen Zahnarzt", "de", "Zahnarzt"),
    ],
)
def test_a_reason_at_the_end_becomes_the_note(text: str, language: str, note: str) -> None:
    leave = typed(text, language)

    assert (leave.note, leave.problems) == (note, ())
    assert leave.fills_form


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("sick today because of flu", "en"),
        ("off today because I'm sick", "en"),
        ("heute krank wegen Grippe", "de"),
    ],
)
def test_a_reason_that_names_a_leave_type_is_that_type(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.note, leave.problems) == ("sick", None, ())
    assert dates_of(leave) == ("2026-11-23", "2026-11-23")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("friday, mornings only", "en"),
        ("3 aug, for a fortnight", "en"),
        ("tomorrow off, except the afternoon", "en"),
        ("off friday because I worked on sunday", "en"),
        ("3-7 aug, not wednesday", "en"),
        ("off tomorow, mornign", "en"),
        ("tomorrow, until 3pm", "en"),
        ("tomorrow, unpaid", "en"),
        ("Freitag, nur vormittags", "de"),
        ("Freitag frei, außer abends", "de"),
    ],
)
def test_words_that_may_change_the_leave_are_no_reason(text: str, language: str) -> None:
    assert typed(text, language).note is None


@pytest.mark.parametrize(
    "text",
    ["tomorrow :)", "tomorrow off pls 🙏", "thanks! tomorrow off", "tomorrow off &lt;3 ty"]
    + ["tomorrow off, thanks in advance!", ":wave::skin-tone-2: tomorrow off :palm_tree:!"]
    + ["tomorrow, danke", "hi :-) off tomorrow ;-)"],
)
def test_smileys_and_thanks_are_no_unknown_words(text: str) -> None:
    leave = typed(text)

    assert (dates_of(leave), leave.problems, leave.note) == (("2026-11-24",) * 2, (), None)


@pytest.mark.parametrize(
    ("text", "language", "days", "halves"),
    [
        ("leaving at noon on friday", "en", ("2026-11-27", "2026-11-27"), ("pm", None)),
        ("I'm leaving friday at midday", "en", ("2026-11-27", "2026-11-27"), ("pm", None)),
        ("from wednesday noon until friday", "en", ("2026-11-25", "2026-11-27"), ("pm", None)),
        ("from wed until friday noon", "en", ("2026-11-25", "2026-11-27"), (None, "am")),
        ("from tomorrow lunchtime to fri", "en", ("2026-11-24", "2026-11-27"), ("pm", None)),
        ("am off on friday", "en", ("2026-11-27", "2026-11-27"), (None, None)),
        ("ab mittwoch mittag bis freitag", "de", ("2026-11-25", "2026-11-27"), ("pm", None)),
        ("von Mi mittag bis Fr mittag", "de", ("2026-11-25", "2026-11-27"), ("pm", "am")),
        ("ich gehe am Freitag mittags", "de", ("2026-11-27", "2026-11-27"), ("pm", None)),
    ],
)
def test_noon_begins_or_ends_the_leave(
    text: str, language: str, days: tuple[str, str], halves: tuple[str | None, str | None]
) -> None:
    leave = typed(text, language)

    assert (dates_of(leave), leave.problems) == (days, ())
    assert (leave.start_half_day, leave.end_half_day) == halves


ASKING = st.sampled_from(
    [
        "am i",
        "is grace",
        "are we",
        "who is",
        "who else has",
        "when is chloe",
        "when am i",
        "do i have",
    ]
    + [
        "does amir take",
        "can i take",
        "can i please have",
        "could i get",
        "may i have",
        "is it ok if i",
    ]
    + ["would it be ok to take", "any chance i could have", "is there any chance of", "what about"]
    + ["how about", "has hedy got", "will i be", "wondering if i can take", "is", "why am i"]
    + [
        "bin ich",
        "ist grace",
        "wer ist",
        "wann ist amir",
        "habe ich",
        "hab ich",
        "kann ich",
        "darf ich",
    ]
    + [
        "könnte ich bitte",
        "sind wir",
        "hat amir",
        "wie lange bin ich",
        "ist es möglich",
        "muss ich",
    ]
)
GREETINGS = st.sampled_from(["", "hi, ", "Hello! ", "hey ", "Hallo, ", "please ", "guten morgen "])
DAYS = st.sampled_from(
    ["friday", "on friday", "am freitag", "tomorrow", "morgen", "3-7 aug", "next week", "today pm"]
    + ["the 30th", "24 dec - 2 jan", "sick today", "christmas", "heute", "nächste woche", "14.12."]
)
ENDINGS = st.sampled_from(["", " off", " frei", " weg", " please", ", thanks!", " :)", ", dentist"])
LANGUAGES = st.sampled_from(["en", "de"])


@given(GREETINGS, ASKING, DAYS, ENDINGS, LANGUAGES)
def test_no_sentence_in_an_asking_form_fills_the_form(
    greeting: str, asking: str, days: str, ending: str, language: str
) -> None:
    assert not typed(f"{greeting}{asking} {days}{ending}", language).fills_form


@given(
    GREETINGS, DAYS, ENDINGS, st.sampled_from(["?", " ?", "??", "？", "?!"]), LANGUAGES, st.data()
)
def test_no_sentence_with_a_question_mark_fills_the_form(
    greeting: str, days: str, ending: str, mark: str, language: str, data: st.DataObject
) -> None:
    words = f"{greeting}{days} off{ending}".split()
    words[data.draw(st.integers(0, len(words) - 1))] += mark

    assert not typed(" ".join(words), language).fills_form


@pytest.mark.parametrize(
    "text",
    ["may 3-7", "may the 4th", "do 3.12. frei", "was sick yesterday", "will be off on friday"]
    + ["would like friday off", "have friday off please", "i can't come in tomorrow, ill"]
    + ["am freitag bin ich weg", "haben wir am freitag frei gesagt", "bin krank", "so 6.12. frei"],
)
def test_statements_are_no_questions(text: str) -> None:
    assert typed(text, "de").is_question == text.startswith("haben wir")


MEANT = st.sampled_from(
    [
        "3-7 aug",
        "tomorrow",
        "next fri pm",
        "off on friday morning",
        "24 dec - 2 jan",
        "next week am",
    ]
    + ["from wednesday noon until friday", "since friday", "week of 11 january", "rest of the week"]
    + ["2027-06-14 for 3 days", "mon-wed", "friday before christmas", "leaving at noon on friday"]
)


@given(MEANT, st.text("qxz", min_size=1, max_size=12), LANGUAGES, st.data())
def test_what_a_button_offers_beside_an_unknown_word_is_what_was_typed(
    meant: str, unknown: str, language: str, data: st.DataObject
) -> None:
    words = meant.split()
    words.insert(data.draw(st.integers(0, len(words))), unknown)

    leave, of_meant = typed(" ".join(words), language), typed(meant, language)

    assert not leave.fills_form
    assert leave.otherwise in (of_meant.otherwise, Span())


@given(MEANT, LANGUAGES, st.data())
def test_what_a_button_offers_beside_a_misspelt_word_is_what_was_typed(
    meant: str, language: str, data: st.DataObject
) -> None:
    words = meant.split()
    at = data.draw(st.integers(0, len(words) - 1))
    word = words[at]
    letter = data.draw(st.integers(0, max(len(word) - 2, 0)))
    words[at] = data.draw(
        st.sampled_from(
            [
                word[:letter] + word[letter + 1 :],
                word[:letter] + word[letter] + word[letter:],
                word[:letter] + word[letter + 1 : letter + 2] + word[letter] + word[letter + 2 :],
            ]
        )
    )

    leave, of_meant = typed(" ".join(words), language), typed(meant, language)

    if leave.unknown and not leave.has_subject:
        assert leave.otherwise in (of_meant.otherwise, Span())
