"""What waits for a person's decision: one message a day, and the same above Home's cards.

What meets nothing can be approved together, after a confirmation that names each request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message, View
from bot.base.language import gettext, ngettext
from bot.blocks import layout, words
from bot.message_views import cards
from storage.leave.decision_inbox import Claim, Inbox, Waiting

# A line names a person, a type and a colleague.
_MAX_NAME: Final = 50
# Lines of a section: of 3,000 characters.
_MAX_LINES: Final = 10


def message(inbox: Inbox, home_url: str | None) -> Message:
    """The daily message, with all that waits and a way to Home, where the cards are."""
    if inbox.is_empty:
        done = gettext("Nothing waits for your decision.")
        return {"text": done, "blocks": [layout.section(f"✅ *{done}*")]}
    title = summary(inbox)
    advice = gettext("Approve or decline them on my Home tab.")
    lines = [
        *map(_line, inbox.clear),
        *map(_with_conflict, inbox.rest),
        *map(_claim, inbox.claims),
    ]
    heading = gettext("{title}:", title=title)
    fallback = "\n".join((heading, *(f"• {layout.escaped(line)}" for line in lines), advice))
    blocks = [layout.section(f"⏳ *{title}*"), *_blocks(inbox, home_url)]
    if home_url is None and len(inbox.clear) < len(inbox.waiting) + len(inbox.claims):
        blocks.append(layout.quiet(advice))
    return {
        "text": fallback if len(fallback) <= layout.MAX_MESSAGE else f"{title}. {advice}",
        "blocks": blocks,
    }


def on_home(inbox: Inbox) -> list[Block]:
    """Above the cards of what waits; none if there is nothing to approve together."""
    return [*_clear(inbox), *_rest(inbox, None)] if len(inbox.clear) > 1 else []


def summary(inbox: Inbox) -> str:
    """How many wait, in plain text."""
    count = len(inbox.waiting)
    if inbox.has_more:
        return gettext("More than {count} requests are waiting for your decision", count=count)
    if not count:
        return _claims_heading(inbox.claims)
    return ngettext(
        "{count} request is waiting for your decision",
        "{count} requests are waiting for your decision",
        count,
    )


def _blocks(inbox: Inbox, home_url: str | None) -> list[Block]:
    return [*_clear(inbox), *_rest(inbox, home_url), *_claims(inbox)]


def _clear(inbox: Inbox) -> list[Block]:
    if not inbox.clear:
        return []
    count = len(inbox.clear)
    heading = ngettext("{count} has no conflict", "{count} have no conflict", count)
    label = ngettext("Approve this one", "Approve these {count}", count)
    button = layout.button(label, ids.INBOX_APPROVE, style="primary")
    shown = layout.paragraph("\n".join(_listed(heading, list(map(_line, inbox.clear)))))
    return [shown, layout.actions(button)]


def _rest(inbox: Inbox, home_url: str | None) -> list[Block]:
    if not inbox.rest:
        return []
    lines = _listed(_rest_heading(inbox.rest), [_with_conflict(each) for each in inbox.rest])
    blocks = [layout.paragraph("\n".join(lines))]
    if home_url is not None:
        decide = layout.button(gettext("Decide"), ids.INBOX_HOME)
        blocks.append(layout.actions({**decide, "url": home_url}))
    return blocks


def _claims(inbox: Inbox) -> list[Block]:
    if not inbox.claims:
        return []
    lines = list(map(_claim, inbox.claims))
    if inbox.has_more_claims:
        lines.append("…")
    heading = _claims_heading(inbox.claims) if inbox.waiting else ""
    return [layout.paragraph("\n".join(_listed(heading, lines)))]


def _listed(heading: str, lines: Sequence[str]) -> list[str]:
    shown = [f"• {line}" for line in lines[:_MAX_LINES]]
    more = len(lines) - _MAX_LINES
    if more > 0:
        shown.append(ngettext("… and {count} more", "… and {count} more", more))
    return [heading, *shown] if heading else shown


def _rest_heading(rest: Sequence[Waiting]) -> str:
    """``2 meet on Mon 26 April``, if that is all that is to be said of them."""
    days = {each.meets_on for each in rest if not each.is_amendment}
    day = next(iter(days), None)
    if len(rest) > 1 and len(days) == 1 and day is not None and not _are_others(rest):
        return gettext("{count} meet on {day}", count=len(rest), day=words.short_day(day))
    return ngettext("{count} needs a closer look", "{count} need a closer look", len(rest))


def _are_others(rest: Sequence[Waiting]) -> bool:
    return any(each.is_amendment or each.short is not None for each in rest)


def _claims_heading(claims: Sequence[Claim]) -> str:
    return ngettext(
        "{count} claim of time in lieu is waiting for your decision",
        "{count} claims of time in lieu are waiting for your decision",
        len(claims),
    )


def _claim(claim: Claim) -> str:
    credit = claim.credit
    return gettext(
        "{name}: time in lieu, {day}, {amount}",
        name=_name(claim.person_name),
        day=words.day(credit.worked_on),
        amount=words.amount(credit.half_days),
    )


def _line(waiting: Waiting) -> str:
    request = waiting.request
    facts = {
        "requester": _name(waiting.person_name),
        "leave_type": _name(words.leave_type(waiting.leave_type)),
        "dates": words.dates(request),
    }
    if waiting.cancels:
        return gettext("{requester}: cancellation of {leave_type}, {dates}", **facts)
    if waiting.is_amendment:
        return gettext("{requester}: change of {leave_type}, {dates}", **facts)
    return gettext(
        "{requester}: {leave_type}, {dates}, {amount}",
        **facts,
        amount=words.amount(request.total_half_days),
    )


def _with_conflict(waiting: Waiting) -> str:
    """The line, and what speaks against approving it unseen."""
    line = _line(waiting)
    if waiting.short is not None:
        return f"{line}. ⚠️ " + gettext("Not enough left in {year}", year=waiting.short.year_name)
    if waiting.over_limits:
        return f"{line}. ⚠️ {cards.over_limit(waiting.over_limits[0])}"
    if waiting.colleagues:
        names = list(dict.fromkeys(_name(each.name) for each in waiting.colleagues))
        return f"{line}. " + gettext("Also off: {colleague}", colleague=words.names(names, most=2))
    return line


def _name(text: str) -> str:
    return layout.one_line(layout.cut(text, _MAX_NAME))


def confirmation(inbox: Inbox, private_metadata: str) -> View:
    """The form that names what would be approved; ``private_metadata`` also keeps it."""
    clear = inbox.clear
    title = ngettext("Approve {count} request?", "Approve {count} requests?", len(clear))
    return layout.modal(
        title,
        [
            *_all(list(map(_line, clear))),
            layout.quiet(gettext("Each person gets your decision in a message of their own.")),
        ],
        ids.INBOX_FORM,
        ngettext("Approve it", "Approve all", len(clear)),
        gettext("Back"),
        private_metadata,
    )


def _all(lines: Sequence[str]) -> list[Block]:
    """Every line, in as many sections as they need."""
    starts = range(0, len(lines), _MAX_LINES)
    shown = [[f"• {line}" for line in lines[at : at + _MAX_LINES]] for at in starts]
    return [layout.paragraph("\n".join(each)) for each in shown]


def outcome(approved: int, refused: Sequence[tuple[str, str]]) -> View:
    """How many were approved, and of the others whose they are and why not, in plain text."""
    done = ngettext("{count} request was approved.", "{count} requests were approved.", approved)
    blocks = [layout.section(f"✅ *{done}*")] if approved else []
    if refused:
        heading = ngettext(
            "{count} request was not approved:", "{count} requests were not approved:", len(refused)
        )
        blocks.append(layout.section(f"*{heading}*"))
        lines = [
            gettext("{name}: {reason}", name=_name(who), reason=layout.cut(why, 200))
            for who, why in refused
        ]
        blocks += _all(lines)
    return layout.modal("Hiatus", blocks)
