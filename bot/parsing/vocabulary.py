"""The words of one language that typed leave may contain. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from babel import Locale

from storage.base.leave_values import HalfDay

# "coming" is the first such day after today, "next" the one in the next week; "next_or_coming" may
# mean either.
MAIN: Final = "main"
WhichWeek = Literal["this", "next", "last", "coming", "next_or_coming", "after_coming"]
# Parts of a month, or of the end of a year.
PeriodKind = Literal[
    "month",
    "first_week",
    "last_week",
    "first_weeks",
    "last_weeks",
    "first_half",
    "second_half",
    "this_month",
    "next_month",
    "month_end",
    "year_end",
    "christmas",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The vocabulary of one language, or of several combined.

    ``leave_words`` only show that the text is about leave, unless a leave type has that name.
    ``type_words`` stand for the leave type with a code, or for the main one (``MAIN``).
    ``courtesies`` are removed and ``rewrites`` replaced before anything else; their keys are
    regular expressions. ``rest_of_week`` are expressions for today until the last working day,
    ``week_after_next`` for the working days in two weeks.
    ``holiday_names`` are names of public holidays: a day and month in English, or the name that the
    person's calendar has.
    ``numbered_week`` stands before the number of a calendar week. ``before`` and ``after`` stand
    between a weekday and a date, ``back`` beside the day on which the person works again.
    ``ordinal_endings`` make a number the day of a month. ``exceptions`` are not understood, and
    neither are the days beside them.
    ``reasons`` begin the reason of the leave. ``moving`` words say when or how long without being
    understood, such as "noon", so that nothing is guessed beside them.
    ``prepositions`` look like halves but mean nothing before a day or half, like "am" in German.
    ``articles`` may stand before the number of a day, ``of`` before its month and year.
    ``week_after`` stands behind a weekday, or ``week_before`` before one, that is a week after the
    coming one. ``periods`` are regular expressions of parts of a month, in which ``{month}`` stands
    for the month and ``{number}`` for how many weeks; ``next_year`` comes after a month;
    ``asked_periods`` are further ones of questions, where nothing is requested.
    ``lookalikes`` are words that a typing error in a word of another meaning would look like, so
    they are never taken for one: "mourning". ``errands`` are regular
    expressions of reasons that may come first: "dentist tomorrow morning". ``past`` words tell that
    the leave is over, and
    the regular expressions ``ahead`` that it has not begun: "I won't make it on friday".
    """

    months: dict[str, int]
    weekdays: dict[str, int]
    days_from_today: dict[str, int]
    halves: dict[str, HalfDay]
    unnamed_halves: tuple[str, ...]
    numbers: dict[str, int]
    which_week: dict[str, WhichWeek]
    to: tuple[str, ...]
    since: tuple[str, ...]
    starting: tuple[str, ...]
    within: tuple[str, ...]
    one_day: tuple[str, ...]
    day_units: tuple[str, ...]
    week_units: tuple[str, ...]
    week_of: tuple[str, ...]
    numbered_week: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    back: tuple[str, ...]
    ordinal_endings: tuple[str, ...]
    exceptions: frozenset[str]
    fillers: frozenset[str]
    leave_words: frozenset[str]
    type_words: dict[str, str]
    courtesies: tuple[str, ...]
    rewrites: dict[str, str]
    rest_of_week: tuple[str, ...]
    week_after_next: tuple[str, ...]
    holiday_names: dict[str, str]
    also: tuple[str, ...]
    reasons: tuple[str, ...]
    moving: frozenset[str]
    prepositions: frozenset[str] = frozenset()
    articles: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    week_after: tuple[str, ...] = ()
    week_before: tuple[str, ...] = ()
    periods: tuple[tuple[PeriodKind, str], ...] = ()
    asked_periods: tuple[tuple[PeriodKind, str], ...] = ()
    next_year: tuple[str, ...] = ()
    lookalikes: frozenset[str] = frozenset()
    errands: tuple[str, ...] = ()
    past: frozenset[str] = frozenset()
    ahead: tuple[str, ...] = ()


# The last asks what would be left after leave that is not requested.
CommandName = Literal["help", "balance", "out", "mine", "cancel", "what_if"]
# Whether a person is in, when they are back, whether the reader works, what they have booked, the
# next public holidays, whether a day is one, who approves, and how to change or cancel leave.
QuestionName = Literal[
    "person_in",
    "person_back",
    "me",
    "booked",
    "holidays",
    "holiday",
    "approvers",
    "change",
    "cancel",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrases:
    """What is said to Hiatus in one language, and understood from everyone.

    So no phrase may mean anything else in another language. All but the keys of ``in_english`` are
    regular expressions. ``greetings`` come before a question, and ``subjects`` after the verb of
    one. ``asking`` begin a question, ``asking_verbs`` only before a subject; ``requesting`` and
    ``requesting_verbs`` one that may ask for leave. ``worked`` begins work for time in lieu, unless
    ``from_home`` follows; ``before_amount``, ``half``, ``one``, ``two`` and ``day_units`` tell how
    much, ``before_reason`` what for. ``off`` comes after the name of a person who is off.
    ``home_office_fillers`` mean nothing beside ``home_office``. ``questions`` have ``{who}`` in
    place of a name, ``{when}`` for days at their end, or none, with the space before them, and
    ``{before}`` for days elsewhere with the space after them. ``in_english`` has the words of the
    command, its calendar, balances and days, each with the English one.
    """

    commands: tuple[tuple[CommandName, str], ...]
    greetings: tuple[str, ...]
    subjects: tuple[str, ...]
    asking: tuple[str, ...]
    asking_verbs: tuple[str, ...]
    requesting: tuple[str, ...]
    requesting_verbs: tuple[str, ...]
    worked: str
    from_home: tuple[str, ...]
    before_amount: tuple[str, ...]
    before_reason: tuple[str, ...]
    day_units: tuple[str, ...]
    half: str
    one: str
    two: str
    off: tuple[str, ...]
    home_office: tuple[str, ...]
    home_office_fillers: frozenset[str]
    in_english: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[tuple[QuestionName, str], ...] = ()


def names(language: str, kind: Literal["months", "days"]) -> dict[str, int]:
    """Babel's names and abbreviations without dots; Monday is 0, January is 1."""
    names_by_form = getattr(Locale.parse(language), kind)
    return {
        name.casefold().rstrip("."): number
        for form in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in names_by_form[form][width].items()
    }
