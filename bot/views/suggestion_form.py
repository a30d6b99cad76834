"""The form in which an approver suggests other dates for a pending request."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.views import request_form
from bot.views.request_values import Alerts, Filled
from storage.leave.suggestions import Dates, Trial
from storage.notifications.approval_cards import ApprovalCard


def view(
    card: ApprovalCard, filled: Filled, trial: Trial | None, alerts: Alerts, private_metadata: str
) -> View:
    """The modal; ``trial`` is None while a day is missing."""
    asked = gettext(
        "*{requester}* asked for {leave_type}: {dates}, {amount}",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
        dates=words.dates(card.request),
        amount=words.amount(card.request.total_half_days),
    )
    name = layout.name(card.requester.name)
    explained = gettext("{name} decides. Until then, the request stays as it is.", name=name)
    return layout.modal(
        gettext("Suggest other dates"),
        [
            layout.section(asked),
            *request_form.day_fields(filled, alerts, is_own=False, recount_id=ids.SUGGEST_RECOUNT),
            *_live(trial),
            layout.quiet(explained),
        ],
        ids.SUGGEST_FORM,
        gettext("Suggest"),
        gettext("Back"),
        private_metadata,
    )


def _live(trial: Trial | None) -> list[Block]:
    """How many days they are, and who else is off."""
    if trial is None or trial.half_days is None:
        return []
    lines = [f"*{words.amount(trial.half_days)}*"]
    shown: list[Block] = [{"block_id": ids.LIVE, **layout.section("\n".join(lines))}]
    if trial.off is not None and trial.off.named:
        off = words.colleagues_off(trial.off.named, trial.off.count)
        shown.append({"block_id": ids.OFF, **layout.paragraph("\n".join(off))})
    else:
        shown.append(layout.quiet(gettext("No one else on their team is off.")))
    return shown


def dates_of(filled: Filled) -> Dates | None:
    """None while a day is missing."""
    if filled.start_date is None or filled.end_date is None:
        return None
    return Dates(
        start_date=filled.start_date,
        end_date=filled.end_date,
        start_half_day="pm" if filled.begins_at_midday else None,
        end_half_day="am" if filled.ends_at_midday else None,
    )
