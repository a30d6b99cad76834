"""Parses text typed after the command as leave: days, halves and a type. Pure.

Only unambiguous text is parsed; everything else becomes a problem that says why it was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import islice
from typing import Final, get_args

from bot.parsing import (
    spelling,
    typed_dates,
    typed_days,
    typed_names,
    typed_periods,
    typed_phrases,
    typed_terms,
)
from bot.parsing.languages import LANGUAGES, in_english, words_of
from bot.parsing.typed_names import TypeMention, TypeNames, plain
from bot.parsing.typed_ranges import Span
from bot.parsing.typed_terms import (
    Day,
    Joiner,
    Problem,
    Term,
    Unclear,
    Word,
    any_of,
)
from storage.base.leave_values import HalfDay, LeaveType
from storage.calendars.absences import end_of_week

_ABOUT_TYPES: Final = ("which_type", "several_types", "no_home_office")


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedLeave:
    """The parsed text; None where a part is absent or ambiguous.

    ``is_about_leave``: whether it mentions days, halves or leave types at all. ``is_question``: it
    asks something, so it fills no form; ``asks_for_leave`` if the answer may offer one. ``note`` is
    the reason as typed. ``otherwise`` are the days
    of the text without its unknown words, unless one of these may change them. ``has_subject``: an
    unknown word comes before all others, and may be the person whose leave it is. ``further`` are
    later periods, which are requested on their own. ``corrected`` are words with a typing error,
    each with the word that it was taken for.
    """

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    leave_type_id: str | None = None
    problems: tuple[Problem, ...] = ()
    note: str | None = None
    is_about_leave: bool = False
    is_question: bool = False
    asks_for_leave: bool = False
    has_subject: bool = False
    otherwise: Span = Span()
    further: tuple[Span, ...] = ()
    corrected: tuple[tuple[str, str], ...] = ()

    @property
    def unknown_words(self) -> str:
        """The words that were not understood."""
        return " … ".join(self.unknown)

    @property
    def unknown(self) -> list[str]:
        """The same, one text for words in a row."""
        return [problem.typed for problem in self.problems if problem.kind == "unknown"]

    @property
    def fills_form(self) -> bool:
        """Whether it is a request that was understood."""
        is_possible = not (self.unknown or self.is_question or self.lacks_home_office)
        return self.is_about_leave and is_possible

    @property
    def lacks_home_office(self) -> bool:
        """Whether it asks for home office, for which there is no leave type."""
        return any(problem.kind == "no_home_office" for problem in self.problems)

    @property
    def has_unclear_days(self) -> bool:
        """Whether there were days, or possible days, that were not understood."""
        return self.start_date is None and any(
            problem.kind not in _ABOUT_TYPES for problem in self.problems
        )

    @property
    def has_unclear_type(self) -> bool:
        """Whether there were leave types of which one has to be chosen."""
        return any(problem.kind in _ABOUT_TYPES for problem in self.problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsingContext:
    """The context of the person who typed.

    ``today`` is in their time zone. ``is_month_first`` is None if their country writes dates
    either way. ``weekdays`` are their working days, Monday 0. ``language`` is theirs, such as
    ``de``; English is always understood, too. ``main_type_id`` is the leave type that people call
    vacation, ``holidays`` are the next public holidays by plain name. ``other_person`` is
    another person's name in the text, casefolded, else "". ``names`` are words that name people,
    so they are no typing errors. ``takes_several``: several periods are understood, for leave of
    one's own.
    """

    today: date
    leave_types: Sequence[LeaveType]
    is_month_first: bool | None
    weekdays: frozenset[int]
    language: str = "en"
    main_type_id: str | None = None
    holidays: Mapping[str, date] = field(default_factory=dict)
    other_person: str = ""
    names: frozenset[str] = frozenset()
    takes_several: bool = False


def parse(typed: str, context: ParsingContext) -> ParsedLeave:
    """Parse typed leave: ``3-7 aug``, ``next fri pm sick``, ``24 dec - 2 jan unpaid``.

    Days without a year are the next such days; for absences that need no approval, the latest.
    A half belongs to the day before it, or to the day after it if it comes first. Leave types are
    found by code, name or a prefix of either. If a word was not understood, no days are returned,
    because the word may change all of them.
    """
    leave_types = [leave_type for leave_type in context.leave_types if not leave_type.is_archived]
    vocabulary = words_of(context.language)
    type_names = TypeNames(leave_types)

    def reduced(text: str) -> str:
        return typed_phrases.reduced(
            text,
            context.language,
            today=context.today,
            weekdays=context.weekdays,
            holidays=context.holidays,
        )

    asked = typed
    problems: list[Problem] = []
    places: set[int] = set()
    if context.other_person:
        problems.append(Problem(kind="unknown", typed=context.other_person))
        places.add(0)
        name = re.escape(context.other_person)
        typed = re.sub(rf"(?<!\w){name}(?:['’]s)?(?!\w)", "", typed, count=1, flags=re.IGNORECASE)
    typed, note = split(typed, context.language, type_names, reduced)
    if note is None:
        typed, note = _without_errand(typed, context.language, type_names, reduced)
    folded = typed_names.plain(typed)
    text, corrected = spelling.corrected(
        folded[: typed_phrases.MAX_LENGTH], context.language, type_names, context.names
    )
    text = typed_phrases.without_symbols(text)
    text, mentions = type_names.phrases_of(text)
    period = typed_periods.unclear(text, context.language, context.today, context.weekdays)
    if period is not None:
        problem, text = period
        problems.append(problem)
    text = reduced(text)
    terms, groups = typed_terms.terms_of(text, context.language)
    synonyms: list[TypeMention] = []
    for group in groups:
        named, remaining = type_names.mentions_of(group.words, vocabulary.fillers)
        mentions += named
        meant, remaining = typed_names.synonyms_of(
            remaining, leave_types, vocabulary.type_words, context.main_type_id
        )
        synonyms += meant
        known = vocabulary.fillers | vocabulary.leave_words
        if any(mention.is_home_office for mention in mentions):
            known |= typed_names.HOME_OFFICE_FILLERS
        if group.terms_before == len(terms):
            # "Sick today because of flu".
            known |= {*" ".join(vocabulary.reasons).split()}
        unknown = [word for word in remaining if word not in known]
        if unknown:
            problems.append(Problem(kind="unknown", typed=" ".join(unknown)))
            places.add(group.terms_before)
    if len(folded) > typed_phrases.MAX_LENGTH:
        problems.append(Problem(kind="unknown", typed=folded[typed_phrases.MAX_LENGTH :]))
    mentions += typed_names.most_specific(synonyms, mentions, context.main_type_id)
    is_understood = not problems
    leave_type_id = None
    try:
        leave_type_id = typed_names.only_id(mentions)
    except Unclear as unclear:
        problems.append(unclear.problem)
    span = Span()
    further: list[Span] = []
    try:
        span, *further = _spans(
            terms,
            context,
            is_recorded=any(
                leave_type.id == leave_type_id
                and leave_type.is_away
                and not leave_type.requires_approval
                for leave_type in leave_types
            ),
            folded=folded,
        )
    except Unclear as unclear:
        problems.append(unclear.problem)
    is_kept = not span.problems and _are_kept(
        terms, problems, places, context, is_cut=len(folded) > typed_phrases.MAX_LENGTH
    )
    otherwise = span if is_kept else Span()
    if not is_understood:
        span, further = Span(), []
    is_about_leave = bool(mentions or period) or any(map(_is_about_leave, terms))
    return ParsedLeave(
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=span.start_half_day,
        end_half_day=span.end_half_day,
        leave_type_id=leave_type_id,
        problems=(*span.problems, *problems),
        note=note,
        is_about_leave=is_about_leave,
        is_question=typed_phrases.is_question(asked),
        asks_for_leave=typed_phrases.is_request(asked),
        has_subject=0 in places,
        otherwise=otherwise,
        further=tuple(further),
        corrected=corrected,
    )


def _spans(
    terms: Sequence[Term], context: ParsingContext, *, is_recorded: bool, folded: str
) -> list[Span]:
    """The only period, or several if they are understood. Raises Unclear.

    Leave that ``is_recorded`` without approval has begun, unless the text says otherwise.
    """
    prefers_past = is_recorded and not _ahead(context.language).search(folded)
    is_over = not words_of(context.language).past.isdisjoint(folded.split())
    today, is_month_first, weekdays = context.today, context.is_month_first, context.weekdays
    try:
        return [
            typed_days.span_of(
                terms,
                today,
                is_month_first,
                weekdays,
                prefers_past=prefers_past,
                ends_ahead=is_recorded and not is_over,
            )
        ]
    except Unclear as unclear:
        if unclear.problem.kind != "several_days" or not context.takes_several or prefers_past:
            raise
        try:
            return typed_days.spans_of(terms, today, is_month_first, weekdays)
        except Unclear:
            # The text as a whole is named, and not a part of it.
            raise unclear from None


@lru_cache
def _ahead(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{any_of(words_of(language).ahead)})(?!\w)")


def _are_kept(
    terms: Sequence[Term],
    problems: Sequence[Problem],
    places: Collection[int],
    context: ParsingContext,
    *,
    is_cut: bool,
) -> bool:
    """Whether the days are what is meant, whatever the unknown words mean.

    Not beside a word such as "except", within the days, or after a word that joins another day:
    "friday after the 4th advent". ``places`` are the numbers of terms before the unknown words.
    """
    if any(problem.kind != "unknown" for problem in problems) or is_cut:
        return False
    if problems and any(
        isinstance(term, Word) and term.kind in ("before", "after", "back") for term in terms
    ):
        return False
    if terms and len(terms) in places and _may_continue(terms[-1]):
        return False
    unknown = {word for problem in problems for word in problem.typed.split()}
    return {0, len(terms)}.issuperset(places) and not any(
        may_move(word, context.language) for word in unknown - {*context.other_person.split()}
    )


def _may_continue(term: Term) -> bool:
    """Whether the word after the term may belong to it: "until Easter", "the 4th Advent"."""
    if isinstance(term, Word):
        return term.kind in get_args(Joiner)
    return term.number is not None and term.month is None and term.weekday is None


def _is_about_leave(term: Term) -> bool:
    return isinstance(term, Day) or term.kind not in get_args(Joiner)


_AROUND: Final = " ,;.!?()-–—"
# Places at which a reason may begin.
_MAX_PLACES: Final = 4
# With fewer letters, too many words are like others.
_MIN_LETTERS: Final = 4
_MIN_LETTERS_TO_REPLACE: Final = 6
# The longest words that say when have 12.
_MAX_LETTERS: Final = 20
# Joiners that are common in reasons: "to the dentist", "kids and dog".
_HARMLESS: Final = frozenset(("to", "and", "und", "&", "before", "after", "vor", "nach"))


def split(
    typed: str, language: str, types: TypeNames, reduced: Callable[[str], str]
) -> tuple[str, str | None]:
    """The text without the reason at its end, and that reason.

    A reason begins after a comma, a dash, a bracket or "because". Nothing in it may be a day, a
    half, a leave type or a word that may change them. ``reduced`` removes politeness.
    """
    for place in islice(_begins(language).finditer(typed), _MAX_PLACES):
        reason = typed[place.end() :].strip(_AROUND)
        if len(reason) > typed_phrases.MAX_LENGTH:
            continue
        reason = _thanks(language).sub("", reason).strip(_AROUND)
        text = reduced(typed_phrases.without_symbols(plain(reason)))
        # "Sick because of flu" names the type twice; "sick, a bad cold" says more.
        before = plain(typed[: place.start()]) if " " in reason else ""
        named = _types_in(before, language, types)
        if _is_reason(text, language, types, named):
            return typed[: place.start()].rstrip(), unescaped(reason)
    return typed, None


def _without_errand(
    typed: str, language: str, types: TypeNames, reduced: Callable[[str], str]
) -> tuple[str, str | None]:
    """The text without the errand at its start or end, and the errand as its reason.

    An errand that names a leave type leaves its name: "my son is ill, home today".
    """
    match = next(filter(None, (each.search(typed) for each in _errands(language))), None)
    if match is None:
        return typed, None
    rest = " ".join(filter(None, (typed[: match.start("errand")], typed[match.end("errand") :])))
    text, _ = spelling.corrected(plain(rest), language, types)
    if not typed_terms.terms_of(reduced(text), language)[0]:
        return typed, None
    words = words_of(language)
    named = [
        word
        for word in plain(match["errand"]).split()
        if word in words.type_words or types.mentions_of([word], words.fillers)[0]
    ]
    return " ".join((*named, rest.lstrip(_AROUND))), unescaped(match["errand"])


@lru_cache
def _errands(language: str) -> Sequence[re.Pattern[str]]:
    """At the start, as a clause at the end, and between words: "tomorrow dentist, 9 am"."""
    words = words_of(language)
    errands, courtesies = any_of(words.errands), any_of(words.courtesies)
    return (
        re.compile(
            rf"\A(?:(?:{courtesies})[\s,.!]+)*+(?P<errand>{errands})(?=[\s,;:.])", re.IGNORECASE
        ),
        re.compile(rf"[,;.!]\s+(?P<errand>{errands})[\s.!]*\Z", re.IGNORECASE),
        re.compile(rf"(?<=\s)(?P<errand>{errands})(?=[\s,;.!]|\Z)", re.IGNORECASE),
    )


def unescaped(typed: str) -> str:
    """The text without Slack's escapes (docs.slack.dev, "Formatting message text")."""
    return typed.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@lru_cache
