"""`/allowances`: pots of days with dated terms, and a person's own figures in them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import ABSENT, Body, Day, Days, Listing, Name, Paged, Word, listing_of, whole
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import effects
from storage.admin import allowances, dated_terms, employment_records, people_status
from storage.admin.allowances import Shown
from storage.admin.dated_terms import terms_in_days
from storage.base import errors
from storage.base.allowance_values import AllowanceTerms, Granting, TenureStep
from storage.base.amounts import amount_of, half_days_of
from storage.base.values import Id, days_or_none
from storage.db.database import Transaction
from storage.people import allowance_terms, people_changes

ALLOWANCES = Tag(
    "Allowances",
    "Pots of days that leave draws on: annual leave and others, such as volunteering or time in "
    "lieu. Each has terms that count from a day on; leave years before it keep what they had.",
    "organisation",
)

_TERMS_RULES = (
    "invalid_days",
    "not_half_days",
    "out_of_range",
    "tenure_not_rising",
    "too_many_tenure_steps",
)
_RULES = ("control_character", "invalid_code", "invalid_length", "no_visible_letter", *_TERMS_RULES)

_Months = Annotated[int | None, Field(json_schema_extra={"minimum": 1, "maximum": 120})]
EffectiveFrom = Annotated[
    Day,
    Field(
        description="The day from which the change counts, past or future; by default the first "
        "day of each person's present leave year, or of the terms of today if they began later in "
        "it. Leave years that end before it stay as they are."
    ),
]


class TenureStepBody(Body):
    """The days a year of people who have been employed for that many years."""

    after_years: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": 60})]
    days_per_year: Days


class AllowanceFields(Body):
    name: Name = ABSENT
    code: Annotated[
        Word,
        Field(description="Lower-case letters, digits and hyphens; unique in the organisation."),
    ] = ABSENT
    earnable: Annotated[
        bool, Field(description="People can claim days of it for work outside of working time.")
    ] = ABSENT
    is_archived: Annotated[bool, Field(description="Leave types can no longer be given it.")] = (
        ABSENT
    )
    days_per_year: Annotated[
        Days | None,
        Field(description="Null: only people who have a figure of their own get any."),
    ] = ABSENT
    granting: Annotated[
        Granting,
        Field(
            description="`yearly`: all at the beginning of the leave year. `monthly`: a twelfth at "
            "the start of each month, summed up and rounded up to half-days."
        ),
    ] = ABSENT
    by_tenure: Annotated[
        list[TenureStepBody],
        Field(
            max_length=20,
            description="More for people who have been employed for so many years, from that "
            "anniversary on; in the order of years.",
        ),
    ] = ABSENT
    available_after_months: Annotated[
        _Months, Field(description="Months of employment before it may be taken; null for none.")
    ] = ABSENT
    may_borrow: Annotated[
        bool,
        Field(description="What is granted later in the same leave year may be taken now."),
    ] = ABSENT
    overdraft_days: Annotated[
        float,
        Field(
            description="How far below zero it may be taken, in half-day steps.",
            json_schema_extra={"minimum": 0, "maximum": 366, "multipleOf": 0.5},
        ),
    ] = ABSENT
    carry_over: Annotated[
        Days | None,
        Field(
            description="The most days carried over into the next leave year: 0 for none, null for "
            "all. The terms at the end of the leave year that they are carried from count."
        ),
    ] = ABSENT
    carry_over_expires_after_months: Annotated[
        int | None,
        Field(
            description="Months after the leave year began in which carried days can be taken; "
            "null: they do not expire.",
            json_schema_extra={"minimum": 1, "maximum": 12},
        ),
    ] = ABSENT
    credits_expire_after_months: Annotated[
        _Months,
        Field(description="Months after the work in which a time credit can be taken; null: ever."),
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        """In storage's names and units. Raises InvalidInput."""
        changes = super().sent()
        changes.pop("effective_from", None)
        if "days_per_year" in changes:
            changes["half_days_per_year"] = _amount(changes.pop("days_per_year"), "days_per_year")
        if "carry_over" in changes:
            changes["carry_over_half_days"] = _amount(changes.pop("carry_over"), "carry_over")
        if "overdraft_days" in changes:
            days = changes.pop("overdraft_days")
            changes["overdraft_half_days"] = half_days_of(days, "overdraft_days")
        if "by_tenure" in changes:
            changes["by_tenure"] = tuple(
                TenureStep(
                    after_years=step["after_years"],
                    half_days_per_year=amount_of(step["days_per_year"], "by_tenure"),
                )
                for step in changes["by_tenure"]
            )
        return changes


