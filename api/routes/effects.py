"""The effects of a change, which a dry run responds with: bounded lists, and totals."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.routes.balances import LeaveYearRecord, leave_year
from storage.admin import effects
from storage.admin.effects import BalanceEffect, Effects
from storage.base import values
from storage.base.leave_values import LeaveEffect, LeaveStatus, Reassignment
from storage.base.values import About, Days, Id, UserSummaryRecord, days_of, days_or_none
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import holiday_calendar

# Of each list; the totals count everything.
_MAX_SHOWN: Final = 100

Effect = Literal["recounted", "shortened", "cancelled"]
LeaveWarning = Literal["counts_nothing"]
Warning = Literal[
    "leave_counts_nothing",
    "country_has_regions",
    "other_balances_change",
    "all_years_change",
    "balance_negative",
]


class BalanceChangeRecord(TypedDict):
    """The days returned to a leave year; negative if deducted."""

    leave_year: Annotated[str, About(example="2026/27")]
    days: float


class LeaveEffectRecord(TypedDict):
    """A leave request that would change, with its dates and days before and after."""

    leave_request_id: Id
    user: UserSummaryRecord
    leave_type_id: Id
    status: LeaveStatus
    effect: Effect
    start_date: date
    start_date_after: date
    end_date: date
    end_date_after: date
    days_before: Days
    days_after: Annotated[Days, Field(description="0 if it would be cancelled.")]
    balance_changes: list[BalanceChangeRecord]
    warnings: list[LeaveWarning]


class BalanceEffectRecord(TypedDict):
    """A person's balance of an allowance in one leave year, before and after."""

    user_id: Id
    allowance_id: Id
    leave_year: LeaveYearRecord
    on: Annotated[
        date,
        Field(
            description="The date of the balance: today, or the first day of a future leave "
            "year. `GET "
            "/users/{id}/balances` for that date shows the same `remaining`."
        ),
    ]
    before: Annotated[
        float | None,
        Field(description="Days left; null if this leave year does not exist before the change."),
    ]
    after: Annotated[
        float | None,
        Field(description="Days left; null if this leave year does not exist after the change."),
    ]


class ReroutedRecord(TypedDict):
    """A pending request that would get other approvers."""

    leave_request_id: Id
    user_id: Id
    approvers_before: list[Id]
    approvers_after: Annotated[list[Id], Field(description="Empty if no one could decide.")]


class EffectTotalsRecord(TypedDict):
    """Totals of everything, including what the lists leave out."""

    users: Annotated[int, Field(description="People whose leave would change.")]
    leave_requests: int
    days_before: float
    days_after: float
    rerouted: int
    closures: Annotated[int, Field(description="People whose leave of closures would change.")]
    api_keys: Annotated[int, Field(description="Those that would stop working.")]
    calendar_feeds: Annotated[int, Field(description="Those that would stop working.")]
    reports: Annotated[int, Field(description="People whose manager would be archived.")]
    departments: Annotated[int, Field(description="Departments whose manager would be archived.")]
    uncovered: Annotated[int, Field(description="Leave of others that would lose its cover.")]
    time_credits: Annotated[
        int, Field(description="Pending claims for time in lieu that would be cancelled.")
    ]
    overdrawn: Annotated[
        int,
        Field(description="People whose balance would become negative with the changed allowance."),
    ]
    rebalanced: Annotated[
        int,
        Field(
            description="People whose balance would change in this leave year or later, because "
            "an allowance has other terms, or their booked leave would draw on another one or "
            "on none."
        ),
    ]
    refused: Annotated[
        int,
        Field(
            description="Requests of the next three months that the absence limit would have "
            "refused, had it been there before them. They stay as they are."
        ),
    ]
    warned: Annotated[
        int,
        Field(
            description="Requests of the next three months that the absence limit would have "
            "warned of."
        ),
    ]


class EffectsRecord(TypedDict):
    """The effects of a dry run. Nothing was changed."""

    dry_run: Literal[True]
    totals: EffectTotalsRecord
    leave_requests: Annotated[
        list[LeaveEffectRecord], Field(description="By first day, at most 100.")
    ]
    rerouted: Annotated[list[ReroutedRecord], Field(description="Oldest first, at most 100.")]
    balances: Annotated[
        list[BalanceEffectRecord],
        Field(
            description="Every leave year from today's to that of their last leave whose balance "
            "changes: for the person who is changed, or else for people whose balance "
            "becomes negative and the first 100 people whose leave or balance changes."
        ),
    ]
    has_more: Annotated[bool, Field(description="Whether a list was cut at 100.")]
    warnings: Annotated[
        list[Warning],
        Field(
            description="`leave_counts_nothing`: a request would stay and count nothing. "
            "`country_has_regions`: only national holidays would count; see `GET "
            "/countries`. `other_balances_change`: allowances change, so balances that are "
            "not listed would change, too. `all_years_change`: leave that began in the past "
            "would draw on another allowance, or on none. `balance_negative`: the change "
            "would make a balance negative, or lower a negative one."
        ),
    ]


