"""What counts for a person in an allowance on each date: their figure, the terms, pro rata rules.

Dates of the organisation become dates of the person: what counts by leave year begins with the
person's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final, Literal, NamedTuple

from storage.base.allowance_values import (
    Allowance,
    AllowanceFigure,
    AllowanceTerms,
    Amount,
    ProRata,
    TenureStep,
)
from storage.base.errors import InvalidInput
from storage.base.values import Department, Organisation, User
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import dated, employment_terms, leave_years
from storage.rules.dated import Dated
from storage.rules.entitlements import AS_ALWAYS, Entitlement, Grant, ProRataFrom
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import TermsFrom

# A change further away is a slip of the pen.
REACH_YEARS: Final = 30

AllowanceSource = Literal["user", "department", "organisation"]


class GrantedFigure(NamedTuple):
    """The half-days of a whole leave year, whose figure that is, and those by tenure."""

    half_days: Amount
    source: AllowanceSource
    by_tenure: tuple[TenureStep, ...] = ()


def organisation_rule(config: OrganisationConfig, start_date: date | None = None) -> LeaveYearRule:
    """The leave years of people whose leave years are the organisation's."""
    organisation = config.organisation
    return LeaveYearRule(
        type=organisation.leave_year_type,
        month=organisation.leave_year_start_month,
        day=organisation.leave_year_start_day,
        start_date=start_date,
    )


def leave_year_rule(config: OrganisationConfig, user: User) -> LeaveYearRule:
    return organisation_rule(config, user.start_date)


def check_known(config: OrganisationConfig, allowance_id: str) -> Allowance:
    """The allowance with that id, archived or not. Raises InvalidInput ``unknown_allowance``."""
    allowance = config.allowances.get(allowance_id)
    if allowance is None:
        raise InvalidInput.of(
            "allowance_id",
            "unknown_allowance",
            "There is no allowance with this id. GET /api/v1/allowances lists them.",
        )
    return allowance


def terms_from(config: OrganisationConfig, user: User, allowance_id: str) -> tuple[TermsFrom, ...]:
    rule = leave_year_rule(config, user)
    return tuple(
        TermsFrom(first_day=dated.first_day(terms, rule), terms=terms)
        for terms in config.allowances[allowance_id].terms
    )


def entitlement(config: OrganisationConfig, user: User, allowance_id: str) -> Entitlement:
    """What the person is granted over time in an allowance."""
    rule = leave_year_rule(config, user)
    grants: list[Grant] = []
    for day in _days_of_change(config, user, allowance_id, rule):
        figure = figure_on(config, user, allowance_id, day)
        grant = Grant(first_day=day, half_days=figure.half_days, by_tenure=figure.by_tenure)
        if not grants or replace(grant, first_day=grants[-1].first_day) != grants[-1]:
            grants.append(grant)
    return Entitlement(
        grants=tuple(grants),
        start_date=user.start_date,
        end_date=user.end_date,
        earlier=user.earlier_periods,
        pro_rata=tuple(
            ProRataFrom(first_day=dated.first_day(each, rule), rule=each)
            for each in config.organisation.pro_rata_rules
        )
        or AS_ALWAYS,
    )


def figure_on(
    config: OrganisationConfig, user: User, allowance_id: str, day: date
) -> GrantedFigure:
    """The person's own figure of the day, their department's, or that of the terms."""
    rule = leave_year_rule(config, user)
    own = _own_figure_on(config, user, allowance_id, day, rule)
    if own is not None:
        return own
    allowance = config.allowances[allowance_id]
    terms = dated.on_or_first(allowance.terms, rule, day)
    return GrantedFigure(terms.half_days_per_year or 0, "organisation", terms.by_tenure)


def own_figure(
    config: OrganisationConfig, user: User, allowance_id: str, day: date
) -> Amount | None:
    """The person's own figure of the day; None where that of the terms or department counts."""
    found = _own_figure_on(config, user, allowance_id, day, leave_year_rule(config, user))
    return None if found is None or found.source != "user" else found.half_days


def _own_figure_on(
    config: OrganisationConfig, user: User, allowance_id: str, day: date, rule: LeaveYearRule
) -> GrantedFigure | None:
    if allowance_id != config.default_allowance_id:
        figure = dated.on(_figures_of(user.figures, allowance_id), rule, day)
        if figure is None or figure.half_days is None:
            return None
        return GrantedFigure(figure.half_days, "user")
    record = employment_terms.on(employment_terms.records_of(user), day)
    if record.leave_allowance_half_days is not None:
        return GrantedFigure(record.leave_allowance_half_days, "user")
    department = config.departments.get(record.department_id or "")
    if department is None:
        return None
    half_days = half_days_of_department(department, rule, day)
    return None if half_days is None else GrantedFigure(half_days, "department")


def half_days_of_department(
    department: Department, rule: LeaveYearRule, day: date
) -> Amount | None:
    """The department's figure of the day; None for that of the terms."""
    figure = dated.on(department.figures, rule, day)
    return department.default_leave_allowance_half_days if figure is None else figure.half_days


