"""What employees type on an ordinary day: errands, illness, greetings, and weeks with weekdays."""

from __future__ import annotations

from datetime import date

import pytest

from bot.parsing import typed_work
from bot.parsing.typed_leave import ParsedLeave, ParsingContext, period_in
from bot.parsing.typed_phrases import Command, command_of, without_whats_left
from bot.parsing.typed_questions import question_of
from tests.bot.test_typed_leave import dates_of, parsed

# A Monday.
TODAY = date(2026, 11, 23)


def typed(text: str, language: str) -> ParsedLeave:
    return parsed(text, today=TODAY, language=language, main_type_id="annual")


@pytest.mark.parametrize(
    ("text", "language", "note"),
    [
        ("optician tomorrow afternoon", "en", "optician"),
        (
            "I've got an appointment with the bank on friday",
            "en",
            "I've got an appointment with the bank",
        ),
        ("Kinderarzt morgen nachmittag", "de", "Kinderarzt"),
        ("j'ai rdv chez le notaire vendredi matin", "fr", "rdv chez le notaire"),
        ("cita con el dentista mañana por la tarde", "es", "cita con el dentista"),
        ("un rdv médical lundi matin", "fr", "un rdv médical"),
        ("friday off please, house move", "en", "house move"),
        ("friday afternoon off for the vet", "en", "the vet"),
        ("am freitag Handwerker nachmittags", "de", "Handwerker"),
        ("le vendredi matin pour un déménagement", "fr", "un déménagement"),
        ("el viernes tengo dentista por la tarde", "es", "tengo dentista"),
    ],
)
def test_an_errand_is_the_reason(text: str, language: str, note: str) -> None:
    leave = typed(text, language)

    assert (leave.note, leave.problems) == (note, ())
    assert leave.start_date is not None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("my daughter is unwell, staying home today", "en"),
        ("meine tochter ist krank, bleibe heute daheim", "de"),
        ("mon fils est malade, je ne viendrai pas aujourd'hui", "fr"),
        ("mi hija está enferma, hoy no voy", "es"),
        ("my kid is ill so i need today off", "en"),
    ],
)
def test_a_sick_child_is_sick_leave_with_that_reason(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.problems) == ("sick", ())
    assert leave.note == text.partition(",")[0].partition(" so ")[0]
    assert dates_of(leave) == ("2026-11-23", "2026-11-23")


@pytest.mark.parametrize("text", ["the dentist", "wedding", "Zahnarzt"])
def test_an_errand_alone_is_no_leave(text: str) -> None:
    assert not typed(text, "de").fills_form


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("i have a terrible headache today", "en"),
        ("feeling rough today", "en"),
        ("mir geht es heute nicht gut", "de"),
        ("ich fühle mich heute elend", "de"),
        ("je ne me sens pas bien aujourd'hui", "fr"),
        ("hoy no me encuentro bien", "es"),
        ("woke up with a migraine, won't be in today", "en"),
        ("hab heute starke rückenschmerzen", "de"),
        ("grosse migraine, je ne viendrai pas aujourd'hui", "fr"),
        ("tengo dolor de cabeza, hoy no puedo ir", "es"),
    ],
)
def test_being_unwell_is_sick_leave(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.problems) == ("sick", ())
    assert dates_of(leave) == ("2026-11-23", "2026-11-23")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I won't make it on wednesday, feeling poorly", "en"),
        ("I need wednesday off, my son is ill", "en"),
        ("krank, kann mittwoch nicht", "de"),
        ("malade, je ne viendrai pas mercredi", "fr"),
        ("enferma, el miércoles no puedo ir", "es"),
    ],
)
def test_sick_leave_that_is_said_to_come_is_not_last_week(text: str, language: str) -> None:
    assert dates_of(typed(text, language)) == ("2026-11-25", "2026-11-25")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("signed off sick until thursday", "en"),
        ("krank bis donnerstag", "de"),
        ("malade jusqu'à jeudi", "fr"),
        ("enfermo hasta el jueves", "es"),
    ],
)
def test_sick_leave_of_which_the_end_is_named_has_begun(text: str, language: str) -> None:
    if text.startswith("signed off"):
        text = text.removeprefix("signed off ")

    assert dates_of(typed(text, language)) == ("2026-11-23", "2026-11-26")


