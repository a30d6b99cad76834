"""Messages to the colleague who covers: dates only, never the leave type or the note."""

from __future__ import annotations

from datetime import date

from bot.base.language import gettext
from bot.blocks import text, words
from bot.message_views import card as cards
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard


def notification(
    card: ApprovalCard,
    event_type: NotificationEvent,
    cover_user_id: str,
    known_days: tuple[date, date],
) -> str | None:
    """The DM to a cover, in mrkdwn; None if the request has changed again since.

    ``known_days``: the first and last day that a former cover was told.
    """
    request, requester = card.request, text.name(card.requester.name)
    is_cover = request.status == "approved" and request.cover_user_id == cover_user_id
    if event_type == "cover.assigned" and is_cover:
        return gettext(
            "You're covering for {requester}: {dates}.",
            requester=requester,
            dates=cards.dates(request),
        )
    if event_type == "cover.changed" and is_cover:
        return gettext(
            "The days on which you cover for {requester} have changed. They're now {dates}.",
            requester=requester,
            dates=cards.dates(request),
        )
    if event_type == "cover.ended" and not is_cover:
        return gettext(
            "You no longer need to cover for {requester}: {dates}.",
            requester=requester,
            dates=words.span(*known_days, None, None),
        )
    return None
