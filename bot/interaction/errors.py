"""Refusals in the words that people read in Slack: one table, a sentence for each type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import Any, Final

import structlog
from slack_bolt.response import BoltResponse

from bot.base import ids
from bot.base.language import later, say
from bot.client import slack_web
from bot.views import words
from bot.views.request_form import FIELDS
from storage.access.feeds import FeedTokenUnreadable, TooManyFeeds
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.admin.holiday_overrides import TooManyOverrides
from storage.admin.holiday_set_removal import HolidaySetInUse
from storage.admin.people import UserArchived, UserPending
from storage.base import errors
from storage.base.errors import Figure, HalfDays, InvalidInput, Refusal, Sentence
from storage.directory.people_rows import ChangedMeanwhile
from storage.events.deliveries import WebhookDisabled
from storage.events.webhooks import TooManyWebhooks
from storage.leave.adjustments import TooManyAdjustments
from storage.leave.leave_requests import NotYourApproval
from storage.slack.provisioning import NotAMember
from storage.slack.slack_installations import NotLinked

_log = structlog.stdlib.get_logger("hiatus.slack")

BROKEN: Final = later(
    "Something went wrong on our side, and nothing was changed. Please try again."
)
BUSY: Final = later("The database does not answer right now. Please try again in a minute.")
UNKNOWN_OUTCOME: Final = later(
    "The connection to the database broke while this was being saved, so I can't tell whether it "
    "was. Please check before you try again."
)
SLACK_TIMED_OUT: Final = later("Slack did not answer in time. Please try again.")
_SLACK_UNREACHABLE: Final = later(
    "Slack cannot be reached right now. Please try again in a minute."
)
_SLACK_LIMITS: Final = later(
    "Slack limits how often Hiatus may ask right now. Please try again in a minute."
)
_FORM_TOO_LATE: Final = later(
    "This took too long, so Slack did not open the form. Please try again."
)
_SLACK_REFUSED: Final = later(
    "Slack refused this ({reason}). If it happens again, please tell the people who run Hiatus."
)
_INSTALL_AGAIN: Final = later(
    "Slack no longer accepts Hiatus in this workspace. "
    "Please ask a Slack admin to install the app again: {url}"
)
_NEW_TOKEN: Final = later(
    "Slack no longer accepts Hiatus in this workspace. Please ask the people who run Hiatus to "
    "install the app again and to set its new bot token."
)
_GRANT_AGAIN: Final = later(
    "Hiatus lacks a permission in this workspace. "
    "Please ask a Slack admin to install the app again and to allow it: {url}"
)
_ADD_SCOPES: Final = later(
    "Hiatus lacks a permission in this workspace. Please ask the people who run Hiatus to "
    "compare the app with its manifest and to install it again."
)
NOT_INSTALLED: Final = later(
    "Hiatus is not installed in this Slack workspace. Please ask a Slack admin to install it: {url}"
)
UNKNOWN_WORKSPACE: Final = later(
    "This Slack workspace does not belong to an organisation in Hiatus. "
    "An administrator can link it with `hiatus slack link`."
)
SLOW: Final = later(
    "This takes longer than usual. Nothing is lost: you will get a message as soon as it is done."
)


def slack_failed(failure: Exception, install_url: str | None) -> str:
    """Why a call to Slack failed, and what to do. ``install_url`` is None with one bot token."""
    code = slack_web.error_code(failure)
    if code in slack_web.TOKEN_REFUSED | {"not_authed", "token_expired"}:
        return say(_INSTALL_AGAIN, url=install_url) if install_url else say(_NEW_TOKEN)
    if code in ("missing_scope", "no_permission", "not_allowed_token_type"):
        return say(_GRANT_AGAIN, url=install_url) if install_url else say(_ADD_SCOPES)
    if code in ("expired_trigger_id", "trigger_expired"):
        return say(_FORM_TOO_LATE)
    if slack_web.is_rate_limit(failure):
        return say(_SLACK_LIMITS)
    if isinstance(failure, TimeoutError):
        return say(SLACK_TIMED_OUT)
    if slack_web.is_temporary(failure):
        return say(_SLACK_UNREACHABLE)
    return say(_SLACK_REFUSED, reason=code or "")


def said(sentence: str) -> str:
    """What the domain says, in the language spoken: its words and its figures."""
    if not isinstance(sentence, Sentence):
        return say(sentence)
    template = IN_SLACK.get(sentence.template, sentence.template)
    return say(template, **{name: _figure(one) for name, one in sentence.figures.items()})


def _figure(figure: Figure) -> str:
    match figure:
        case HalfDays():
            return words.amount(int(figure))
        case int():
            return words.number(figure)
        case date():
            return words.day(figure)
        case tuple():
            return ", ".join(figure)
    return figure


def detail(refusal: Refusal) -> str:
    """The domain's own sentence."""
    return said(refusal.detail)


