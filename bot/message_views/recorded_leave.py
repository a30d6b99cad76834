"""Messages about leave that one person recorded for another."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import text
from bot.message_views import answers
from bot.message_views import card as cards
from storage.notifications.approval_cards import ApprovalCard


def is_shown_as_recorded(card: ApprovalCard) -> bool:
    """Whether the leave is approved because it was recorded, and not by a later decision."""
    request = card.request
    return (
        request.status == "approved"
        and request.recorded_by is not None
        and request.recorded_by == request.decided_by
    )


def sentence(card: ApprovalCard) -> str:
    """What the person reads first."""
    return gettext("{name} recorded this leave for you.", name=_recorder(card))


def override(card: ApprovalCard) -> str:
    """Why rules were overridden, in plain text; "" if they were not."""
    reason = card.request.override_reason
    return gettext("Reason for the exception: {reason}", reason=reason) if reason else ""


def object_button(card: ApprovalCard) -> list[Block]:
    """The button by which the person objects, until they have."""
    if not is_shown_as_recorded(card) or card.has_objected:
        return []
    name = _recorder(card)
    return [
        {
            "type": "button",
            "action_id": ids.OBJECT,
            "text": text.plain(gettext("Object")),
            "value": card.request.id,
            "confirm": {
                "title": text.plain(gettext("Object to this leave?")),
                "text": text.plain(
                    gettext(
                        "{name} and the admins will be told. The leave itself stays as it is.",
                        name=name,
                    ),
                    300,
                ),
                "confirm": text.plain(gettext("Object")),
                "deny": text.plain(gettext("Back")),
            },
        }
    ]


def objected(card: ApprovalCard) -> str:
    """What the person reads after they objected; "" before."""
    if not card.has_objected:
        return ""
    return gettext("You objected. {name} and the admins were told.", name=_recorder(card))


def objection(card: ApprovalCard, viewer_id: str) -> Message:
    """The message to the recorder and the admins, who may cancel the leave."""
    request = card.request
    requester = text.name(card.requester.name)
    if request.recorded_by == viewer_id:
        news = gettext("{requester} objects to leave that you recorded.", requester=requester)
    else:
        news = gettext(
            "{requester} objects to leave that {name} recorded.",
            requester=requester,
            name=text.name(card.recorded_by_name or ""),
        )
    summary = cards.summary(card)
    blocks = [text.section(f"{news}\n{summary}")]
    if request.status == "approved":
        what = text.cut(f"{card.requester.name}, {cards.dates(request)}", text.MAX_NAME)
        button = answers.cancel_button(ids.CANCEL_RECORDED, request, what)
        blocks.append({"type": "actions", "elements": [button]})
    else:
        blocks.append(text.quiet(text.escaped(cards.state(card))))
    return {"text": f"{news} {summary}.", "blocks": blocks}


def _recorder(card: ApprovalCard) -> str:
    return text.cut(card.recorded_by_name or "", text.MAX_NAME)