def _days_of_change(
    config: OrganisationConfig, user: User, allowance_id: str, rule: LeaveYearRule
) -> list[date]:
    """The days from which another figure may count; the first is the beginning of time."""
    values: list[Dated] = [*config.allowances[allowance_id].terms]
    days = {date.min}
    if allowance_id == config.default_allowance_id:
        records = employment_terms.records_of(user)
        days.update(map(employment_terms.begin, records))
        for department_id in {record.department_id for record in records}:
            department = config.departments.get(department_id or "")
            values += () if department is None else department.figures
    else:
        values += _figures_of(user.figures, allowance_id)
    return sorted(days | {dated.first_day(each, rule) for each in values})


def _figures_of(figures: Sequence[AllowanceFigure], allowance_id: str) -> list[AllowanceFigure]:
    return [figure for figure in figures if figure.allowance_id == allowance_id]


def terms_on(config: OrganisationConfig, allowance_id: str, day: date) -> AllowanceTerms:
    """The terms of the day for people whose leave years are the organisation's."""
    allowance = config.allowances[allowance_id]
    return dated.on_or_first(allowance.terms, organisation_rule(config), day)


def department_as_of(config: OrganisationConfig, department: Department, day: date) -> Department:
    """The department with the figure that counts on the day."""
    half_days = half_days_of_department(department, organisation_rule(config), day)
    return replace(department, default_leave_allowance_half_days=half_days)


def organisation_as_of(config: OrganisationConfig, day: date) -> Organisation:
    """The organisation with the terms of the default allowance and the pro rata rule of the day."""
    organisation = config.organisation
    terms = terms_on(config, config.default_allowance_id, day)
    carried, most = terms.carry_over_half_days, 2 * 366
    return replace(
        organisation,
        default_leave_allowance_half_days=terms.half_days_per_year or 0,
        carry_over_half_days=most if carried is None else carried,
        carry_over_expiry_month=expiry_month(organisation, terms),
        pro_rata_rules=pro_rata_on(config, day),
    )


def pro_rata_on(config: OrganisationConfig, day: date) -> tuple[ProRata, ...]:
    """The rule of the day for people whose leave years are the organisation's, if any is set."""
    rules = config.organisation.pro_rata_rules
    found = dated.on(rules, organisation_rule(config), day)
    return rules[:1] if found is None else (found,)


def expiry_month(organisation: Organisation, terms: AllowanceTerms) -> int | None:
    """The calendar month at whose end carried days expire; None if they do not, or at no such."""
    months = terms.carry_over_expires_after_months
    if months is None or organisation.leave_year_type == "anniversary":
        return terms.carry_over_expiry_month
    begins_in = organisation.leave_year_start_month if _is_fiscal(organisation) else 1
    return (begins_in + months - 2) % 12 + 1


def expiry_of_month(organisation: Organisation, month: int | None) -> dict[str, int | None]:
    """The expiry of carried days as terms have it: in months after the leave year began.

    Leave years that begin within a month have the calendar month itself.
    """
    begins_on_the_first = not _is_fiscal(organisation) or organisation.leave_year_start_day == 1
    if month is None or organisation.leave_year_type == "anniversary" or not begins_on_the_first:
        return {"carry_over_expiry_month": month, "carry_over_expires_after_months": None}
    begins_in = organisation.leave_year_start_month if _is_fiscal(organisation) else 1
    months = (month - begins_in) % 12 + 1
    return {"carry_over_expiry_month": None, "carry_over_expires_after_months": months}


def _is_fiscal(organisation: Organisation) -> bool:
    return organisation.leave_year_type == "fiscal"


def check_effective_from(day: date, today: date) -> None:
    """Raises InvalidInput ``out_of_range`` for a day of another century."""
    if abs(day.year - today.year) > REACH_YEARS:
        raise InvalidInput.of(
            "effective_from",
            "out_of_range",
            "Choose a date within {years} years of today.",
            years=REACH_YEARS,
        )


def effective_from(
    config: OrganisationConfig,
    day: date | None,
    today: date,
    values: Sequence[Dated],
    person: User | None = None,
) -> tuple[date, bool]:
    """From when a change of dated values counts, and whether that is by each person's leave year.

    ``day`` None is the first day of the present leave year, of ``person`` if they are their values.
    It is that of the value in force today if that began later: an earlier change would end with it.
    Leave years by anniversary begin on other days for each person.

    Raises InvalidInput ``out_of_range``.
    """
    if day is not None:
        check_effective_from(day, today)
        return day, False
    if person is None and config.organisation.leave_year_type == "anniversary":
        return today, True
    rule = organisation_rule(config) if person is None else leave_year_rule(config, person)
    first_day = leave_years.leave_year_containing(rule, today).first_day
    in_force: Dated | None = dated.on(values, rule, today)
    if in_force is not None:
        first_day = max(first_day, dated.first_day(in_force, rule))
    return first_day, False
