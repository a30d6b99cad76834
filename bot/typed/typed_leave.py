"""Parses text typed after the command as leave: days, halves and a type. Pure.

Only unambiguous text is parsed; everything else becomes a problem that says why it was not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, get_args

from bot.typed import typed_days, typed_notes, typed_terms, typed_types
from bot.typed.phrases import questions, rewriting
from bot.typed.problems import Problem, Unclear
from bot.typed.typed_halves import Span
from bot.typed.typed_patterns import Joiner
from bot.typed.typed_terms import Day, Term, Word
from bot.typed.typed_types import Mention, TypeNames
from bot.typed.words.languages import words_of
from storage.base.values import HalfDay, LeaveType

# The rest of longer text is not understood. Some letters become several when they are folded.
MAX_LENGTH: Final = 200
_ABOUT_TYPES: Final = ("which_type", "several_types")


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedLeave:
    """The parsed text; None where a part is absent or ambiguous.

    ``is_about_leave``: whether it mentions days, halves or leave types at all. ``is_question``: it
    asks something, so it fills no form; ``asks_for_leave`` if the answer may offer one. ``note`` is
    the reason as typed. ``otherwise`` are the days
    of the text without its unknown words, unless one of these may change them. ``has_subject``: an
    unknown word comes before all others, and may be the person whose leave it is.
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
        return self.is_about_leave and not self.unknown and not self.is_question

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
    another person's name in the text, casefolded, else "".
    """

    today: date
    leave_types: Sequence[LeaveType]
    is_month_first: bool | None
    weekdays: frozenset[int]
    language: str = "en"
    main_type_id: str | None = None
    holidays: Mapping[str, date] = field(default_factory=dict)
    other_person: str = ""


def parse(typed: str, context: ParsingContext) -> ParsedLeave:
    """Parse typed leave: ``3-7 aug``, ``next fri pm sick``, ``24 dec - 2 jan unpaid``.

    Days without a year are the next such days; for a type that needs no approval, the latest.
    A half belongs to the day before it, or to the day after it if it comes first. Leave types are
    found by code, name or a prefix of either. If a word was not understood, no days are returned,
    because the word may change all of them.
    """
    leave_types = [leave_type for leave_type in context.leave_types if not leave_type.is_archived]
    vocabulary = words_of(context.language)
    type_names = TypeNames(leave_types)

    def reduced(text: str) -> str:
        return rewriting.reduced(
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
    typed, note = typed_notes.split(typed, context.language, type_names, reduced)
    folded = typed_types.plain(typed)
    text = rewriting.without_symbols(folded[:MAX_LENGTH])
    text, mentions = type_names.phrases_of(text)
    text = reduced(text)
    terms, groups = typed_terms.terms_of(text, context.language)
    synonyms: list[Mention] = []
    for group in groups:
        named, remaining = type_names.mentions_of(group.words, vocabulary.fillers)
        mentions += named
        meant, remaining = typed_types.synonyms_of(
            remaining, leave_types, vocabulary.type_words, context.main_type_id
        )
        synonyms += meant
        known = vocabulary.fillers | vocabulary.leave_words
        if group.terms_before == len(terms):
            # "Sick today because of flu".
            known |= {*" ".join(vocabulary.reasons).split()}
        unknown = [word for word in remaining if word not in known]
        if unknown:
            problems.append(Problem(kind="unknown", typed=" ".join(unknown)))
            places.add(group.terms_before)
    if len(folded) > MAX_LENGTH:
        problems.append(Problem(kind="unknown", typed=folded[MAX_LENGTH:]))
    mentions += typed_types.most_specific(synonyms, mentions, context.main_type_id)
    is_understood = not problems
    leave_type_id = None
    try:
        leave_type_id = typed_types.only_id(mentions)
    except Unclear as unclear:
        problems.append(unclear.problem)
    span = Span()
    try:
        span = typed_days.span_of(
            terms,
            context.today,
            context.is_month_first,
            context.weekdays,
            prefers_past=any(
                leave_type.id == leave_type_id and not leave_type.requires_approval
                for leave_type in leave_types
            ),
        )
    except Unclear as unclear:
        problems.append(unclear.problem)
    is_kept = not span.problems and _are_kept(
        terms, problems, places, context, is_cut=len(folded) > MAX_LENGTH
    )
    otherwise = span if is_kept else Span()
    if not is_understood:
        span = Span()
    is_about_leave = bool(mentions) or any(map(_is_about_leave, terms))
    return ParsedLeave(
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=span.start_half_day,
        end_half_day=span.end_half_day,
        leave_type_id=leave_type_id,
        problems=(*span.problems, *problems),
        note=note,
        is_about_leave=is_about_leave,
        is_question=questions.is_question(asked),
        asks_for_leave=questions.is_request(asked),
        has_subject=0 in places,
        otherwise=otherwise,
    )


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
        typed_notes.may_move(word, context.language)
        for word in unknown - {*context.other_person.split()}
    )


def _may_continue(term: Term) -> bool:
    """Whether the word after the term may belong to it: "until Easter", "the 4th Advent"."""
    if isinstance(term, Word):
        return term.kind in get_args(Joiner)
    return term.number is not None and term.month is None and term.weekday is None


def _is_about_leave(term: Term) -> bool:
    return isinstance(term, Day) or term.kind not in get_args(Joiner)
