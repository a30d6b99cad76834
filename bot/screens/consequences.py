"""The effects of a change on leave and people, in a confirmation modal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bot.base.block_kit import Block, View
from bot.base.language import gettext, ngettext
from bot.blocks import layout, words
from storage.admin.effects import BalanceEffect, Effects
from storage.base.leave_values import ClosureEffect, LeaveEffect, Reassignment
from storage.base.values import User

T = TypeVar("T")

# The rest is counted.
_MAX_NAMED: Final = 5
# Approvers of one request, before and after.
_MAX_APPROVERS: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedEffects:
    """Effects, with the names of people and departments by id."""

    effects: Effects
    names: Mapping[str, str]
    departments: Mapping[str, str]


def user_ids(effects: Effects) -> list[str]:
    """The user ids that ``NamedEffects.names`` must contain."""
    requesters = {effect.request.user_id for effect in effects.reassigned[:_MAX_NAMED]}
    balances = {effect.user_id for effect in (effects.overdrawn or effects.balances)[:_MAX_NAMED]}
    return sorted(requesters | balances | set(effects.reports[:_MAX_NAMED]))


def before_saving(named_effects: NamedEffects, callback_id: str, private_metadata: str) -> View:
    intro = gettext("Here's what will change. Nothing is saved yet.")
    return confirmation(
        gettext("Before you save"),
        intro,
        named_effects,
        callback_id,
        gettext("Save"),
        private_metadata,
    )


def confirmation(
    title: str,
    intro: str,
    named_effects: NamedEffects,
    callback_id: str,
    submit: str,
    private_metadata: str,
) -> View:
    """A modal that shows the effects and asks to confirm. ``intro`` is plain text."""
    paragraphs = [intro, *(paragraph for paragraph in _paragraphs(named_effects) if paragraph)]
    blocks: list[Block] = [layout.paragraph(paragraph) for paragraph in paragraphs]
    return layout.modal(title, blocks, callback_id, submit, gettext("Cancel"), private_metadata)


def _paragraphs(named_effects: NamedEffects) -> list[str]:
    effects = named_effects.effects
    return [
        "\n".join(_leave(effects.leave)) if effects.leave else "",
        "\n".join(_closed(effects.closed)),
        "\n".join(_skipped(effects.closed)),
        _over_limit(effects),
        "\n".join(_rebalanced(named_effects)),
        "\n".join(_reassigned(named_effects)) if effects.reassigned else "",
        "\n".join(_overdrawn(named_effects)) if effects.overdrawn else _own_balance(named_effects),
        _leaver(effects.leaver) if effects.leaver else "",
        "\n".join(f"• {line}" for line in _others(named_effects)),
    ]


def _over_limit(effects: Effects) -> str:
    """What an absence limit would have meant for requests that were made before it."""
    if effects.refused:
        return ngettext(
            "{count} request of the next three months would have been refused. It stays as it is.",
            "{count} requests of the next three months would have been refused. They stay as they "
            "are.",
            effects.refused,
        )
    if effects.warned:
        return ngettext(
            "{count} request of the next three months would have got a warning.",
            "{count} requests of the next three months would have got a warning.",
            effects.warned,
        )
    return ""


def _leave(leave: Sequence[LeaveEffect]) -> list[str]:
    lines = [ngettext("{count} request will change.", "{count} requests will change.", len(leave))]
    if len(leave) > 1:
        before = sum(effect.before.total_half_days for effect in leave)
        after = sum(_half_days_after(effect) for effect in leave)
        lines.append(
            ngettext(
                "{count} person affected: {before} → {after} in total.",
                "{count} people affected: {before} → {after} in total.",
                len({effect.user.id for effect in leave}),
                before=words.amount(before),
                after=words.amount(after),
            )
        )
    lines += _few(leave, _change)
    if any(
        effect.after.status != "cancelled" and not effect.after.total_half_days for effect in leave
    ):
        lines.append(
            gettext(
                "Leave that no longer covers any working days stays booked until it's cancelled."
            )
        )
    return lines


def _closed(closed: Sequence[ClosureEffect]) -> list[str]:
    """Whose leave of closures changes."""
    changed = [effect for effect in closed if effect.before != effect.after]
    if not changed:
        return []
    people = len({effect.user.id for effect in changed})
    before = sum(effect.half_days_before for effect in changed)
    after = words.amount(sum(effect.half_days_after for effect in changed))
    if before:
        heading = ngettext(
            "{count} person's closure leave will change: {before} → {after} in total.",
            "{count} people's closure leave will change: {before} → {after} in total.",
            people,
            before=words.amount(before),
            after=after,
        )
    else:
        heading = ngettext(
            "{count} person gets leave: {after}.",
            "{count} people get leave: {after} in total.",
            people,
            after=after,
        )
    lines = [heading, *_few(changed, _closed_person)]
    if replaced := sum(effect.half_days_replaced for effect in changed):
        lines.append(
            gettext(
                "Home office and other work elsewhere on these days is cancelled: {amount}.",
                amount=words.amount(replaced),
            )
        )
    return lines


def _closed_person(effect: ClosureEffect) -> str:
    left = [request for request in effect.after if request.status == "approved"]
    who, after = _name(effect.user.name), words.amount(effect.half_days_after)
    if effect.before:
        before = words.amount(effect.half_days_before)
        return gettext("{who}: {before} → {after}", who=who, before=before, after=after)
    when = ", ".join(words.dates(request) for request in left)
    return gettext("{who}, {when}: {after}", who=who, when=when, after=after)


def _skipped(closed: Sequence[ClosureEffect]) -> list[str]:
    skipped = [_name(effect.user.name) for effect in closed if effect.is_skipped]
    if not skipped:
        return []
    heading = ngettext(
        "{count} person has too few days left. Nothing is booked for them:",
        "{count} people have too few days left. Nothing is booked for them:",
        len(skipped),
    )
    return [heading, *_few(skipped, str)]


def _change(effect: LeaveEffect) -> str:
    values = {
        "who": _name(effect.user.name),
        "when": words.dates(effect.before),
        "before": words.amount(effect.before.total_half_days),
    }
    if effect.after.status == "cancelled":
        return gettext("{who}, {when}: cancelled ({before})", **values)
    after = words.amount(effect.after.total_half_days)
    if effect.after.end_date != effect.before.end_date:
        last = words.day(effect.after.end_date)
        return gettext("{who}, {when}: ends on {last} ({after})", last=last, after=after, **values)
    if effect.after.start_date != effect.before.start_date:
        first = words.day(effect.after.start_date)
        return gettext(
            "{who}, {when}: starts on {first} ({after})", first=first, after=after, **values
        )
    return gettext("{who}, {when}: {before} → {after}", after=after, **values)


def _half_days_after(effect: LeaveEffect) -> int:
    return 0 if effect.after.status == "cancelled" else effect.after.total_half_days


def _reassigned(named_effects: NamedEffects) -> list[str]:
    reassigned = named_effects.effects.reassigned

    def line(request: Reassignment) -> str:
        return gettext(
            "{who}, {when}: {before} → {after}",
            who=_name(named_effects.names.get(request.request.user_id, "")),
            when=words.dates(request.request),
            before=_approvers(request.before),
            after=_approvers(request.after),
        )

    heading = ngettext(
        "{count} request moves to other approvers.",
        "{count} requests move to other approvers.",
        len(reassigned),
    )
    return [heading, *_few(reassigned, line)]


def _rebalanced(named_effects: NamedEffects) -> list[str]:
    """What happens to balances because an allowance changes, or what leave of a type draws on."""
    effects = named_effects.effects
    if effects.deducts_allowance is None:
        return _rebalanced_people(named_effects) if effects.rebalanced else []
    uses = _use_of_allowance(effects)
    if not effects.rebalanced:
        return [uses, gettext("No balance of this leave year or a later one will change.")]
    return [uses, *_rebalanced_people(named_effects)]


def _use_of_allowance(effects: Effects) -> str:
    """Which allowance leave of the changed type uses, and from when."""
    allowance, day = _name(effects.drawn_on or ""), effects.drawn_on_from
    if day is None:
        if not effects.deducts_allowance:
            return gettext(
                "Leave of this type that begins today or later will not use any allowance."
            )
        return gettext(
            "Leave of this type that begins today or later will use the allowance “{allowance}”.",
            allowance=allowance,
        )
    shown = words.plain_day(day)
    if not effects.deducts_allowance:
        return gettext(
            "Leave of this type that begins on {day} or later will not use any allowance.",
            day=shown,
        )
    return gettext(
        "Leave of this type that begins on {day} or later will use the allowance “{allowance}”.",
        day=shown,
        allowance=allowance,
    )


def _rebalanced_people(named_effects: NamedEffects) -> list[str]:
    effects = named_effects.effects
    heading = ngettext(
        "{count} person's balance will change.",
        "{count} people's balances will change.",
        effects.rebalanced,
    )
    if effects.overdrawn:
        return [heading]
    return [heading, *_few(effects.balances, lambda each: _balance(named_effects, each))]


def _overdrawn(named_effects: NamedEffects) -> list[str]:
    overdrawn = named_effects.effects.overdrawn
    heading = ngettext(
        "{count} person will have a negative balance.",
        "{count} people will have a negative balance.",
        len({effect.user_id for effect in overdrawn}),
    )
    return [heading, *_few(overdrawn, lambda effect: _balance(named_effects, effect))]


def _own_balance(named_effects: NamedEffects) -> str:
    """The balances of the only person whose balances change."""
    balances = named_effects.effects.balances
    if named_effects.effects.rebalanced or named_effects.effects.deducts_allowance is not None:
        return ""
    if len({effect.user_id for effect in balances}) != 1:
        return ""
    return "\n".join(_few(balances, lambda effect: _balance(named_effects, effect)))


def _balance(named_effects: NamedEffects, effect: BalanceEffect) -> str:
    after = words.amount(effect.after_half_days or 0)
    who = _name(named_effects.names.get(effect.user_id, ""))
    year = effect.year.name
    if effect.allowance_name is not None:
        year = f"{_name(effect.allowance_name)} {year}"
    if effect.before_half_days is None:
        return gettext("{who}, {year}: {amount} left", who=who, year=year, amount=after)
    before = words.number(effect.before_half_days / 2)
    return gettext(
        "{who}, {year}: {before} → {after} left",
        who=who,
        year=year,
        before=before,
        after=after,
    )


def _leaver(user: User) -> str:
    if user.end_date is None:
        return ""
    return gettext(
        "{name} will be archived after {day}.", name=_name(user.name), day=words.day(user.end_date)
    )


def _approvers(users: Sequence[User]) -> str:
    return words.names([_name(user.name) for user in users], _MAX_APPROVERS) or gettext("No one")


def _others(named_effects: NamedEffects) -> list[str]:
    """Managers and covers lost, keys and links that stop working: a line for each that applies."""
    effects = named_effects.effects
    reports = [_name(named_effects.names.get(user_id, "")) for user_id in effects.reports]
    departments = [
        _name(named_effects.departments[department_id]) for department_id in effects.departments
    ]
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
            "{count} request of a colleague loses its cover.",
            "{count} requests of colleagues lose their cover.",
            effects.uncovered,
        ),
        ngettext(
            "{count} claim for time in lieu is cancelled.",
            "{count} claims for time in lieu are cancelled.",
            effects.time_credits,
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
    numbers = (
        len(reports),
        len(departments),
        effects.uncovered,
        effects.time_credits,
        effects.api_keys,
        effects.calendar_feeds,
    )
    return [line for number, line in zip(numbers, lines, strict=True) if number]


def _few(items: Sequence[T], line: Callable[[T], str]) -> list[str]:
    lines = [f"• {line(item)}" for item in items[:_MAX_NAMED]]
    if more := len(items) - len(lines):
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    return lines


def _name(typed: str) -> str:
    return layout.cut(" ".join(typed.split()), layout.MAX_NAME)
