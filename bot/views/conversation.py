"""Messages in a person's conversation with the app: leave to confirm, forms to open, and help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout, words
from bot.message_views import answers
from bot.views import live_line, request_values
from bot.views.request_values import Filled
from bot.views.time_credit_form import FilledClaim
from bot.views.typed_problems import Reading
from storage.leave.previews import Preview

# Slack's limit of a button's value.
_MAX_VALUE: Final = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadLeave:
    """Leave that was read, and what it would do after the leave that is shown before it.

    ``problems`` are the sentences of its refusals and ``warnings`` stop nothing; both are plain.
    ``is_typed``: it was read of words that the person wrote.
    """

    filled: Filled
    preview: Preview
    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()
    is_typed: bool = True

    @property
    def line(self) -> str:
        leave_type = self.preview.leave_type
        name = None if leave_type is None else words.leave_type(leave_type)
        reading = Reading(filled=self.filled, type_name=name)
        return reading.line if self.is_typed else ", ".join(reading.parts)

    @property
    def effects(self) -> str:
        """What has to be the same when it is sent: total, balances, and whether it is decided."""
        balances = ";".join(str(change.after_half_days) for change in self.preview.years)
        is_approved = self.preview.approved_because is not None
        return f"{self.preview.total_half_days};{balances};{is_approved}"


def to_confirm(leave: Sequence[ReadLeave], asides: Sequence[str] = ()) -> Message:
    """What was read and what it comes to, with Send; without it if it would be refused.

    ``asides`` are plain sentences above it.
    """
    lines = list(asides)
    blocks = [layout.paragraph(aside) for aside in asides]
    can_send = True
    for read in leave:
        can_send = can_send and not read.preview.refusals
        shown = [f"*{layout.escaped(read.line)}*"]
        if read.preview.leave_type is not None:
            # The line above has the days.
            _, *figures = live_line.figures(read.preview, is_own=True)
            shown += [words.amount(read.preview.total_half_days), *figures]
        remarks = [*read.problems, *read.warnings]
        shown += [f"⚠️ {layout.escaped(sentence)}" for sentence in remarks]
        block = layout.section("\n".join(shown))
        if len(leave) > 1:
            block = {**block, "accessory": _change(read)}
        blocks.append(block)
        lines += [read.line, *remarks]
        if not read.preview.refusals:
            happens = live_line.what_happens(read.preview)
            blocks.append(layout.quiet(layout.escaped(happens)))
            lines.append(happens)
    value = packed(leave)
    buttons = []
    if can_send and len(value) <= _MAX_VALUE:
        label = gettext("Send") if len(leave) == 1 else gettext("Send all")
        buttons.append(layout.button(label, ids.SEND_UNDERSTOOD, value, "primary"))
    if len(leave) == 1:
        buttons.append(_change(leave[0]))
    if buttons:
        blocks.append(layout.actions(*buttons))
    text = layout.escaped_within("\n".join(lines), layout.MAX_MESSAGE)
    return {"text": text, "blocks": blocks}


def _change(read: ReadLeave) -> Block:
    label = gettext("Change")
    return layout.button(label, ids.OPEN_UNDERSTOOD, request_values.packed(read.filled))


def packed(leave: Sequence[ReadLeave]) -> str:
    """What Send sends, and what was shown of it: a line for each."""
    return "\n".join(f"{read.effects} {request_values.packed(read.filled)}" for read in leave)


def unpacked(value: str) -> list[tuple[str, Filled]]:
    """The effects and values of ``packed``; empty for what another version packed."""
    read = [line.partition(" ")[::2] for line in value.split("\n")]
    leave = [(effects, request_values.unpacked(filled)) for effects, filled in read]
    return leave if all(filled.draft() is not None for _, filled in leave) else []


def sent(leave: Sequence[Filled], type_names: Sequence[str]) -> Message:
    """The same card after Send: what was sent, without buttons."""
    lines = [
        f"✅ {layout.escaped(gettext('Sent: {leave}', leave=_what(filled, name)))}"
        for filled, name in zip(leave, type_names, strict=True)
    ]
    text = "\n".join(lines)
    return {"text": text, "blocks": [layout.section(text)]}


def _what(filled: Filled, type_name: str) -> str:
    return ", ".join(Reading(filled=filled, type_name=type_name).parts)


def changed_since() -> str:
    """Why Send sent nothing: the card shows the effects as they are now."""
    return gettext("Something has changed since. Nothing was sent: please look again.")


def by_assistant() -> str:
    """Above the card of a request that the person did not write themselves."""
    return gettext("An assistant prepared this for you. Nothing is sent until you press Send.")


def interrupting(leave: ReadLeave) -> Message:
    """Days of approved leave that would become other leave, and the button for its form."""
    line = layout.escaped(
        f"{leave.line} {gettext('You are on leave then: those days would be given back.')}"
    )
    return {"text": line, "blocks": [layout.section(line), layout.actions(_change(leave))]}


def form_offer() -> Message:
    """The button that opens the request form, which a message cannot open itself."""
    text = gettext("Choose a leave type and days in the form, or write them to me: “3-7 aug”.")
    button = layout.button(gettext("Request leave"), ids.HOME_REQUEST, "", "primary")
    return {"text": text, "blocks": [layout.section(text), layout.actions(button)]}


def claim_offer(filled: FilledClaim, problems: Sequence[str]) -> Message:
    """What was read of time in lieu, and the button for its form."""
    parts = [] if filled.worked_on is None else [words.day(filled.worked_on)]
    if filled.half_days is not None and filled.half_days == int(filled.half_days):
        parts.append(words.amount(int(filled.half_days)))
    if filled.reason is not None:
        parts.append(words.quoted(filled.reason))
    line = gettext("I read: {rest}.", rest=", ".join(parts)) if parts else gettext("Which days?")
    text = layout.escaped("\n".join([line, *problems]))
    button = layout.button(
        gettext("Claim time in lieu"), ids.CLAIM_UNDERSTOOD, _packed_claim(filled), "primary"
    )
    return {"text": text, "blocks": [layout.section(text), layout.actions(button)]}


def _packed_claim(filled: FilledClaim) -> str:
    worked_on = "" if filled.worked_on is None else filled.worked_on.isoformat()
    half_days = "" if filled.half_days is None else str(filled.half_days)
    return f"{worked_on}|{half_days}|{filled.reason or ''}"


def unpacked_claim(value: str) -> FilledClaim:
    """The values of the button; none for what another version packed."""
    try:
        worked_on, half_days, reason = value.split("|", 2)
        return FilledClaim(
            worked_on=date.fromisoformat(worked_on) if worked_on else None,
            half_days=float(half_days) if half_days else None,
            reason=reason or None,
        )
    except ValueError:
        return FilledClaim(half_days=2)


def too_late(typed: str) -> Message:
    """For a message that arrived long after it was written."""
    shown = layout.cut(layout.one_line(typed), layout.MAX_NAME)
    return {
        "text": layout.escaped(
            gettext(
                "Sorry, “{words}” reached me only now. Please write it again if it still matters.",
                words=shown,
            )
        )
    }


# Examples for the conversation; the parser must understand their translations, too.
REQUESTS: Final = (
    gettext_noop("14-18 dec"),
    gettext_noop("friday afternoon, dentist"),
    gettext_noop("sick today"),
)
QUESTIONS: Final = (
    gettext_noop("who is out next week?"),
    gettext_noop("how many days do I have left?"),
    gettext_noop("my leave"),
    gettext_noop("cancel my leave"),
)


def help_message(*, contact: str = "") -> Message:
    """What a person may write, with buttons for what is asked most."""
    lines = [
        gettext("Write to me as you would to a colleague:"),
        *(
            gettext(
                "• {examples}: I show what it comes to, and you send it.",
                examples=_quoted(REQUESTS),
            ),
            f"• {_quoted(QUESTIONS)}",
        ),
        answers.contact_line(contact),
    ]
    buttons = layout.actions(
        layout.button(gettext("Request leave"), ids.HOME_REQUEST, "", "primary"),
        layout.button(gettext("Who's out today?"), ids.ASK_OUT),
        layout.button(gettext("My balance"), ids.ASK_BALANCE),
        layout.button(gettext("My leave"), ids.ASK_MINE),
    )
    text = "\n".join(lines)
    return {"text": text, "blocks": [layout.section(text), buttons]}


def _quoted(examples: Sequence[str]) -> str:
    return ", ".join(gettext("“{words}”", words=gettext(example)) for example in examples)
