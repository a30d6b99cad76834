"""What of an allowance counts from a day on: its terms, and the figures of people.

Checked, changed, and as clients see them. What is before the day keeps what it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final, get_args

from storage.base import fields
from storage.base.allowance_values import (
    Allowance,
    AllowanceFigure,
    AllowanceTerms,
    Amount,
    Granting,
    TenureStep,
)
from storage.base.amounts import check_amount, check_half_days
from storage.base.errors import Conflict, InvalidInput, NotFound
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import User, days_of, days_or_none, local_day
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms
from storage.rules import dated

MAX_TERMS: Final = 100
MAX_TENURE_STEPS: Final = 20
_MAX_MONTHS: Final = 120


def _check_tenure(steps: Sequence[TenureStep], field: str) -> tuple[TenureStep, ...]:
    """Raises InvalidInput ``tenure_not_rising``, ``out_of_range`` or ``too_many_tenure_steps``."""
    if len(steps) > MAX_TENURE_STEPS:
        raise InvalidInput.of(
            field, "too_many_tenure_steps", "Use at most {most} steps.", most=MAX_TENURE_STEPS
        )
    for step in steps:
        fields.whole_number(1, 60)(step.after_years, field)
        check_amount(step.half_days_per_year, field)
    years = [step.after_years for step in steps]
    if any(before >= after for before, after in zip(years, years[1:], strict=False)):
        raise InvalidInput.of(
            field, "tenure_not_rising", "Put the steps in the order of years, each once."
        )
    return tuple(steps)


_months: Final = fields.whole_number(1, _MAX_MONTHS)
OF_TERMS: Final[Mapping[str, fields.Check]] = {
    "half_days_per_year": fields.optional(check_amount),
    "granting": fields.one_of(*get_args(Granting), code="unknown_granting"),
    "by_tenure": _check_tenure,
    "available_after_months": fields.optional(_months),
    "may_borrow": fields.boolean,
    "overdraft_half_days": check_half_days,
    "carry_over_half_days": fields.optional(check_amount),
    "carry_over_expires_after_months": fields.optional(fields.whole_number(1, 12)),
    "credits_expire_after_months": fields.optional(_months),
}


class TooManyTerms(Conflict):
    """An allowance, or the organisation's pro rata rule, changes from too many days on."""

    code = "too_many_terms"
    title = "There are too many dated terms."
    cure = "Delete future ones that are not needed."

    def __init__(self) -> None:
        super().__init__("There can be at most {most} dated changes.", most=MAX_TERMS)


class TermsInForce(Conflict):
    """Terms that count already stay: leave has been taken by them."""

    code = "terms_in_force"
    title = "These terms count already."
    cure = "Change the allowance from a day on instead."
    example = (date(2026, 1, 1),)

    def __init__(self, valid_from: date | None) -> None:
        if valid_from is None:
            super().__init__("The first terms cannot be deleted.")
        else:
            super().__init__("They have counted since {day}.", day=valid_from)


def with_terms(
    config: OrganisationConfig,
    allowance: Allowance,
    changes: Checked,
    effective_from: date | None,
    *,
    now: datetime,
) -> Allowance:
    """The allowance with changed terms from a day on. Raises InvalidInput or TooManyTerms."""
    today = local_day(now, config.organisation.timezone)
    day, is_by_leave_year = allowance_terms.effective_from(
        config, effective_from, today, allowance.terms
    )
    at = dated.on_or_first(allowance.terms, allowance_terms.organisation_rule(config), day)
    new = replace(at, **changes, id=new_id(now), valid_from=day, is_by_leave_year=is_by_leave_year)
    terms = dated.changed_from(allowance.terms, at, new, changes)
    if len(terms) > MAX_TERMS:
        raise TooManyTerms
    return replace(allowance, terms=terms)


def with_figure(
    config: OrganisationConfig,
    user: User,
    allowance_id: str,
    half_days: Amount | None,
    effective_from: date | None,
    *,
    now: datetime,
) -> User:
    """The person with a figure in an allowance other than the default one, from a day on.

    Raises InvalidInput or TooManyTerms.
    """
    today = local_day(now, config.organisation.timezone)
    own = [each for each in user.figures if each.allowance_id == allowance_id]
    day, _ = allowance_terms.effective_from(config, effective_from, today, own, user)
    new = AllowanceFigure(allowance_id=allowance_id, valid_from=day, half_days=half_days)
    in_force = next((each for each in reversed(own) if (each.valid_from or day) <= day), None)
    at = replace(new, half_days=None if in_force is None else in_force.half_days)
    changed = dated.changed_from(tuple(own), at, new, {"half_days": half_days})
    if len(changed) > MAX_TERMS:
        raise TooManyTerms
    others = (each for each in user.figures if each.allowance_id != allowance_id)
    return replace(user, figures=(*others, *changed))


def find_terms(allowance: Allowance, terms_id: str) -> AllowanceTerms:
    """Raises NotFound."""
    for terms in allowance.terms:
        if terms.id == terms_id:
            return terms
    raise NotFound("terms")


def terms_in_days(terms: AllowanceTerms) -> dict[str, object]:
    """The terms as clients see them, with amounts in days."""
    return {
        "id": terms.id,
        "valid_from": terms.valid_from,
        "by_leave_year": terms.is_by_leave_year,
        "days_per_year": days_or_none(terms.half_days_per_year),
        "granting": terms.granting,
        "by_tenure": [
            {
                "after_years": step.after_years,
                "days_per_year": days_of(step.half_days_per_year),
            }
            for step in terms.by_tenure
        ],
        "available_after_months": terms.available_after_months,
        "may_borrow": terms.may_borrow,
        "overdraft_days": days_of(terms.overdraft_half_days),
        "carry_over": days_or_none(terms.carry_over_half_days),
        "carry_over_expires_after_months": terms.carry_over_expires_after_months,
        "credits_expire_after_months": terms.credits_expire_after_months,
    }