def shown(config: OrganisationConfig, changes: Effects) -> EffectsRecord:
    """The effects as a response; ``config`` is from before the change."""
    leave = changes.leave
    return {
        "dry_run": True,
        "totals": {
            "users": len({effect.user.id for effect in leave}),
            "leave_requests": len(leave),
            "days_before": days_of(sum(effect.before.total_half_days for effect in leave)),
            "days_after": days_of(sum(map(_half_days_after, leave))),
            "rerouted": len(changes.reassigned),
            "closures": len({each.user.id for each in changes.closed if each.before != each.after}),
            "api_keys": changes.api_keys,
            "calendar_feeds": changes.calendar_feeds,
            "reports": len(changes.reports),
            "departments": len(changes.departments),
            "uncovered": changes.uncovered,
            "time_credits": changes.time_credits,
            "overdrawn": len({balance.user_id for balance in changes.overdrawn}),
            "rebalanced": changes.rebalanced,
            "refused": changes.refused,
            "warned": changes.warned,
        },
        "leave_requests": [_leave(config, effect) for effect in leave[:_MAX_SHOWN]],
        "rerouted": list(map(_rerouted, changes.reassigned[:_MAX_SHOWN])),
        "balances": list(map(_balance, changes.balances)),
        "has_more": max(
            changes.rebalanced, *map(len, (leave, changes.reassigned, changes.overdrawn))
        )
        > _MAX_SHOWN,
        "warnings": _warnings(changes),
    }


def _leave(config: OrganisationConfig, effect: LeaveEffect) -> LeaveEffectRecord:
    before, after = effect.before, effect.after
    return {
        "leave_request_id": before.id,
        "user": values.user_summary(effect.user),
        "leave_type_id": before.leave_type_id,
        "status": before.status,
        "effect": _effect(effect),
        "start_date": before.start_date,
        "start_date_after": after.start_date,
        "end_date": before.end_date,
        "end_date_after": after.end_date,
        "days_before": days_of(before.total_half_days),
        "days_after": days_of(_half_days_after(effect)),
        "balance_changes": [
            {"leave_year": year.name, "days": days_of(half_days)}
            for year, half_days in effects.balance_changes(config, effect)
        ],
        "warnings": ["counts_nothing"] if _counts_nothing(effect) else [],
    }


def _effect(effect: LeaveEffect) -> Effect:
    if effect.after.status == "cancelled":
        return "cancelled"
    before, after = effect.before, effect.after
    has_same_dates = (after.start_date, after.end_date) == (before.start_date, before.end_date)
    return "recounted" if has_same_dates else "shortened"


def _half_days_after(effect: LeaveEffect) -> int:
    return 0 if effect.after.status == "cancelled" else effect.after.total_half_days


def _counts_nothing(effect: LeaveEffect) -> bool:
    return effect.after.status != "cancelled" and effect.after.total_half_days == 0


def _rerouted(reassigned: Reassignment) -> ReroutedRecord:
    return {
        "leave_request_id": reassigned.request.id,
        "user_id": reassigned.request.user_id,
        "approvers_before": [user.id for user in reassigned.before],
        "approvers_after": [user.id for user in reassigned.after],
    }


def _balance(effect: BalanceEffect) -> BalanceEffectRecord:
    return {
        "user_id": effect.user_id,
        "allowance_id": effect.allowance_id,
        "leave_year": leave_year(effect.year),
        "on": effect.on,
        "before": days_or_none(effect.before_half_days),
        "after": days_or_none(effect.after_half_days),
    }


def _warnings(changes: Effects) -> list[Warning]:
    code = changes.chosen_country_code
    warnings: list[Warning] = (
        ["leave_counts_nothing"] if any(map(_counts_nothing, changes.leave)) else []
    )
    if code is not None and holiday_calendar.has_regions(code):
        warnings.append("country_has_regions")
    if changes.changes_allowances:
        warnings.append("other_balances_change")
    if changes.changes_the_past:
        warnings.append("all_years_change")
    if changes.overdrawn:
        warnings.append("balance_negative")
    return warnings