@pytest.mark.parametrize(
    "text",
    ["was sick until thursday", "off until thursday", "sick until yesterday", "sick until monday"],
)
def test_other_leave_of_which_only_the_end_is_named_is_asked(text: str) -> None:
    assert dates_of(typed(text, "en")) is None


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("Morning, friday off please", None),
        ("afternoon! can I take friday", None),
        ("friday morning off", "am"),
        ("morning of friday off", "am"),
    ],
)
def test_a_greeting_is_no_half(text: str, half: str | None) -> None:
    leave = typed(text, "en")

    assert dates_of(leave) == ("2026-11-27", "2026-11-27")
    assert leave.end_half_day == half


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ("übernächste woche dienstag bis donnerstag", "de", "2026-12-08", "2026-12-10"),
        ("the week after next, thursday and friday", "en", "2026-12-10", "2026-12-11"),
    ],
)
def test_weekdays_beside_a_week_are_of_that_week(
    text: str, language: str, first: str, last: str
) -> None:
    assert dates_of(typed(text, language)) == (first, last)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("friday off, and how many days do I have left then?", "friday off"),
        ("Freitag frei und wie viel Urlaub habe ich noch", "Freitag frei"),
        ("vendredi en congé et combien me reste-t-il ?", "vendredi en congé"),
        (
            "el viernes libre. ¿cuántos días me quedan?",
            "el viernes libre",
        ),
        ("how many days do I have left", "how many days do I have left"),
    ],
)
def test_what_is_left_is_told_with_a_request_anyway(text: str, asked: str) -> None:
    assert without_whats_left(text) == asked


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("who is in the office on friday?", "on friday"),
        ("wer ist am 3.12. da?", "am 3.12."),
        ("qui est au bureau demain ?", "demain"),
        ("¿quién está mañana en la oficina?", "mañana"),
    ],
)
def test_who_is_in_is_told_by_who_is_off(text: str, rest: str) -> None:
    assert command_of(text) == Command(name="out", rest=rest)


@pytest.mark.parametrize(
    ("text", "name", "when"),
    [
        ("moving my july leave to august", "change", "july to august"),
        ("änder meinen urlaub im mai", "change", "im mai"),
        ("décale mes vacances de mars", "change", "de mars"),
        ("retrasa mis vacaciones de mayo", "change", "de mayo"),
        ("annulez ma demande du 3 mai", "cancel", "du 3 mai"),
        ("borra mis vacaciones de mayo", "cancel", "de mayo"),
        ("when do we get the next bank holiday?", "holidays", ""),
    ],
)
def test_leave_to_change_is_named_by_its_days(text: str, name: str, when: str) -> None:
    question = question_of(text)

    assert question is not None
    assert (question.name, question.when) == (name, when)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Chloe revient quand ?", "person_back"),
        ("Chloe travaille mardi ?", "person_in"),
        ("¿Chloe trabaja el martes?", "person_in"),
        ("¿está Chloe mañana aquí?", "person_in"),
    ],
)
def test_the_name_may_come_first_in_a_question(text: str, name: str) -> None:
    question = question_of(text)

    assert question is not None
    assert (question.name, question.who) == (name, "chloe")


@pytest.mark.parametrize(
    ("text", "language"),
    [("worked next saturday", "en"), ("travaillé dimanche prochain", "fr")],
)
def test_work_that_lies_ahead_is_asked(text: str, language: str) -> None:
    context = ParsingContext(
        today=TODAY,
        leave_types=[],
        is_month_first=False,
        weekdays=frozenset(range(5)),
        language=language,
    )

    work = typed_work.parse(text, context)

    assert (work.worked_on, [problem.kind for problem in work.problems]) == (None, ["which_day"])


@pytest.mark.parametrize(
    ("text", "language", "dates"),
    [
        ("I've got a tummy bug, won't be in today", "en", ("2026-11-23", "2026-11-23")),
        ("am donnerstag bin ich nicht da, tochter krank", "de", ("2026-11-26", "2026-11-26")),
        ("j'ai de la fièvre, je reste au lit aujourd'hui", "fr", ("2026-11-23", "2026-11-23")),
    ],
)
def test_who_will_not_be_there_is_sick_on_those_days(
    text: str, language: str, dates: tuple[str, str]
) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.problems, dates_of(leave)) == ("sick", (), dates)


def test_please_is_no_reason() -> None:
    leave = typed("del 7 al 9 de diciembre, por favor", "es")

    assert (leave.note, leave.problems) == (None, ())


def test_who_comes_at_noon_is_off_in_the_morning() -> None:
    leave = typed("übermorgen Augenarzt, komme erst gegen Mittag", "de")

    assert (leave.note, leave.problems) == ("Augenarzt", ())
    assert (dates_of(leave), leave.end_half_day) == (("2026-11-25", "2026-11-25"), "am")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("my son is ill, need tommorow off", "en"),
        ("mein sohn ist krank, bin morgne nicht da", "de"),
        ("mon fils est malade, je serai pas là demian", "fr"),
        ("mi hijo está malo, mañna no voy", "es"),
    ],
)
def test_a_typing_error_beside_an_errand_is_forgiven(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.problems, leave.note) == ((), text.partition(",")[0])
    assert dates_of(leave) == ("2026-11-24", "2026-11-24")


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ("pls book me off 7th &amp; 8th jan", "en", "2027-01-07", "2027-01-08"),
        ("bitte trag mir den 7. und 8. januar als urlaub ein", "de", "2027-01-07", "2027-01-08"),
        ("tu peux me poser le 7 et le 8 janvier stp", "fr", "2027-01-07", "2027-01-08"),
        ("puedes apuntarme el 7 y el 8 de enero", "es", "2027-01-07", "2027-01-08"),
        ("fuera del 21/12 al 24/12 ambos incluidos", "es", "2026-12-21", "2026-12-24"),
        ("21 to 24 dec, both inclusive", "en", "2026-12-21", "2026-12-24"),
    ],
)
def test_days_are_asked_for_in_everyday_words(
    text: str, language: str, first: str, last: str
) -> None:
    assert command_of(text) is None
    assert dates_of(typed(text, language)) == (first, last)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("je voudrais partir jeudi à midi", "fr"),
        ("quiero salir el jueves a mediodía", "es"),
        ("leaving thursday at noon", "en"),
        ("ich gehe donnerstag mittag", "de"),
    ],
)
def test_leaving_at_noon_is_an_afternoon_off(text: str, language: str) -> None:
    leave = typed(text, language)

    assert dates_of(leave) == ("2026-11-26", "2026-11-26")
    assert leave.start_half_day == "pm"