def _thanks(language: str) -> re.Pattern[str]:
    courtesies = any_of(words_of(language).courtesies)
    return re.compile(rf"[,;.!]\s*(?:{courtesies})[\s.!]*$", re.IGNORECASE)


@lru_cache
def _begins(language: str) -> re.Pattern[str]:
    reasons = any_of(words_of(language).reasons)
    return re.compile(
        rf"[,;(]\s*(?:(?:{reasons})\s)?|[:?!]\s|(?<=[^\W\d][^\W\d])\.\s|\s[-–—]+\s|\s(?:{reasons})\s",
        re.IGNORECASE,
    )


def _types_in(text: str, language: str, types: TypeNames) -> set[str]:
    """The codes of the leave types that the words of the plain text name."""
    words = words_of(language)
    typed = re.findall(r"[\w'-]+", text)
    mentions, _ = types.mentions_of(typed, words.fillers)
    codes = {leave_type.code for mention in mentions for leave_type in mention.matches}
    return codes | {words.type_words[word] for word in typed if word in words.type_words}


def _is_reason(text: str, language: str, types: TypeNames, named: Collection[str]) -> bool:
    """``named`` are the leave types before it, which it may name again: "sick, bad cold"."""
    words = words_of(language)
    without_types, phrases = types.phrases_of(text)
    terms, groups = typed_terms.terms_of(without_types, language)
    others = [word for group in groups for word in group.words]
    if phrases or not all(map(_is_harmless, terms)) or types.mentions_of(others, words.fillers)[0]:
        return False
    others_named = {words.type_words[word] for word in others if word in words.type_words}
    if others_named.difference(named) or any(may_move(word, language) for word in others):
        return False
    return any(letter.isalpha() for word in others for letter in word)


