"""What a change would do to leave and to people, in a modal that asks whether it is meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bot.base.block_kit import Block, View
from bot.base.language import gettext, ngettext
from bot.views import card as cards
from bot.views import fields, text, words
from storage.admin.effects import BalanceEffect, Effects
from storage.base.values import LeaveEffect, Rerouted, User

T = TypeVar("T")

# Named one by one; of the rest it is said how many there are.
_MOST_NAMED: Final = 5
# Of those who are asked about one request, before and after.
_MOST_ASKED: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedEffects:
    """Effects, with the names of people and departments by id."""

    effects: Effects
    names: Mapping[str, str]
    departments: Mapping[str, str]


def named(effects: Effects) -> list[str]:
    """The ids of those whom ``NamedEffects.names`` has to name."""
    requesters = {one.request.user_id for one in effects.rerouted[:_MOST_NAMED]}
    overdrawn = {one.user_id for one in effects.overdrawn[:_MOST_NAMED]}
    return sorted(requesters | overdrawn | set(effects.reports[:_MOST_NAMED]))


def before_saving(named_effects: NamedEffects, callback_id: str, kept: str) -> View:
    """Asks whether what was filled in is meant."""
    intro = gettext("Here's what will change. Nothing is saved yet.")
    return asking(
        gettext("Before you save"), intro, named_effects, callback_id, gettext("Save"), kept
    )


def asking(
    title: str, intro: str, named_effects: NamedEffects, callback_id: str, submit: str, kept: str
) -> View:
    """A modal that tells what follows, and does it when it is sent. ``intro`` is plain text."""
    paragraphs = [intro, *(paragraph for paragraph in _paragraphs(named_effects) if paragraph)]
    blocks: list[Block] = [text.paragraph(paragraph) for paragraph in paragraphs]
    return fields.modal(title, blocks, callback_id, submit, gettext("Cancel"), kept)


def _paragraphs(named_effects: NamedEffects) -> list[str]:
    effects = named_effects.effects
    return [
        "\n".join(_leave(effects.leave)) if effects.leave else "",
        "\n".join(_rerouted(named_effects)) if effects.rerouted else "",
        "\n".join(_overdrawn(named_effects)) if effects.overdrawn else "",
        "\n".join(f"• {line}" for line in _others(named_effects)),
    ]


def _leave(leave: Sequence[LeaveEffect]) -> list[str]:
    lines = [ngettext("{count} request will change.", "{count} requests will change.", len(leave))]
    if len(leave) > 1:
        before = sum(one.before.total_half_days for one in leave)
        after = sum(_half_days_after(one) for one in leave)
        lines.append(
            ngettext(
                "{count} person affected: {before} → {after} in total.",
                "{count} people affected: {before} → {after} in total.",
                len({one.user.id for one in leave}),
                before=words.amount(before),
                after=words.amount(after),
            )
        )
    lines += _few(leave, _changed)
    if any(one.after.status != "cancelled" and not one.after.total_half_days for one in leave):
        lines.append(
            gettext(
                "Leave that no longer covers any working days stays booked until it's cancelled."
            )
        )
    return lines


def _changed(one: LeaveEffect) -> str:
    places = {
        "who": _name(one.user.name),
        "when": cards.dates(one.before),
        "before": words.amount(one.before.total_half_days),
    }
    if one.after.status == "cancelled":
        return gettext("{who}, {when}: cancelled ({before})", **places)
    after = words.amount(one.after.total_half_days)
    if one.after.end_date != one.before.end_date:
        last = words.day(one.after.end_date)
        return gettext("{who}, {when}: ends on {last} ({after})", last=last, after=after, **places)
    return gettext("{who}, {when}: {before} → {after}", after=after, **places)


def _half_days_after(one: LeaveEffect) -> int:
    return 0 if one.after.status == "cancelled" else one.after.total_half_days


def _rerouted(named_effects: NamedEffects) -> list[str]:
    rerouted = named_effects.effects.rerouted

    def line(one: Rerouted) -> str:
        return gettext(
            "{who}, {when}: {before} → {after}",
            who=_name(named_effects.names.get(one.request.user_id, "")),
            when=cards.dates(one.request),
            before=_asked(one.before),
            after=_asked(one.after),
        )

    heading = ngettext(
        "{count} request moves to other approvers.",
        "{count} requests move to other approvers.",
        len(rerouted),
    )
    return [heading, *_few(rerouted, line)]


def _overdrawn(named_effects: NamedEffects) -> list[str]:
    overdrawn = named_effects.effects.overdrawn

    def line(one: BalanceEffect) -> str:
        after = words.number((one.after_half_days or 0) / 2)
        who = _name(named_effects.names.get(one.user_id, ""))
        if one.before_half_days is None:
            return gettext(
                "{who}, {year}: {after} days left", who=who, year=one.year.name, after=after
            )
        before = words.number(one.before_half_days / 2)
        return gettext(
            "{who}, {year}: {before} → {after} days left",
            who=who,
            year=one.year.name,
            before=before,
            after=after,
        )

    heading = ngettext(
        "{count} person will have a negative balance.",
        "{count} people will have a negative balance.",
        len({one.user_id for one in overdrawn}),
    )
    return [heading, *_few(overdrawn, line)]


def _asked(users: Sequence[User]) -> str:
    return words.names([_name(one.name) for one in users], _MOST_ASKED) or gettext("No one")


def _others(named_effects: NamedEffects) -> list[str]:
    """What else ends or loses somebody, a line each; nothing that does not happen."""
    effects = named_effects.effects
    reports = [_name(named_effects.names.get(user_id, "")) for user_id in effects.reports]
    departments = [_name(named_effects.departments[one]) for one in effects.departments]
    lines = [
        ngettext(
            "{count} person loses their manager: {names}",
            "{count} people lose their manager: {names}",
            len(reports),
            names=words.names(reports),
        ),
        ngettext(
            "{count} department loses its manager: {names}",
            "{count} departments lose their manager: {names}",
            len(departments),
            names=words.names(departments),
        ),
        ngettext(
            "{count} API key stops working.", "{count} API keys stop working.", effects.api_keys
        ),
        ngettext(
            "{count} calendar link stops working.",
            "{count} calendar links stop working.",
            effects.calendar_feeds,
        ),
    ]
    numbers = (len(reports), len(departments), effects.api_keys, effects.calendar_feeds)
    return [line for number, line in zip(numbers, lines, strict=True) if number]


def _few(things: Sequence[T], line: Callable[[T], str]) -> list[str]:
    lines = [f"• {line(one)}" for one in things[:_MOST_NAMED]]
    if more := len(things) - len(lines):
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    return lines


def _name(typed: str) -> str:
    return text.cut(" ".join(typed.split()), text.LONGEST_NAME)