class NewAllowance(AllowanceFields):
    name: Name


class AllowanceChanges(AllowanceFields):
    effective_from: EffectiveFrom = ABSENT


class OwnFigure(Body):
    days_per_year: Annotated[
        Days | None, Field(description="Null for the figure of the allowance's terms.")
    ]
    effective_from: Annotated[
        Day,
        Field(
            description="The day from which it counts; by default the first day of the person's "
            "present leave year, or of their figure of today if that began later in it."
        ),
    ] = ABSENT


class TenureStepRecord(TypedDict):
    """The days a year of people who have been employed for that many years."""

    after_years: int
    days_per_year: float


class _Terms(TypedDict):
    days_per_year: Annotated[
        float | None,
        Field(description="Null: only people who have a figure of their own get any."),
    ]
    granting: Granting
    by_tenure: list[TenureStepRecord]
    available_after_months: int | None
    may_borrow: bool
    overdraft_days: float
    carry_over: Annotated[float | None, Field(description="Null: everything.")]
    carry_over_expires_after_months: int | None
    credits_expire_after_months: int | None


class AllowanceRecord(_Terms):
    """An allowance with its terms of today."""

    id: Id
    name: Annotated[str, Field(examples=["Volunteering"])]
    code: Annotated[str, Field(examples=["volunteering"])]
    is_default: Annotated[
        bool,
        Field(description="The one of annual leave, which every organisation has."),
    ]
    is_archived: bool
    earnable: bool
    created_at: datetime


class TermsRecord(_Terms):
    """The terms of an allowance from a day on."""

    id: Id
    valid_from: Annotated[
        date | None, Field(description="Null for the first terms, which count at any time before.")
    ]
    by_leave_year: Annotated[
        bool,
        Field(
            description="They count for each person from the first day of the leave year of "
            "`valid_from`."
        ),
    ]


class OwnFigureRecord(TypedDict):
    """A person's own figure in an allowance, as it counts today."""

    user_id: Id
    allowance_id: Id
    days_per_year: Annotated[
        float | None, Field(description="Null for the figure of the allowance's terms.")
    ]


@operation("GET", "/allowances", tag=ALLOWANCES)
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[AllowanceRecord]:
    """List allowances.

    The default one first, then the others in order of creation, archived ones too.
    """
    found = allowances.page(tx, query.page, by=context.caller, now=context.now)
    return listing_of(found, _record)


@operation("GET", "/allowances/{id}", tag=ALLOWANCES, kind="allowance", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> AllowanceRecord:
    """Read an allowance.

    With its terms of today.
    """
    return _record(allowances.get(tx, context.id, by=context.caller, now=context.now))


@operation(
    "POST",
    "/allowances",
    role="admin",
    resource=get,
    refusals=(errors.CodeTaken, errors.NameTaken, allowances.TooManyAllowances),
    rules=_RULES,
    example={"name": "Volunteering", "days_per_year": 2},
    other_examples={
        "Sick days, granted monthly": {
            "name": "Sick days",
            "days_per_year": 6,
            "granting": "monthly",
            "carry_over": None,
        },
    },
)
def create(
    tx: Transaction, context: RequestContext, body: NewAllowance
) -> Created[AllowanceRecord]:
    """Create an allowance.

    At most 20 are in use. Without `days_per_year`, only people who have a figure of their own get
    days. Give it to a leave type (`allowance_id`) so that leave draws on it.
    """
    shown = allowances.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/allowances/{shown.allowance.id}", _record(shown))


@operation(
    "PATCH",
    "/allowances/{id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(
        errors.CodeTaken,
        errors.NameTaken,
        allowances.TooManyAllowances,
        dated_terms.TooManyTerms,
        allowances.DefaultAllowance,
    ),
    rules=_RULES,
    example={"days_per_year": 28, "effective_from": "2027-01-01"},
)
def update(tx: Transaction, context: RequestContext, body: AllowanceChanges) -> AllowanceRecord:
    """Change an allowance.

    Its terms change from `effective_from` on; leave years that end before it keep theirs. Later
    terms that had the same value continue the change. Responds with the terms of today.
    """
    shown = allowances.update(
        tx,
        context.id,
        body.sent(),
        effective_from=body.effective_from,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )
    return _record(shown)


