"""The daily who's-out message, and the notice to admins if it cannot be posted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from bot.base.block_kit import Message
from bot.base.language import gettext, ngettext
from bot.blocks import text, words
from storage.notifications.digests import Digest, PersonOut

# Of a section's 3,000 characters and a message's 4,000, escaped.
_MAX_LIST: Final = 2_600
# Our own reason beside Slack's error codes.
SHARED: Final = "externally_shared"


def message(digest: Digest) -> Message:
    """``text`` has the same names as the blocks."""
    title = gettext("Out today, {day}", day=words.day(digest.day))
    lines = _that_fit([f"• {_with_cover(absence, digest.day)}" for absence in digest.out])
    if not digest.out:
        lines = [gettext("No one is out.")]
    elif more := digest.total - len(lines):
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    return {
        "text": "\n".join((f"{title}:", *map(text.escaped, lines))),
        "blocks": [
            text.section(f"*{title}*"),
            text.paragraph("\n".join(lines)),
        ],
    }


def refused(channel: str, because: str) -> Message:
    """The notice to admins. ``because`` is Slack's error code, or ``SHARED``."""
    problem = gettext("I can't post the daily list of who's out.")
    reasons = {
        "not_in_channel": gettext("I'm not in the channel yet. Type /invite @Hiatus there."),
        "channel_not_found": gettext(
            "The channel doesn't exist, or it's private and I'm not in it. Type /invite "
            "@Hiatus there."
        ),
        SHARED: gettext(
            "The channel is shared with another organisation (Slack Connect), and they would "
            "see who's out."
        ),
        "is_archived": gettext("The channel was archived."),
    }
    why = reasons.get(because, gettext("Slack refused: {reason}.", reason=text.escaped(because)))
    advice = gettext("Then choose the channel again, or another one, in the organisation settings.")
    if because in (SHARED, "is_archived"):
        advice = gettext("Choose another channel in the organisation settings.")
    where = gettext("Channel: {channel}", channel=text.escaped(channel))
    return {
        "text": " ".join((problem, why, advice, where)),
        "blocks": [text.section(f"*{problem}*\n{why} {advice}"), text.quiet(where)],
    }


def _with_cover(absence: PersonOut, today: date) -> str:
    cover_name = absence.cover_name and text.cut(absence.cover_name, text.MAX_NAME)
    return words.with_cover(_line(absence, today), cover_name)


def _line(absence: PersonOut, today: date) -> str:
    name = text.cut(absence.name, text.MAX_NAME)
    what = (
        gettext("Away") if absence.type_name is None else text.cut(absence.type_name, text.MAX_NAME)
    )
    if absence.half == "am":
        return gettext("{name}: {what}, morning", name=name, what=what)
    if absence.half == "pm":
        return gettext("{name}: {what}, afternoon", name=name, what=what)
    if absence.last_day == today:
        return gettext("{name}: {what}", name=name, what=what)
    return gettext(
        "{name}: {what}, until {day}", name=name, what=what, day=words.day(absence.last_day)
    )


def _that_fit(lines: Sequence[str]) -> list[str]:
    length, shown = 0, []
    for line in lines:
        length += len(text.escaped(line)) + 1
        if length > _MAX_LIST:
            break
        shown.append(line)
    return shown
