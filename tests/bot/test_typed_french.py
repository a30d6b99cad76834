"""French sentences, with and without accents, for people whose Slack is in French."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing import typed_phrases, typed_work
from bot.parsing.languages import in_english
from bot.parsing.typed_leave import ParsedLeave, ParsingContext
from bot.parsing.typed_questions import Question, question_of
from bot.parsing.typed_work import language_of
from tests.bot.test_typed_leave import dates_of, parsed

# A Wednesday.
TODAY = date(2026, 11, 25)
HOLIDAYS = {
    "ascension day": date(2027, 5, 6),
    "easter monday": date(2027, 3, 29),
    "national day": date(2027, 7, 14),
}


def french(typed: str, today: date = TODAY) -> ParsedLeave:
    return parsed(typed, today=today, language="fr", main_type_id="annual", holidays=HOLIDAYS)


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("du 3 au 7 août", "2027-08-03", "2027-08-07"),
        ("du 3 au 7 aout", "2027-08-03", "2027-08-07"),
        ("3-7 août", "2027-08-03", "2027-08-07"),
        ("du mardi 1er au jeudi 3 décembre", "2026-12-01", "2026-12-03"),
        ("le 24 décembre", "2026-12-24", "2026-12-24"),
        ("le 24 dec.", "2026-12-24", "2026-12-24"),
        ("jeudi 24 décembre 2026", "2026-12-24", "2026-12-24"),
        ("du 28 décembre au 4 janvier", "2026-12-28", "2027-01-04"),
        ("du 21 décembre au 3 janvier inclus", "2026-12-21", "2027-01-03"),
        ("le 30", "2026-11-30", "2026-11-30"),
        ("lundi 30", "2026-11-30", "2026-11-30"),
        ("du 26 au 27", "2026-11-26", "2026-11-27"),
        ("demain", "2026-11-26", "2026-11-26"),
        ("après-demain", "2026-11-27", "2026-11-27"),
        ("apres demain", "2026-11-27", "2026-11-27"),
        ("aujourd'hui", "2026-11-25", "2026-11-25"),
        ("aujourd’hui", "2026-11-25", "2026-11-25"),
        ("d'aujourd'hui à vendredi", "2026-11-25", "2026-11-27"),
        ("vendredi", "2026-11-27", "2026-11-27"),
        ("ce vendredi", "2026-11-27", "2026-11-27"),
        ("lundi prochain", "2026-11-30", "2026-11-30"),
        ("lundi et mardi prochains", "2026-11-30", "2026-12-01"),
        ("demain et vendredi", "2026-11-26", "2026-11-27"),
        ("de lundi à mercredi", "2026-11-30", "2026-12-02"),
        ("de lundi a mercredi", "2026-11-30", "2026-12-02"),
        ("lundi à mercredi", "2026-11-30", "2026-12-02"),
        ("lun - mer", "2026-11-30", "2026-12-02"),
        ("mar 1er décembre", "2026-12-01", "2026-12-01"),
        ("la semaine prochaine", "2026-11-30", "2026-12-04"),
        ("semaine pro", "2026-11-30", "2026-12-04"),
        ("jeudi de la semaine prochaine", "2026-12-03", "2026-12-03"),
        ("la semaine du 14 décembre", "2026-12-14", "2026-12-18"),
        ("semaine 51", "2026-12-14", "2026-12-18"),
        ("S51", "2026-12-14", "2026-12-18"),
        ("trois jours à partir de lundi", "2026-11-30", "2026-12-02"),
        ("une semaine à partir du 14 décembre", "2026-12-14", "2026-12-18"),
        ("2 semaines dès le 14 décembre", "2026-12-14", "2026-12-25"),
        ("dans deux jours", "2026-11-27", "2026-11-27"),
        ("entre Noël et le jour de l'an", "2026-12-25", "2027-01-01"),
        ("entre noel et le nouvel an", "2026-12-25", "2027-01-01"),
        ("le reste de la semaine", "2026-11-25", "2026-11-27"),
        ("le jeudi de l'Ascension", "2027-05-06", "2027-05-06"),
        ("le lundi de Pâques", "2027-03-29", "2027-03-29"),
        ("le vendredi après l'Ascension", "2027-05-07", "2027-05-07"),
        ("absent demain, de retour lundi", "2026-11-26", "2026-11-27"),
        ("le 3/12", "2026-12-03", "2026-12-03"),
        ("vendredi en huit", "2026-12-04", "2026-12-04"),
        ("tout le mois de janvier", "2027-01-01", "2027-01-31"),
        ("la première semaine de février", "2027-02-01", "2027-02-05"),
        ("la derniere semaine de mars", "2027-03-29", "2027-03-31"),
        ("vacances de Noël du 21/12 au 01/01", "2026-12-21", "2027-01-01"),
        ("du 3/12 au 7/12", "2026-12-03", "2026-12-07"),
        ("3 to 7 august", "2027-08-03", "2027-08-07"),
        ("next friday", "2026-12-04", "2026-12-04"),
    ],
)
def test_french_readers_may_type_french_or_english_days(typed: str, first: str, last: str) -> None:
    leave = french(typed)

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("demain matin", None, "am"),
        ("demain après-midi", "pm", None),
        ("vendredi apres-midi", "pm", None),
        ("l'après-midi du 3 décembre", "pm", None),
        ("cet après-midi", "pm", None),
        ("ce matin", None, "am"),
        ("le matin du 3 décembre", None, "am"),
        ("demi-journée demain matin", None, "am"),
        ("du jeudi 3 décembre après-midi au vendredi 4", "pm", None),
        ("de jeudi midi à vendredi", "pm", None),
        ("du 3 décembre midi au 4 décembre midi", "pm", "am"),
        ("vendredi à partir de midi", "pm", None),
        ("vendredi jusqu'à midi", None, "am"),
    ],
)
def test_french_halves_are_filled_in(typed: str, start: str | None, end: str | None) -> None:
    leave = french(typed)

    assert leave.problems == ()
    assert (leave.start_half_day, leave.end_half_day) == (start, end)


@pytest.mark.parametrize(
    ("typed", "code", "note"),
    [
        ("Bonjour, je voudrais poser mon vendredi, s'il vous plaît", None, None),
        ("Je souhaite prendre des congés du 3 au 7 août, merci d'avance", "annual", None),
        ("J'aimerais poser une semaine de vacances à partir du 14 décembre", "annual", None),
        ("CP demain", "annual", None),
        ("congés payés demain", "annual", None),
        ("Je suis malade aujourd'hui", "sick", None),
        ("arrêt maladie depuis lundi", "sick", None),
        ("malade depuis hier, grosse fièvre", "sick", "grosse fièvre"),
        ("congé sans solde demain", "unpaid", None),
        ("Je ne serai pas là demain", None, None),
        ("congé vendredi pour raisons personnelles", "annual", "raisons personnelles"),
        ("absente vendredi, déménagement", None, "déménagement"),
        ("Pourriez-vous me poser le 11 décembre en congé ? Merci", "annual", None),
        ("Je ne travaille pas vendredi", None, None),
    ],
)
def test_polite_french_is_understood(typed: str, code: str | None, note: str | None) -> None:
    leave = french(typed)

    assert leave.start_date is not None
    assert (leave.leave_type_id, leave.note, leave.problems) == (code, note, ())


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("vendredi prochain", "which_day"),
        ("à partir de lundi", "which_last_day"),
        ("demi-journée demain", "which_part_of_day"),
        ("quatre jours à partir de vendredi", "which_length"),
        ("lundi et jeudi", "several_days"),
        ("lundi matin et mardi", "several_days"),
        ("lundi matin et mardi après-midi", "several_days"),
        ("vendredi en quinze", "unknown"),
        ("fin décembre", "unknown"),
        ("tous les vendredis", "unknown"),
        ("le pont de l'Ascension", "unknown"),
        ("vendredi soir", "unknown"),
        ("pas vendredi", "unknown"),
        ("la semaine suivante", "unknown"),
    ],
)
def test_ambiguous_french_is_a_problem(typed: str, kind: str) -> None:
    leave = french(typed)

    assert [problem.kind for problem in leave.problems] == [kind]
    assert leave.start_date is None or kind == "which_part_of_day"


@pytest.mark.parametrize("typed", ["demain", "du 3 au 7 août", "après-demain matin"])
def test_readers_of_other_languages_cannot_type_french(typed: str) -> None:
    for language in ("en", "de"):
        assert parsed(typed, today=TODAY, language=language).start_date is None


def test_no_word_has_its_english_meaning_where_french_has_another() -> None:
    assert dates_of(french("mon vendredi")) == ("2026-11-27", "2026-11-27")
    assert dates_of(french("mar 1er")) == ("2026-12-01", "2026-12-01")
    assert dates_of(parsed("mar 1st", today=TODAY)) == ("2027-03-01", "2027-03-01")
    assert dates_of(parsed("mon", today=TODAY)) == ("2026-11-30", "2026-11-30")


@pytest.mark.parametrize(
    ("typed", "name", "rest"),
    [
        ("aide", "help", ""),
        ("comment ça marche ?", "help", ""),
        ("mon solde", "balance", ""),
        ("solde de congés", "balance", ""),
        ("solde au 31 décembre", "balance", "au 31 décembre"),
        ("Combien de jours de congés me reste-t-il ?", "balance", ""),
        ("combien de jours il me reste en 2027", "balance", "en 2027"),
        ("il me reste combien de congés ?", "balance", ""),
        ("qui est absent ?", "out", ""),
        ("Bonjour, qui est absent demain ?", "out", "demain"),
        ("qui est en vacances la semaine prochaine ?", "out", "la semaine prochaine"),
        ("qui sera demain en télétravail", "out", "demain"),
        ("qui n’est pas là aujourd’hui ?", "out", "aujourd'hui"),
        ("absents demain", "out", "demain"),
        ("mes congés", "mine", ""),
        ("quand suis-je en congés ?", "mine", ""),
        ("annuler mes congés", "cancel", ""),
    ],
)
def test_french_commands_and_questions_are_understood_from_everyone(
    typed: str, name: str, rest: str
) -> None:
    command = typed_phrases.command_of(typed)

    assert command is not None
    assert (command.name, command.rest) == (name, rest)


@pytest.mark.parametrize("typed", ["absent demain", "mes congés du 3 au 7 août", "congé demain"])
def test_french_leave_is_no_command(typed: str) -> None:
    assert typed_phrases.command_of(typed) is None


@pytest.mark.parametrize(
    ("typed", "is_request"),
    [
        ("Puis-je prendre vendredi", True),
        ("est-ce que je peux poser vendredi", True),
        ("serait-il possible de poser vendredi", True),
        ("vendredi ?", True),
        ("est-ce que vendredi est férié", False),
        ("qui décide de mes congés", False),
    ],
)
def test_french_questions_are_told_from_requests(typed: str, *, is_request: bool) -> None:
    assert typed_phrases.is_question(typed)
    assert typed_phrases.is_request(typed) is is_request


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        (
            "est-ce que Marie est là demain ?",
            Question(name="person_in", who="marie", when="demain"),
        ),
        ("Marie est-elle en congé lundi ?", Question(name="person_in", who="marie", when="lundi")),
        ("Quand est-ce que Marie revient ?", Question(name="person_back", who="marie")),
        ("quand rentre Marie Curie", Question(name="person_back", who="marie curie")),
        ("est-ce que lundi est férié ?", Question(name="holiday", when="lundi")),
        ("quel est le prochain jour férié", Question(name="holidays")),
        ("est-ce que je travaille lundi", Question(name="me", when="lundi")),
        ("suis-je en congé vendredi ?", Question(name="me", when="vendredi")),
        ("je suis absente lundi ?", Question(name="me", when="lundi")),
        ("qui valide mes congés ?", Question(name="approvers")),
        ("puis-je déplacer mes congés", Question(name="change")),
        ("comment annuler mes congés de decembre", Question(name="cancel", when="de decembre")),
    ],
)
def test_french_questions_about_people_days_and_own_leave_are_understood(
    typed: str, question: Question
) -> None:
    assert question_of(typed) == question


@pytest.mark.parametrize(
    "typed", ["Marie est malade aujourd'hui", "je suis absent demain", "congé lundi", "malade"]
)
def test_french_statements_are_no_questions(typed: str) -> None:
    assert question_of(typed) is None


def test_french_words_of_the_command_are_known_without_accents() -> None:
    assert [in_english(word) for word in ("équipe", "equipe", "aide", "lundi")] == [
        *("team", "team", "help", "lundi"),
    ]


def test_work_for_time_in_lieu_is_typed_in_french() -> None:
    context = ParsingContext(
        today=TODAY, leave_types=[], is_month_first=False, weekdays=frozenset(range(5))
    )

    typed = "j'ai travaillé samedi 1,5 jours pour la mise en production"
    work = typed_work.parse(typed, context)

    assert (work.worked_on, work.days, work.reason) == (
        *(date(2026, 11, 21), 1.5, "la mise en production"),
    )
    assert language_of("travaille samedi une demi-journée") == "fr"
    assert language_of("j'ai travaillé de chez moi hier") is None


@given(
    st.dates(date(2027, 1, 1), date(2027, 12, 1)),
    st.integers(1, 20),
    st.sampled_from(["d MMMM y", "EEEE d MMMM y", "EEE d MMM y", "dd/MM/y", "y-MM-dd"]),
    st.sampled_from([("du ", " au "), ("", " - "), ("congés du ", " jusqu'au "), ("de ", " à ")]),
)
def test_days_in_french_formats_are_filled_in(
    first: date, length: int, pattern: str, joiners: tuple[str, str]
) -> None:
    last = first + timedelta(days=length)
    from_, to = (format_date(day, pattern, locale="fr") for day in (first, last))

    leave = french(f"{joiners[0]}{from_}{joiners[1]}{to}")

    assert (leave.start_date, leave.end_date) == (first, last)


WORDS = st.sampled_from(
    ["du", "au", "à", "de", "le", "3", "7", "août", "lundi", "vendredi", "prochain", "matin"]
    + ["après-midi", "midi", "semaine", "prochaine", "demain", "congé", "malade", "sauf", "et"]
    + ["pour", "mon", "jours", "deux", "Noël", "jusqu'au", "d'ici", "l'après-midi", "mar", "1er"]
)


@given(st.lists(WORDS, max_size=9), st.dates(date(2020, 1, 1), date(2035, 1, 1)))
def test_any_french_words_give_valid_leave_or_say_why_not(words: list[str], today: date) -> None:
    leave = french(" ".join(words), today)

    assert (leave.start_date is None) == (leave.end_date is None)
    if leave.start_date is not None and leave.end_date is not None:
        assert leave.start_date <= leave.end_date
    elif leave.is_about_leave and any(word in words for word in ("lundi", "vendredi", "demain")):
        assert leave.problems
