"""Parses text typed after the command as leave: days, halves and a type. Pure.

Only unambiguous text is parsed; everything else becomes a problem that says why it was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, get_args

from bot.typed import typed_days, typed_terms, typed_types
from bot.typed.phrases import rewriting
from bot.typed.problems import Problem, Unclear
from bot.typed.typed_halves import Span
from bot.typed.typed_patterns import Joiner
from bot.typed.typed_terms import Day, Term, Word
from bot.typed.typed_types import Mention, TypeNames
from bot.typed.words.languages import words_of
from bot.typed.words.vocabulary import Words
from storage.base.values import HalfDay, LeaveType

# The rest of longer text is not understood. Some letters become several when they are folded.
MAX_LENGTH: Final = 200
_ABOUT_TYPES: Final = ("which_type", "several_types")


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedLeave:
    """The parsed text; None where a part is absent or ambiguous.

    ``is_about_leave``: whether it mentions days, halves or leave types at all. ``otherwise`` are
    the days of the text without its unknown words, which may have changed them.
    """

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    leave_type_id: str | None = None
    problems: tuple[Problem, ...] = ()
    is_about_leave: bool = False
    otherwise: Span = Span()

    @property
    def unknown_words(self) -> str:
        """The words that were not understood."""
        unknown = [problem.typed for problem in self.problems if problem.kind == "unknown"]
        return " … ".join(unknown)

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
    vacation, ``holidays`` are the next public holidays by plain name.
    """

    today: date
    leave_types: Sequence[LeaveType]
    is_month_first: bool | None
    weekdays: frozenset[int]
    language: str = "en"
    main_type_id: str | None = None
    holidays: Mapping[str, date] = field(default_factory=dict)


def parse(typed: str, context: ParsingContext) -> ParsedLeave:
    """Parse typed leave: ``3-7 aug``, ``next fri pm sick``, ``24 dec - 2 jan unpaid``.

    Days without a year are the next such days; for a type that needs no approval, the latest.
    A half belongs to the day before it, or to the day after it if it comes first. Leave types are
    found by code, name or a prefix of either. If a word was not understood, no days are returned,
    because the word may change all of them.
    """
    folded = typed_types.plain(typed)
    text = rewriting.without_symbols(folded[:MAX_LENGTH])
    leave_types = [leave_type for leave_type in context.leave_types if not leave_type.is_archived]
    vocabulary = words_of(context.language)
    type_names = TypeNames(leave_types)
    text, mentions = type_names.phrases_of(text)
    text = rewriting.reduced(
        text,
        context.language,
        today=context.today,
        weekdays=context.weekdays,
        holidays=context.holidays,
    )
    terms, groups = typed_terms.terms_of(text, context.language)
    problems: list[Problem] = []
    synonyms: list[Mention] = []
    for words in groups:
        named, remaining = type_names.mentions_of(words, vocabulary.fillers)
        mentions += named
        meant, remaining = typed_types.synonyms_of(
            remaining, leave_types, vocabulary.type_words, context.main_type_id
        )
        synonyms += meant
        unknown = [
            word for word in remaining if word not in vocabulary.fillers | vocabulary.leave_words
        ]
        if unknown:
            problems.append(Problem(kind="unknown", typed=" ".join(unknown)))
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
    otherwise = span if _are_kept(terms, problems, vocabulary) else Span()
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
        is_about_leave=is_about_leave,
        otherwise=otherwise,
    )


def _are_kept(terms: Sequence[Term], problems: Sequence[Problem], words: Words) -> bool:
    """Whether the days are worth showing beside unknown words.

    Not beside a month or "except", or if they depend on another day: "friday after the 4th advent".
    """
    unknown = {word for problem in problems for word in problem.typed.split()}
    are_beside = any(
        isinstance(term, Word) and term.kind in ("before", "after", "back") for term in terms
    )
    moving = words.exceptions | words.months.keys()
    return not (unknown & moving or (problems and are_beside))


def _is_about_leave(term: Term) -> bool:
    return isinstance(term, Day) or term.kind not in get_args(Joiner)