def details(refusal: InvalidInput) -> str:
    """The domain's own sentence for each field."""
    return " ".join(said(error.detail) for error in refusal.errors)


def _role(refusal: errors.InsufficientRole) -> str:
    return say(
        "Only somebody with the role {role}, or a higher one, may do this.",
        role=words.role(refusal.needed),
    )


def _absent(refusal: errors.NotFound) -> str:
    if refusal.kind == "leave request":
        return say("There is no such request, or it is no longer yours to see.")
    return say("This is not there any more. Somebody may just have removed it.")


def _already(refusal: errors.InvalidTransition) -> str:
    if refusal.status == "pending":
        return say("This request was changed at the same moment. Please look at it again.")
    by = refusal.decided_by_name
    match refusal.status:
        case "cancelled":
            return say("Already cancelled by {name}.", name=by) if by else say("Already cancelled.")
        case "approved":
            return say("Already approved by {name}.", name=by) if by else say("Already approved.")
    return say("Already declined by {name}.", name=by) if by else say("Already declined.")


def _overlap(refusal: errors.OverlappingLeave) -> str:
    return say("This overlaps your leave: {when}.", when=_other_leave(refusal))


def _other_leave(refusal: errors.OverlappingLeave) -> str:
    """The dates of the leave that is in the way, with its halves."""
    return words.span(
        refusal.start_date,
        refusal.end_date,
        "pm" if refusal.begins_at_midday else None,
        "am" if refusal.ends_at_midday else None,
    )


def _too_little(refusal: errors.InsufficientAllowance) -> str:
    left, needed = refusal.remaining_half_days, refusal.needed_half_days
    year, this = refusal.leave_year, words.amount(needed)
    if left <= 0:
        return say("You have nothing left in {year}; this needs {needed}.", year=year, needed=this)
    return say(
        "You have {left} left in {year}; this needs {needed}.",
        left=words.amount(left),
        year=year,
        needed=this,
    )


# What the domain says to programs, in the words of people: their forms have labels, not names of
# fields, and nobody has asked for the figures.
IN_SLACK: Final[Mapping[str, str]] = {
    "{end_date} is before the first day, {start_date}.": later(
        "The last day is before the first day."
    ),
    "{day} is too far away: leave lies between {earliest} and {latest}.": later(
        "Choose a day within two years from today."
    ),
    "{field} is required.": later("Fill this in."),
    "{field} cannot be null.": later("Fill this in."),
    "{field} is either true or false.": later("Choose one."),
    "Write {field} as HH:MM, such as 09:00.": later("Write a time such as 09:00."),
    "{field} is a whole number from {least} to {most}.": later(
        "Give a whole number from {least} to {most}."
    ),
    "{field} has 1 to {most} characters.": later("Use 1 to {most} characters."),
    "{field} has at most {most} characters.": later("Use at most {most} characters."),
    "{field} contains the invisible character {character}; remove it.": later(
        "Remove the invisible character {character}, or type this again."
    ),
    "Give an address such as ada@example.com in {field}.": later(
        "Give an address such as ada@example.com."
    ),
    "There is no field {field}.": later("This cannot be changed."),
    "There is no leave type with this id. GET /api/v1/leave-types lists those of {codes}.": later(
        "There is no such leave type any more. Choose another one."
    ),
    "The person is {status} and cannot have a key.": later(
        "This person is switched off and cannot have a key."
    ),
    "Switch the webhook on first: PATCH it with `is_active` true.": later(
        "Switch the webhook on first."
    ),
}

