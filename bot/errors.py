"""Refusals in the words that people read in Slack: one table, a sentence for each type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

import structlog
from slack_bolt.response import BoltResponse

from bot import ids
from bot.views import words
from bot.views.request_form import FIELDS
from storage import errors
from storage.adjustments import TooManyAdjustments
from storage.deliveries import WebhookDisabled
from storage.errors import InvalidInput, Refusal
from storage.feeds import TooManyFeeds
from storage.holiday_overrides import HolidaySetInUse, TooManyOverrides
from storage.idempotency import IdempotencyInProgress, IdempotencyKeyReused
from storage.joining import NotAMember
from storage.leave import NotYourApproval
from storage.people import UserArchived
from storage.people_rows import ChangedMeanwhile
from storage.slack_installations import NotLinked
from storage.webhooks import TooManyWebhooks

_log = structlog.stdlib.get_logger("hiatus.slack")

BROKEN: Final = "Something went wrong on our side, and nothing was changed. Please try again."
BUSY: Final = "The database does not answer right now. Please try again in a minute."
SLACK_FAILED: Final = "Slack did not answer in time. Please try again."
UNKNOWN_WORKSPACE: Final = (
    "This Slack workspace does not belong to an organisation in Hiatus. "
    "An administrator can link it with `hiatus slack link`."
)
SLOW: Final = (
    "This takes longer than usual. Nothing is lost: you will get a message as soon as it is done."
)


def _detail(refusal: Any) -> str:
    detail: str = refusal.detail
    return detail


def _already(refusal: errors.InvalidTransition) -> str:
    if refusal.status == "pending":
        return "This request was changed at the same moment. Please look at it again."
    by = f" by {refusal.decided_by_name}" if refusal.decided_by_name else ""
    return f"Already {refusal.status}{by}."


def _overlap(refusal: errors.OverlappingLeave) -> str:
    first, _, last = refusal.other_dates.partition(" to ")
    when = words.span(date.fromisoformat(first), date.fromisoformat(last))
    return f"You already have leave then: {when}."


def _too_little(refusal: errors.InsufficientAllowance) -> str:
    left, needed = refusal.remaining_half_days, refusal.needed_half_days
    have = f"{words.amount(left)} left" if left > 0 else "nothing left"
    return f"You have {have} in {refusal.leave_year}; this needs {words.amount(needed)}."


SENTENCES: Final[Mapping[type[Refusal], Callable[[Any], str]]] = {
    InvalidInput: _detail,
    errors.NotFound: lambda _: "There is no such request, or it is no longer yours to see.",
    errors.Forbidden: _detail,
    errors.InsufficientRole: _detail,
    errors.InsufficientScope: _detail,
    errors.OwnRequest: lambda _: "You cannot decide on your own request; somebody else has to.",
    errors.NotYourField: _detail,
    errors.Unauthenticated: lambda _: BROKEN,
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
    errors.UnusableCursor: lambda _: BROKEN,
    IdempotencyInProgress: lambda _: BROKEN,
    IdempotencyKeyReused: lambda _: BROKEN,
    NotAMember: _detail,
    NotLinked: _detail,
    NotYourApproval: lambda _: "This request does not await your decision; others decide on it.",
    UserArchived: _detail,
    ChangedMeanwhile: lambda _: "Somebody changed this at the same moment. Please try again.",
    TooManyAdjustments: _detail,
    TooManyFeeds: _detail,
    TooManyWebhooks: _detail,
    HolidaySetInUse: _detail,
    TooManyOverrides: _detail,
    WebhookDisabled: _detail,
}


# Where the domain's own words would show a date in its wire form.
_FIELD_SENTENCES: Final[Mapping[str, str]] = {
    "end_before_start": "The last day is before the first day.",
    "out_of_reach": "Choose a day within two years from today.",
}


def sentence(refusal: Refusal) -> str:
    """The refusal as one plain sentence; it is not escaped."""
    say = SENTENCES.get(type(refusal))
    # A type that somebody forgot to list is still better told than kept.
    return refusal.detail if say is None else say(refusal)


def inline(refusal: Refusal) -> dict[str, str]:
    """The refusal as errors of the request form: block id and sentence.

    A field's error goes to its block, everything else to the first day's.
    """
    if not isinstance(refusal, InvalidInput):
        return {ids.FIRST_DAY: sentence(refusal)}
    found: dict[str, str] = {}
    for error in refusal.errors:
        name = error.pointer.lstrip("/").split("/")[0]
        block = name if name in FIELDS else ids.FIRST_DAY
        said = _FIELD_SENTENCES.get(error.code, error.detail)
        found[block] = f"{found[block]} {said}" if block in found else said
    return found


async def on_error(error: Exception) -> BoltResponse:
    """Bolt's last resort: what fails outside our listeners is logged, without the body."""
    _log.error("slack.failed_outside_listeners", exc_info=error)
    return BoltResponse(status=500, body="")