@operation(
    "DELETE",
    "/allowances/{id}",
    role="admin",
    resource=get,
    refusals=(allowances.DefaultAllowance,),
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete an allowance.

    One that has been used is archived instead.
    """
    allowances.delete(tx, context.id, by=context.caller, now=context.now)


@operation("GET", "/allowances/{id}/terms", tag=ALLOWANCES, kind="allowance")
def page_of_terms(tx: Transaction, context: RequestContext) -> Listing[TermsRecord]:
    """List the terms of an allowance.

    In the order of days, future ones too; not paged. The first count at any time before the second.
    """
    allowance = allowances.find(context.config(tx), context.id)
    return whole([_terms(terms) for terms in allowance.terms])


@operation(
    "GET", "/allowances/{id}/terms/{terms_id}", tag=ALLOWANCES, kind="terms", is_resource=True
)
def get_terms(tx: Transaction, context: RequestContext) -> TermsRecord:
    """Read terms of an allowance.

    Any of them, past or future.
    """
    allowance = allowances.find(context.config(tx), context.id)
    return _terms(dated_terms.find_terms(allowance, context.ids["terms_id"]))


@operation(
    "DELETE",
    "/allowances/{id}/terms/{terms_id}",
    role="admin",
    resource=get_terms,
    dry_run=effects.shown,
    refusals=(dated_terms.TermsInForce,),
)
def delete_terms(tx: Transaction, context: RequestContext) -> None:
    """Take back future terms.

    Terms that count already stay.
    """
    allowances.delete_terms(
        tx,
        context.id,
        context.ids["terms_id"],
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation(
    "GET",
    "/users/{id}/allowances/{allowance_id}",
    tag=ALLOWANCES,
    kind="allowance",
    is_resource=True,
    refusals=(errors.InsufficientRole,),
)
def get_figure(tx: Transaction, context: RequestContext) -> OwnFigureRecord:
    """Read a person's own figure.

    For the person, their approvers, admins and owners.
    """
    return _figure(tx, context)


def _figure(tx: Transaction, context: RequestContext) -> OwnFigureRecord:
    user, _ = employment_records.of_person(tx, context.id, by=context.caller, now=context.now)
    config = context.config(tx)
    allowance = allowances.find(config, context.ids["allowance_id"])
    figure = allowance_terms.own_figure(config, user, allowance.id, context.today(tx))
    return {
        "user_id": user.id,
        "allowance_id": allowance.id,
        "days_per_year": days_or_none(figure),
    }


@operation(
    "PUT",
    "/users/{id}/allowances/{allowance_id}",
    role="admin",
    resource=get_figure,
    scope="users:write",
    dry_run=effects.shown,
    refusals=(
        people_status.UserArchived,
        dated_terms.TooManyTerms,
        people_changes.ChangedMeanwhile,
    ),
    rules=("invalid_days", "not_half_days", "out_of_range"),
    example={"days_per_year": 16.8},
)
def put_figure(tx: Transaction, context: RequestContext, body: OwnFigure) -> OwnFigureRecord:
    """Set a person's own figure.

    From `effective_from` on it counts in place of that of the allowance's terms; null takes it
    back. That of the default allowance is the user's `leave_allowance`.
    """
    allowances.set_figure(
        tx,
        context.id,
        context.ids["allowance_id"],
        _amount(body.days_per_year, "days_per_year"),
        effective_from=body.effective_from,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )
    return _figure(tx, context)


def _amount(days: float | None, field: str) -> Any:
    return None if days is None else amount_of(days, field)


def _record(shown: Shown) -> AllowanceRecord:
    allowance = shown.allowance
    terms = terms_in_days(shown.terms)
    del terms["id"], terms["valid_from"], terms["by_leave_year"]
    record: Any = {
        "id": allowance.id,
        "name": allowance.name,
        "code": allowance.code,
        "is_default": allowance.is_default,
        "is_archived": allowance.is_archived,
        "earnable": allowance.earnable,
        "created_at": allowance.created_at,
        **terms,
    }
    return record  # type: ignore[no-any-return]


def _terms(terms: AllowanceTerms) -> TermsRecord:
    return terms_in_days(terms)  # type: ignore[return-value]


OPERATIONS = (
    page,
    create,
    get,
    update,
    delete,
    page_of_terms,
    get_terms,
    delete_terms,
    get_figure,
    put_figure,
)
