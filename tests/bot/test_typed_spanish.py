"""Spanish sentences, with and without accents, for people whose Slack is in Spanish."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing import typed_phrases, typed_questions, typed_work
from bot.parsing.languages import in_english
from bot.parsing.typed_leave import ParsedLeave, ParsingContext
from bot.parsing.typed_work import language_of
from tests.bot.test_typed_leave import dates_of, parsed

# A Wednesday.
TODAY = date(2026, 11, 25)
HOLIDAYS = {"easter monday": date(2027, 3, 29), "good friday": date(2027, 3, 26)}


def spanish(typed: str, today: date = TODAY) -> ParsedLeave:
    return parsed(typed, today=today, language="es", main_type_id="annual", holidays=HOLIDAYS)


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("del 3 al 7 de agosto", "2027-08-03", "2027-08-07"),
        ("3 al 7 de agosto", "2027-08-03", "2027-08-07"),
        ("3-7 ago", "2027-08-03", "2027-08-07"),
        ("del martes 1 al jueves 3 de diciembre", "2026-12-01", "2026-12-03"),
        ("el 24 dic.", "2026-12-24", "2026-12-24"),
        ("jueves 24 de diciembre de 2026", "2026-12-24", "2026-12-24"),
        ("del 28 de diciembre al 4 de enero", "2026-12-28", "2027-01-04"),
        ("del 21 de diciembre al 3 de enero inclusive", "2026-12-21", "2027-01-03"),
        ("el 1º de diciembre", "2026-12-01", "2026-12-01"),
        ("primero de mayo", "2027-05-01", "2027-05-01"),
        ("el 30", "2026-11-30", "2026-11-30"),
        ("lunes 30", "2026-11-30", "2026-11-30"),
        ("mar 1", "2026-12-01", "2026-12-01"),
        ("del 26 al 27", "2026-11-26", "2026-11-27"),
        ("del día 3 al 7 de diciembre", "2026-12-03", "2026-12-07"),
        ("3 y 4 de diciembre", "2026-12-03", "2026-12-04"),
        ("mañana", "2026-11-26", "2026-11-26"),
        ("manana", "2026-11-26", "2026-11-26"),
        ("pasado mañana", "2026-11-27", "2026-11-27"),
        ("de hoy al viernes", "2026-11-25", "2026-11-27"),
        ("desde mañana hasta el viernes", "2026-11-26", "2026-11-27"),
        ("este viernes", "2026-11-27", "2026-11-27"),
        ("el próximo lunes", "2026-11-30", "2026-11-30"),
        ("el lunes que viene", "2026-11-30", "2026-11-30"),
        ("lunes y martes que viene", "2026-11-30", "2026-12-01"),
        ("de lunes a miércoles", "2026-11-30", "2026-12-02"),
        ("de lunes a miercoles", "2026-11-30", "2026-12-02"),
        ("lun - mié", "2026-11-30", "2026-12-02"),
        ("la semana que viene", "2026-11-30", "2026-12-04"),
        ("la próxima semana", "2026-11-30", "2026-12-04"),
        ("el jueves de la semana que viene", "2026-12-03", "2026-12-03"),
        ("la semana del 14 de diciembre", "2026-12-14", "2026-12-18"),
        ("semana 51", "2026-12-14", "2026-12-18"),
        ("tres días a partir del lunes", "2026-11-30", "2026-12-02"),
        ("2 semanas desde el 14 de diciembre", "2026-12-14", "2026-12-25"),
        ("dentro de dos días", "2026-11-27", "2026-11-27"),
        ("entre Navidad y Año Nuevo", "2026-12-25", "2027-01-01"),
        ("entre navidad y reyes", "2026-12-25", "2027-01-06"),
        ("el resto de la semana", "2026-11-25", "2026-11-27"),
        ("el lunes de pascua", "2027-03-29", "2027-03-29"),
        ("todo agosto", "2027-08-01", "2027-08-31"),
        ("la última semana de diciembre", "2026-12-28", "2026-12-31"),
        ("el viernes pasado", "2026-11-20", "2026-11-20"),
    ],
)
def test_days_are_understood_in_spanish(typed: str, first: str, last: str) -> None:
    leave = spanish(typed)

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize(
    ("typed", "day", "half"),
    [
        ("mañana por la mañana", "2026-11-26", "am"),
        ("mañana por la tarde", "2026-11-26", "pm"),
        ("manana por la manana", "2026-11-26", "am"),
        ("el lunes por la mañana", "2026-11-30", "am"),
        ("la mañana del lunes", "2026-11-30", "am"),
        ("la tarde del 30", "2026-11-30", "pm"),
        ("viernes tarde", "2026-11-27", "pm"),
        ("esta tarde", "2026-11-25", "pm"),
        ("esta mañana", "2026-11-25", "am"),
    ],
)
def test_manana_is_tomorrow_or_the_morning(typed: str, day: str, half: str) -> None:
    leave = spanish(typed)

    assert (dates_of(leave), leave.problems) == ((day, day), ())
    assert leave.start_half_day == (half if half == "pm" else None)
    assert leave.end_half_day == (half if half == "am" else None)


@pytest.mark.parametrize(
    ("typed", "code", "note"),
    [
        ("Hola, quería pedir vacaciones del 3 al 14 de agosto, ¡gracias!", "annual", None),
        ("¿Puedo coger el viernes libre?", None, None),
        ("me gustaría tomarme la semana que viene", None, None),
        ("no estaré mañana", None, None),
        ("hoy no voy", None, None),
        ("hoy no puedo ir, estoy malo", "sick", None),
        ("me encuentro mal hoy", "sick", None),
        ("enferma hoy", "sick", None),
        ("estoy de baja desde ayer", "sick", None),
        ("enfermo desde el lunes", "sick", None),
        ("de baja desde el lunes hasta el viernes", "sick", None),
        ("permiso sin sueldo mañana", "unpaid", None),
        ("vacaciones el viernes por motivos personales", "annual", "motivos personales"),
        ("viernes, mudanza", None, "mudanza"),
        ("el lunes por la mañana tengo médico", None, "médico"),
    ],
)
def test_polite_spanish_is_understood(typed: str, code: str | None, note: str | None) -> None:
    leave = spanish(typed)

    assert leave.start_date is not None
    assert (leave.leave_type_id, leave.note, leave.problems) == (code, note, ())


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("viernes próximo", "which_day"),
        ("a partir del lunes", "which_last_day"),
        ("medio día mañana", "which_part_of_day"),
        ("4 días desde el viernes", "which_length"),
        ("lunes y jueves", "several_days"),
        ("viernes mañana", "several_days"),
        ("todos los viernes", "unknown"),
        ("fin de semana", "unknown"),
        ("a finales de diciembre", "unknown"),
        ("el puente de diciembre", "unknown"),
        ("viernes por la noche", "unknown"),
        ("el viernes no", "unknown"),
        ("mañana o pasado", "unknown"),
    ],
)
def test_ambiguous_spanish_is_a_problem(typed: str, kind: str) -> None:
    leave = spanish(typed)

    assert [problem.kind for problem in leave.problems] == [kind]
    assert leave.start_date is None or kind == "which_part_of_day"


@pytest.mark.parametrize("typed", ["mañana", "del 3 al 7 de agosto", "pasado mañana"])
def test_readers_of_other_languages_cannot_type_spanish(typed: str) -> None:
    for language in ("en", "de"):
        assert parsed(typed, today=TODAY, language=language).start_date is None


@pytest.mark.parametrize(
    ("typed", "name", "rest"),
    [
        ("ayuda", "help", ""),
        ("¿cómo funciona?", "help", ""),
        ("mi saldo", "balance", ""),
        ("saldo el 31 de diciembre", "balance", "el 31 de diciembre"),
        ("saldo de 2027", "balance", "2027"),
        ("¿Cuántos días me quedan?", "balance", ""),
        ("cuantos dias de vacaciones tengo en 2027", "balance", "en 2027"),
        ("¿me quedan vacaciones?", "balance", ""),
        ("¿quién está fuera?", "out", ""),
        ("Hola, ¿quién está de vacaciones mañana?", "out", "mañana"),
        ("¿quién no está el viernes?", "out", "el viernes"),
        ("quien teletrabaja mañana", "out", "mañana"),
        ("¿hay alguien fuera la semana que viene?", "out", "la semana que viene"),
        ("fuera mañana", "out", "mañana"),
        ("mis vacaciones", "mine", ""),
        ("¿cuándo estoy de vacaciones?", "mine", ""),
        ("cancelar mis vacaciones", "cancel", ""),
        ("quiero cancelar", "cancel", ""),
    ],
)
def test_spanish_commands_and_questions_are_understood_from_everyone(
    typed: str, name: str, rest: str
) -> None:
    command = typed_phrases.command_of(typed)

    assert command is not None
    assert (command.name, command.rest) == (name, rest)


@pytest.mark.parametrize(
    ("typed", "name", "who", "when"),
    [
        ("¿Cuándo vuelve Ana?", "person_back", "ana", ""),
        ("¿hasta cuándo está Ana fuera?", "person_back", "ana", ""),
        ("¿Está Ana de vacaciones mañana?", "person_in", "ana", "mañana"),
        ("¿está fuera Ana?", "person_in", "ana", ""),
        ("¿viene Ana el viernes?", "person_in", "ana", "el viernes"),
        ("¿cuándo es el próximo festivo?", "holidays", "", ""),
        ("festivos en diciembre", "holidays", "", "en diciembre"),
        ("¿es festivo el lunes?", "holiday", "", "el lunes"),
        ("¿el lunes es festivo?", "holiday", "", "el lunes"),
        ("¿tengo algo reservado en diciembre?", "booked", "", "en diciembre"),
        ("¿estaré fuera el lunes?", "me", "", "el lunes"),
        ("¿quién aprueba mis vacaciones?", "approvers", "", ""),
        ("¿puedo cambiar mis vacaciones de agosto?", "change", "", "de agosto"),
        ("quiero cancelar mis vacaciones de agosto", "cancel", "", "de agosto"),
    ],
)
def test_spanish_questions_are_understood(typed: str, name: str, who: str, when: str) -> None:
    question = typed_questions.question_of(typed)

    assert question is not None
    assert (question.name, question.who, question.when) == (name, who, when)


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "estoy fuera mañana",
            "mañana no estoy",
            "¿hay alguien fuera mañana?",
            "tengo vacaciones",
        ),
        *(
            "vacaciones del 3 al 7 de agosto",
            "¿quién está fuera?",
            "estoy de baja hasta el viernes",
        ),
    ],
)
def test_spanish_leave_is_no_question_about_people(typed: str) -> None:
    assert typed_questions.question_of(typed) is None


@pytest.mark.parametrize(
    "typed", ["estaré fuera mañana", "mis vacaciones del 3 al 7 de agosto", "ausencia mañana"]
)
def test_spanish_leave_is_no_command(typed: str) -> None:
    assert typed_phrases.command_of(typed) is None


@pytest.mark.parametrize(
    ("typed", "is_request"),
    [
        ("Puedo coger el viernes", True),
        ("¿me puedo tomar el viernes?", True),
        ("es posible coger el viernes", True),
        ("¿el viernes?", True),
        ("quién decide mis vacaciones", False),
        ("¿cuándo vuelve Ana?", False),
    ],
)
def test_spanish_questions_are_told_from_requests(typed: str, *, is_request: bool) -> None:
    assert typed_phrases.is_question(typed)
    assert typed_phrases.is_request(typed) is is_request


def test_spanish_words_of_the_command_are_known_without_accents() -> None:
    assert [in_english(word) for word in ("equipo", "proxima semana", "ayuda", "lunes")] == [
        *("team", "next week", "help", "lunes"),
    ]


def test_work_for_time_in_lieu_is_typed_in_spanish() -> None:
    context = ParsingContext(
        today=TODAY, leave_types=[], is_month_first=False, weekdays=frozenset(range(5))
    )

    work = typed_work.parse("he trabajado el sábado 1,5 días por la entrega", context)

    assert (work.worked_on, work.days, work.reason) == (date(2026, 11, 21), 1.5, "la entrega")
    assert language_of("trabaje el sábado medio día") == "es"
    assert language_of("trabajé desde casa ayer") is None


@given(
    st.dates(date(2027, 1, 1), date(2027, 12, 1)),
    st.integers(1, 20),
    st.sampled_from(["d 'de' MMMM 'de' y", "EEEE d 'de' MMMM 'de' y", "EEE d MMM y", "dd/MM/y"]),
    st.sampled_from([("del ", " al "), ("", " - "), ("vacaciones desde el ", " hasta el ")]),
)
def test_days_in_spanish_formats_are_filled_in(
    first: date, length: int, pattern: str, joiners: tuple[str, str]
) -> None:
    last = first + timedelta(days=length)
    from_, to = (format_date(day, pattern, locale="es") for day in (first, last))

    leave = spanish(f"{joiners[0]}{from_}{joiners[1]}{to}")

    assert (leave.start_date, leave.end_date) == (first, last)


WORDS = st.sampled_from(
    ["del", "al", "a", "de", "el", "3", "7", "agosto", "lunes", "viernes", "próximo", "mañana"]
    + ["por la tarde", "mediodía", "semana", "que viene", "la", "vacaciones", "baja", "salvo", "y"]
    + ["por", "pasado", "días", "dos", "Navidad", "hasta", "desde", "enfermo", "mar", "1º", "entre"]
)


@given(st.lists(WORDS, max_size=9), st.dates(date(2020, 1, 1), date(2035, 1, 1)))
def test_any_spanish_words_give_valid_leave_or_say_why_not(words: list[str], today: date) -> None:
    leave = spanish(" ".join(words), today)

    assert (leave.start_date is None) == (leave.end_date is None)
    if leave.start_date is not None and leave.end_date is not None:
        assert leave.start_date <= leave.end_date
    elif leave.is_about_leave and any(word in words for word in ("lunes", "viernes", "mañana")):
        assert leave.problems
