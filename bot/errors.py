"""Refusals in the words that people read in Slack: one table, a sentence for each type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import Any, Final

import structlog
from slack_bolt.response import BoltResponse

from bot import ids
from bot.language import later, say
from bot.views import words
from bot.views.request_form import FIELDS
from storage import errors
from storage.adjustments import TooManyAdjustments
from storage.deliveries import WebhookDisabled
from storage.errors import InvalidInput, Refusal
from storage.feeds import TooManyFeeds
from storage.holiday_overrides import TooManyOverrides
from storage.holiday_set_removal import HolidaySetInUse
from storage.idempotency import IdempotencyInProgress, IdempotencyKeyReused
from storage.joining import NotAMember
from storage.leave import NotYourApproval
from storage.people import UserArchived
from storage.people_rows import ChangedMeanwhile
from storage.slack_installations import NotLinked
from storage.webhooks import TooManyWebhooks

_log = structlog.stdlib.get_logger("hiatus.slack")

BROKEN: Final = later(
    "Something went wrong on our side, and nothing was changed. Please try again."
)
BUSY: Final = later("The database does not answer right now. Please try again in a minute.")
SLACK_FAILED: Final = later("Slack did not answer in time. Please try again.")
UNKNOWN_WORKSPACE: Final = later(
    "This Slack workspace does not belong to an organisation in Hiatus. "
    "An administrator can link it with `hiatus slack link`."
)
SLOW: Final = later(
    "This takes longer than usual. Nothing is lost: you will get a message as soon as it is done."
)


def _detail(refusal: Any) -> str:
    return say(refusal.detail)


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
            return say("Already cancelled.")
        case "approved":
            return say("Already approved by {name}.", name=by) if by else say("Already approved.")
    return say("Already declined by {name}.", name=by) if by else say("Already declined.")


def _overlap(refusal: errors.OverlappingLeave) -> str:
    first, _, last = refusal.other_dates.partition(" to ")
    when = words.span(date.fromisoformat(first), date.fromisoformat(last))
    return say("You already have leave then: {when}.", when=when)


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


# What the domain says in so many words; here for the catalogues.
DOMAIN_SENTENCES: Final = (
    later("Ask an admin of your organisation to add you."),
    later("Your account is switched off; ask an admin of your organisation."),
    later("Slack shows no e-mail address of yours; ask an admin."),
    later("Nothing is left to take: these are days off or public holidays already."),
    later("Leave on a single day cannot begin in the afternoon and end in the morning."),
    later("There is no leave type with this id."),
    later("Ask another admin or owner to do this for you."),
    later("This person is in Hiatus already."),
    later("Slack does not tell this; fill it in."),
    later("This is the organisation's last active owner; make somebody else an owner first."),
)

SENTENCES: Final[Mapping[type[Refusal], Callable[[Any], str]]] = {
    InvalidInput: _detail,
    errors.NotFound: _absent,
    errors.Forbidden: _detail,
    errors.InsufficientRole: _detail,
    errors.InsufficientScope: _detail,
    errors.OwnRequest: lambda _: say(
        "You cannot decide on your own request; somebody else has to."
    ),
    errors.NotYourField: _detail,
    errors.Unauthenticated: lambda _: say(BROKEN),
    errors.Conflict: _detail,
    errors.InvalidTransition: _already,
    errors.OverlappingLeave: _overlap,
    errors.EmailTaken: _detail,
    errors.CodeTaken: _detail,
    errors.AlreadyExists: _detail,
    errors.LastOwner: _detail,
    errors.InUse: _detail,
    errors.CannotArchiveSelf: _detail,
    errors.InsufficientAllowance: _too_little,
    errors.UnusableCursor: lambda _: say(BROKEN),
    IdempotencyInProgress: lambda _: say(BROKEN),
    IdempotencyKeyReused: lambda _: say(BROKEN),
    NotAMember: _detail,
    NotLinked: _detail,
    NotYourApproval: lambda _: say(
        "This request does not await your decision; others decide on it."
    ),
    UserArchived: _detail,
    ChangedMeanwhile: lambda _: say("Somebody changed this at the same moment. Please try again."),
    TooManyAdjustments: _detail,
    TooManyFeeds: _detail,
    TooManyWebhooks: _detail,
    HolidaySetInUse: _detail,
    TooManyOverrides: _detail,
    WebhookDisabled: _detail,
}


# Where the domain's own words would show a date in its wire form.
_FIELD_SENTENCES: Final[Mapping[str, str]] = {
    "end_before_start": later("The last day is before the first day."),
    "out_of_reach": later("Choose a day within two years from today."),
}


def sentence(refusal: Refusal) -> str:
    """The refusal as one plain sentence; it is not escaped."""
    said = SENTENCES.get(type(refusal))
    # A type that somebody forgot to list is still better told than kept.
    return refusal.detail if said is None else said(refusal)


def not_after_all(refusal: errors.OverlappingLeave | errors.InsufficientAllowance) -> str:
    """Why somebody else's leave cannot be approved after all; to whoever decides on it."""
    if isinstance(refusal, errors.OverlappingLeave):
        first, _, last = refusal.other_dates.partition(" to ")
        when = words.span(date.fromisoformat(first), date.fromisoformat(last))
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
    for name, said in _by_field(refusal):
        block = name if name in inputs else ids.FIRST_DAY
        found[block] = f"{found[block]} {said}" if block in found else said
    return found


def foreseen(refusals: Iterable[Refusal]) -> list[str]:
    """Why a form that is still being filled in could not be sent; a note may yet be typed."""
    return [said for refusal in refusals for name, said in _by_field(refusal) if name != ids.NOTE]


def _by_field(refusal: Refusal) -> list[tuple[str, str]]:
    if not isinstance(refusal, InvalidInput):
        return [("", sentence(refusal))]
    return [
        (
            error.pointer.lstrip("/").split("/")[0],
            say(_FIELD_SENTENCES.get(error.code, error.detail)),
        )
        for error in refusal.errors
    ]


async def on_error(error: Exception) -> BoltResponse:
    """Bolt's last resort: what fails outside our listeners is logged, without the body."""
    _log.error("slack.failed_outside_listeners", exc_info=error)
    return BoltResponse(status=500, body="")
