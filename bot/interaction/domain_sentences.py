"""The domain's sentences in the current language, with figures formatted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

from bot.base.language import gettext, gettext_noop
from bot.blocks import words
from storage.base.errors import Days, Figure, HalfDays, Sentence

# Domain sentences that Slack replaces: forms show labels instead of field names, and need fewer
# details than REST.
IN_SLACK: Final[Mapping[str, str]] = {
    "The last day ({end_date}) is before the first day ({start_date}).": gettext_noop(
        "The last day is before the first day."
    ),
    "{day} is too far away. Use a date from {earliest} to {latest}.": gettext_noop(
        "Choose a day within two years of today."
    ),
    "{field} is required.": gettext_noop("Fill this in."),
    "{field} cannot be null.": gettext_noop("Fill this in."),
    "{field} must be true or false.": gettext_noop("Choose one."),
    "{field} must be a time as HH:MM, such as 09:00.": gettext_noop("Enter a time such as 09:00."),
    "{field} must be a whole number from {least} to {most}.": gettext_noop(
        "Enter a whole number from {least} to {most}."
    ),
    "{field} must have 1 to {most} characters.": gettext_noop("Use 1 to {most} characters."),
    "{field} can have at most {most} characters.": gettext_noop("Use at most {most} characters."),
    "{field} contains the invisible character {character}. Remove it.": gettext_noop(
        "Remove the invisible character {character}, or type this again."
    ),
    "{field} must be an e-mail address such as ada@example.com.": gettext_noop(
        "Enter an e-mail address such as ada@example.com."
    ),
    "{field} needs at least one letter or digit that can be seen.": gettext_noop(
        "Use at least one letter or digit that can be seen."
    ),
    "{field} mixes letters of different alphabets before the @. Type it again in one alphabet.": (
        gettext_noop(
            "This mixes letters of different alphabets before the @. Type it again in one alphabet."
        )
    ),
    "There is no field {field}.": gettext_noop("This cannot be changed."),
    "A leave year cannot start on day {day} of month {month}.": gettext_noop(
        "A leave year can't start on this day. Choose another day or month."
    ),
    "There is no leave type with this id. GET /api/v1/leave-types lists the leave types "
    "({codes}).": gettext_noop("This leave type no longer exists. Choose another one."),
    "The person is {status} and cannot have a key.": gettext_noop(
        "This person is deactivated and can't have a key."
    ),
    "The webhook is disabled. PATCH it with `is_active` true first.": gettext_noop(
        "Switch the webhook on first."
    ),
}


def translated(sentence: str) -> str:
    """A domain sentence in the current language, with its figures formatted."""
    if not isinstance(sentence, Sentence):
        return gettext(sentence)
    template = IN_SLACK.get(sentence.template, sentence.template)
    return gettext(template, **{name: _figure(figure) for name, figure in sentence.figures.items()})


def _figure(figure: Figure) -> str:
    match figure:
        case HalfDays():
            return words.amount(int(figure))
        case int():
            return words.number(figure)
        case date():
            return words.day(figure)
        case Days():
            return words.few_runs(figure)
        case tuple():
            return ", ".join(figure)
    return figure
