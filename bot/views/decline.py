"""The form that asks why a request is declined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.base import ids
from bot.base.language import gettext
from bot.views import card as cards
from bot.views import text
from storage.leave.leave_requests import LONGEST_REASON
from storage.slack.approval_cards import ApprovalCard


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What the form is about: the request, and the clicked message, by their ids."""

    request_id: str
    channel: str
    ts: str

    def packed(self) -> str:
        """As ``private_metadata`` keeps it."""
        return f"{self.request_id} {self.channel} {self.ts}"

    @classmethod
    def of(cls, private_metadata: str) -> Subject:
        """Read back what ``view`` kept. Raises ValueError for anything else."""
        request_id, channel, ts = private_metadata.split(" ")
        return cls(request_id=request_id, channel=channel, ts=ts)


def view(card: ApprovalCard, subject: Subject) -> dict[str, Any]:
    """The modal; the reason is optional."""
    return _modal(_what(card), ids.DECLINE_FORM, subject.packed())


def view_from_home(card: ApprovalCard) -> dict[str, Any]:
    """As ``view``, where no message was clicked; it keeps the request's id."""
    return _modal(_what(card), ids.HOME_DECLINE_FORM, card.request.id)


def reconsidered(card: ApprovalCard, subject: Subject) -> dict[str, Any]:
    """The modal that changes the decision into the other one."""
    kept = subject.packed()
    stands = text.quiet(text.escaped(cards.state(card)))
    if card.request.status == "approved":
        modal = _modal(_what(card), ids.DECLINE_AFTER_ALL_FORM, kept)
        what, *rest = modal["blocks"]
        blocks = [what, stands, *rest]
        submit = gettext("Decline instead")
    else:
        modal = _modal(_what(card), ids.APPROVE_AFTER_ALL_FORM, kept)
        blocks = [modal["blocks"][0], stands]
        submit = gettext("Approve instead")
    return modal | {
        "title": text.plain(gettext("Change decision"), text.LONGEST_TITLE),
        "submit": text.plain(submit),
        "blocks": blocks,
    }


def _what(card: ApprovalCard) -> str:
    return gettext(
        "*{requester}*: {leave_type}, {dates}",
        requester=text.name(card.requester.name),
        leave_type=text.name(card.leave_type.name),
        dates=cards.dates(card.request),
    )


def _modal(what: str, callback_id: str, kept: str) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": kept,
        "title": text.plain(gettext("Decline request"), text.LONGEST_TITLE),
        "submit": text.plain(gettext("Decline")),
        "close": text.plain(gettext("Back")),
        "blocks": [
            text.section(what),
            {
                "type": "input",
                "block_id": ids.REASON,
                "optional": True,
                "label": text.plain(gettext("Reason")),
                "hint": text.plain(gettext("The requester will see this.")),
                "element": {
                    "type": "plain_text_input",
                    "action_id": ids.ANSWER,
                    "multiline": True,
                    "max_length": LONGEST_REASON,
                },
            },
        ],
    }


def reason_of(values: Mapping[str, Any]) -> str | None:
    """What was typed, from the view's ``state.values``."""
    answer = (values.get(ids.REASON) or {}).get(ids.ANSWER) or {}
    reason: str | None = answer.get("value")
    return reason