def _is_harmless(term: Term) -> bool:
    return term.typed in _HARMLESS


def may_move(word: str, language: str) -> bool:
    """Whether an unknown word may say when, or how long: a number, "noon", "except", "tomorow"."""
    words = words_of(language)
    if any(letter.isdigit() for letter in word) or (len(word) == 1 and word.isalpha()):
        return True
    parts = [part for part in re.split(r"[^\w']+", word) if part]
    return any(
        part in words.moving or part in words.exceptions or _is_misspelt(part, language)
        for part in parts
    )


def _is_misspelt(word: str, language: str) -> bool:
    """Whether it is one letter from a word that says when; two letters may be swapped."""
    known, shortened = _known(language)
    if len(word) > _MAX_LETTERS:
        return False
    if word in known or re.sub(r"(.)\1", r"\1", word) in known:
        return True
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    if not swapped.isdisjoint(known):
        return True
    if len(word) < _MIN_LETTERS:
        return False
    shorter = _shorter(word)
    return (
        word in shortened
        or not shorter.isdisjoint(known)
        or (len(word) >= _MIN_LETTERS_TO_REPLACE and not shorter.isdisjoint(shortened))
    )


@lru_cache
def _known(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that say when, and the same without each of their letters."""
    words = words_of(language)
    named = {*words.months, *words.weekdays, *words.days_from_today, *words.halves}
    named |= {*words.which_week, *words.day_units, *words.week_units, *words.moving}
    named |= {*words.since, *words.to, *words.starting, *words.back}
    known = frozenset(word for word in named if len(word) > 2 and word.isalpha())
    known |= {"am", "pm"} & words.halves.keys()
    return known, frozenset(
        shorter for word in known if len(word) > 3 for shorter in _shorter(word)
    )


def _shorter(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}


_TODAY: Final = frozenset(("", "today", "now", "right now", "heute", "gerade", "jetzt"))
# Calendar years ahead of the current one.
YEARS: Final[Mapping[str, int]] = {
    "this year": 0,
    "next year": 1,
    "last year": -1,
    "dieses jahr": 0,
    "nächstes jahr": 1,
    "letztes jahr": -1,
}
_PREPOSITION: Final = re.compile(
    r"\A(?:over|during|at|in|for|über|an|zu|im|für|en|por|para|durante|pendant|durant|pour|au|à)\s"
)
_WEEK: Final = frozenset(("week", "this week", "the week", "woche", "diese woche"))
# Longer periods are cut.
_MAX_PERIOD_DAYS: Final = 366


def period_in(typed: str, context: ParsingContext) -> tuple[date, date] | None:
    """The first and last day of a question; None if not understood. "" is today.

    In all languages for everyone, because nothing is requested.
    """
    words = in_english(typed_names.plain(typed))
    if words in _TODAY:
        return context.today, context.today
    if year := _year_in(words, context.today):
        return date(year, 1, 1), date(year, 12, 31)
    if words in _WEEK:
        return context.today, end_of_week(context.today)
    for language in dict.fromkeys((context.language, *LANGUAGES)):
        in_language = replace(context, language=language)
        found = _period_in(words, in_language)
        if found is None and (match := _PREPOSITION.match(words)):
            # "Over new year".
            found = _period_in(words[match.end() :], in_language)
        if found is not None:
            return found
    return None


def _year_in(words: str, today: date) -> int | None:
    """The calendar year that the plain text names: "for next year", "2027"."""
    name = in_english(_PREPOSITION.sub("", words))
    if re.fullmatch(r"20\d\d", name):
        return int(name)
    ahead = YEARS.get(name)
    return None if ahead is None else today.year + ahead


def _period_in(words: str, context: ParsingContext) -> tuple[date, date] | None:
    types = TypeNames([each for each in context.leave_types if not each.is_archived])
    text, _ = spelling.corrected(words, context.language, types, context.names)
    asked = typed_periods.asked(text, context.language, context.today, context.weekdays)
    if asked is not None:
        return asked
    leave = parse(words, context)
    if leave.problems or leave.note or leave.start_date is None or leave.end_date is None:
        return None
    return leave.start_date, min(
        leave.end_date, leave.start_date + timedelta(days=_MAX_PERIOD_DAYS)
    )


def day_in(typed: str, context: ParsingContext) -> date | None:
    """A day of that week, or of the first of a month; None if not understood.

    In all languages for everyone, because nothing is requested.
    """
    return next(
        (
            day
            for language in dict.fromkeys((context.language, *LANGUAGES))
            if (day := _day_in(typed, replace(context, language=language)))
        ),
        None,
    )


def _day_in(typed: str, context: ParsingContext) -> date | None:
    if match := _month(context.language).fullmatch(plain(typed)):
        month = words_of(context.language).months[match["month"]]
        return _of_month(month, match["year"], context.today)
    period = typed_periods.asked(plain(typed), context.language, context.today, context.weekdays)
    if period is not None:
        return period[0] if period[0] == period[1] else None
    leave = parse(typed, context)
    if [problem.kind for problem in leave.problems] == ["which_year"]:
        # Days of the current week that are over, as in "week 48".
        monday = typed_dates.monday(context.today)
        leave = parse(typed, replace(context, today=monday))
    return None if leave.problems or leave.leave_type_id else leave.start_date


@lru_cache
def _month(language: str) -> re.Pattern[str]:
    months = any_of(words_of(language).months)
    return re.compile(rf"(?:in |im |en )?(?P<month>{months})\.?(?: (?P<year>\d{{4}}))?")


def _of_month(month: int, year: str | None, today: date) -> date | None:
    """Today in the current month, else the Monday of the week with its first weekday."""
    if year is None and month == today.month:
        return today
    try:
        first = date(int(year or today.year + (month < today.month)), month, 1)
    except ValueError:
        return None
    return first + timedelta(days=2) if first.weekday() > 4 else first