SENTENCES: Final[Mapping[type[Refusal], Callable[[Any], str]]] = {
    InvalidInput: details,
    errors.NotFound: _absent,
    errors.Forbidden: detail,
    errors.InsufficientRole: _role,
    errors.InsufficientScope: detail,
    errors.OwnRequest: lambda _: say(
        "You cannot decide on your own request; somebody else has to."
    ),
    errors.NotYourField: detail,
    errors.Unauthenticated: lambda _: say(BROKEN),
    errors.Conflict: detail,
    errors.InvalidTransition: _already,
    errors.OverlappingLeave: _overlap,
    errors.EmailTaken: detail,
    errors.CodeTaken: detail,
    errors.NameTaken: lambda refusal: say("{name} already exists.", name=refusal.other_name),
    errors.AlreadyExists: detail,
    errors.LastOwner: detail,
    errors.InUse: detail,
    errors.CannotArchiveSelf: detail,
    errors.InsufficientAllowance: _too_little,
    errors.UnusableCursor: lambda _: say(BROKEN),
    IdempotencyAnswerUnreadable: lambda _: say(BROKEN),
    IdempotencyInProgress: lambda _: say(BROKEN),
    IdempotencyKeyReused: lambda _: say(BROKEN),
    NotAMember: detail,
    NotLinked: detail,
    NotYourApproval: lambda _: say(
        "This request does not await your decision; others decide on it."
    ),
    UserArchived: detail,
    UserPending: detail,
    ChangedMeanwhile: lambda _: say("Somebody changed this at the same moment. Please try again."),
    TooManyAdjustments: detail,
    TooManyFeeds: detail,
    FeedTokenUnreadable: lambda _: say(BROKEN),
    TooManyWebhooks: detail,
    HolidaySetInUse: detail,
    TooManyOverrides: detail,
    WebhookDisabled: detail,
}


def sentence(refusal: Refusal) -> str:
    """The refusal as one plain sentence; it is not escaped."""
    # A type that somebody forgot to list is still better told than kept.
    return SENTENCES.get(type(refusal), detail)(refusal)


def not_after_all(refusal: errors.OverlappingLeave | errors.InsufficientAllowance) -> str:
    """Why somebody else's leave cannot be approved after all; to whoever decides on it."""
    if isinstance(refusal, errors.OverlappingLeave):
        when = _other_leave(refusal)
        return say("It cannot be approved any more: there is other leave then, {when}.", when=when)
    return say(
        "It cannot be approved any more: it needs {needed}, and too little is left in {year}.",
        needed=words.amount(refusal.needed_half_days),
        year=refusal.leave_year,
    )


def inline(refusal: Refusal, inputs: Collection[str] = FIELDS) -> dict[str, str]:
    """The refusal as errors of the request form: block id and sentence.

    A field's error goes to its block, if that is among the ``inputs``, everything else to the
    first day's.
    """
    found: dict[str, str] = {}
    for name, told in _by_field(refusal):
        block = name if name in inputs else ids.FIRST_DAY
        found[block] = f"{found[block]} {told}" if block in found else told
    return found


def foreseen(refusals: Iterable[Refusal]) -> list[str]:
    """Why a form that is still being filled in could not be sent; a note may yet be typed."""
    return [told for refusal in refusals for name, told in _by_field(refusal) if name != ids.NOTE]


def _by_field(refusal: Refusal) -> list[tuple[str, str]]:
    if not isinstance(refusal, InvalidInput):
        return [("", sentence(refusal))]
    return [
        (error.pointer.lstrip("/").split("/")[0], said(error.detail)) for error in refusal.errors
    ]


async def on_error(error: Exception) -> BoltResponse:
    """Bolt's last resort: log what fails outside our listeners, and have Slack repeat events."""
    _log.error("slack.failed_outside_listeners", exc_info=error)
    return BoltResponse(status=503, body="")