@pytest.mark.parametrize(
    "text",
    [
        "how much holiday would i have left if i took christmas week",
        "wie viel urlaub habe ich noch, wenn ich freitag frei nehme",
        "combien de jours me reste-t-il si je prends vendredi",
        "cuántos días me quedan si cojo la última semana de diciembre",
    ],
)
def test_what_would_be_left_is_not_answered_by_what_is_left(text: str) -> None:
    assert command_of(text) == Command(name="what_if")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("i don't need the 11th of december off anymore", "11th of december"),
        ("den freien tag am 11. dezember brauch ich doch nicht", "am 11. dezember"),
        ("finalement je n'ai plus besoin du 11 décembre, annule", "du 11 décembre"),
        ("al final no necesito el 11 de diciembre, anúlalo", "el 11 de diciembre"),
    ],
)
def test_leave_that_is_not_needed_is_to_be_cancelled(text: str, days: str) -> None:
    question = question_of(text)

    assert question is not None
    assert (question.name, question.when) == ("cancel", days)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("i'm only working the morning on friday", "en"),
        ("freitag nur vormittags arbeiten", "de"),
        ("vendredi je ne travaille que le matin", "fr"),
        ("el viernes solo trabajo por la mañana", "es"),
    ],
)
def test_who_works_only_in_the_morning_is_off_in_the_afternoon(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.problems, dates_of(leave)) == ((), ("2026-11-27", "2026-11-27"))
    assert leave.start_half_day == "pm"


@pytest.mark.parametrize(
    "text",
    [
        "when's chloe on holiday next",
        "wann hat chloe das nächste mal urlaub",
        "chloe est en vacances quand ?",
        "¿cuándo tiene vacaciones chloe?",
        "is chloe back yet",
        "ist chloe schon zurück",
        "chloe est déjà rentrée ?",
        "¿ha vuelto ya chloe?",
    ],
)
def test_when_a_person_is_off_next_is_asked_without_days(text: str) -> None:
    question = question_of(text)

    assert question is not None
    assert (question.name, question.who) == ("person_back", "chloe")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("who works on friday", "on friday"),
        ("wer arbeitet am freitag", "am freitag"),
        ("qui travaille vendredi ?", "vendredi"),
        ("¿quién trabaja el viernes?", "el viernes"),
    ],
)
def test_who_works_is_told_by_who_is_off(text: str, rest: str) -> None:
    assert command_of(text) == Command(name="out", rest=rest)


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ("over new year", "en", date(2027, 1, 1), date(2027, 1, 1)),
        ("über silvester", "de", date(2026, 12, 31), date(2026, 12, 31)),
        ("en nochevieja", "es", date(2026, 12, 31), date(2026, 12, 31)),
        ("pour l'an prochain", "fr", date(2027, 1, 1), date(2027, 12, 31)),
        ("in 2028", "en", date(2028, 1, 1), date(2028, 12, 31)),
        # A request for these days would ask which week is meant.
        ("the first week of july", "en", date(2027, 7, 1), date(2027, 7, 9)),
        ("the last week of august", "en", date(2027, 8, 23), date(2027, 8, 31)),
    ],
)
def test_a_question_is_about_a_holiday_a_year_or_a_week(
    text: str, language: str, first: date, last: date
) -> None:
    context = ParsingContext(
        today=TODAY,
        leave_types=[],
        is_month_first=False,
        weekdays=frozenset(range(5)),
        language=language,
    )

    assert period_in(text, context) == (first, last)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("daughter is ill, not coming in tomorrow", "en"),
        ("komme morgen nicht, tochter hat fieber", "de"),
        ("je ne viens pas demain, ma fille a de la fièvre", "fr"),
        ("mañana no voy, mi hija tiene fiebre", "es"),
    ],
)
def test_a_child_with_a_fever_is_sick_leave(text: str, language: str) -> None:
    leave = typed(text, language)

    assert (leave.leave_type_id, leave.problems) == ("sick", ())
    assert dates_of(leave) == ("2026-11-24", "2026-11-24")


@pytest.mark.parametrize(
    "text",
    [
        "what have i got left for 2027",
        "wie viel bleibt mir 2027",
        "combien me restera-t-il en 2027",
        "cuántos días tendré en 2027",
    ],
)
def test_what_is_left_of_a_year_is_a_balance(text: str) -> None:
    command = command_of(text)

    assert command is not None
    assert command.name == "balance"
    assert command.rest.endswith("2027")
