"""Peewee models: columns, keys and indexes. No rules.

Every table leads with ``organisation_id``, so that a cluster can shard by it. Columns
named ``*_at`` and ``*_until`` hold whole milliseconds since 1970 in UTC; dates are dates; lists are
JSON text; amounts of leave are whole half-days. Change a table here and in a new migration.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from peewee import (
    SQL,
    BigIntegerField,
    BlobField,
    BooleanField,
    CharField,
    CompositeKey,
    DateField,
    Field,
    IntegerField,
    Model,
    TextField,
)

from storage.base.amounts import MAX_HALF_DAYS
from storage.base.event_values import DELIVERY_STATUSES
from storage.base.leave_values import (
    AMENDMENT_STATUSES,
    LEAVE_STATUSES,
    SUGGESTION_STATUSES,
    HalfDay,
)
from storage.base.values import DIGEST_FREQUENCIES, ROLES, USER_STATUSES


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    """A UUID as text on SQLite and as PostgreSQL's own type; always text in Python."""

    field_type = "UUID"


class FlagField(BooleanField):  # type: ignore[misc]
    """A boolean, as a constant of a query a keyword that both engines know."""

    def db_value(self, value: bool | None) -> SQL | None:
        return None if value is None else SQL("TRUE" if value else "FALSE")


def references(table: str, *columns: str) -> SQL:
    """A foreign key within the organisation: an id of another organisation cannot satisfy it."""
    own = ", ".join(("organisation_id", *columns))
    return SQL(f"FOREIGN KEY ({own}) REFERENCES {table} (organisation_id, id)")


def check(name: str, condition: str) -> SQL:
    """A rule that the database also enforces for statements of other programs.

    A condition on NULL is unknown and therefore passes.
    """
    return SQL(f'CONSTRAINT "{name}" CHECK ({condition})')


def one_of(column: str, values: Iterable[str]) -> str:
    """The condition that a column has one of these values."""
    quoted = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({quoted})"


def half_days(column: str) -> str:
    """The condition that a column has an amount of leave."""
    return f"{column} BETWEEN 0 AND {MAX_HALF_DAYS}"


def add_index(
    table: type[Model], name: str, columns: str, *, unique: bool = False, where: str | None = None
) -> None:
    """``columns`` are separated by spaces."""
    condition = None if where is None else SQL(where)
    parts = [getattr(table, column) for column in columns.split()]
    table.add_index(*parts, unique=unique, where=condition, name=name)


HALVES = get_args(HalfDay)
WHEN_SHORT = ("overdraft", "skip")
ENFORCEMENTS = ("warn", "block")
OFF = [SQL("DEFAULT FALSE")]
ON = [SQL("DEFAULT TRUE")]
OF_ORGANISATION = SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")
# Versions that do not know the table delete departments, too.
OF_DEPARTMENT = SQL(
    "FOREIGN KEY (organisation_id, department_id) "
    "REFERENCES departments (organisation_id, id) ON DELETE CASCADE"
)


class OwnedRow(Model):  # type: ignore[misc]
    """A row with an id that is unique in its organisation."""

    organisation_id = IdField()
    id = IdField()

    class Meta:
        primary_key = CompositeKey("organisation_id", "id")


class OrganisationRow(Model):  # type: ignore[misc]
    id = IdField(primary_key=True)
    name = TextField()
    slug = CharField(unique=True)
    domain = TextField(null=True)
    logo_url = TextField(null=True)
    country_code = CharField(32)
    timezone = CharField(64)
    working_days = TextField()
    leave_year_type = CharField(16)
    leave_year_start_month = IntegerField()
    leave_year_start_day = IntegerField()
    default_leave_allowance_half_days = IntegerField()
    carry_over_half_days = IntegerField()
    carry_over_expiry_month = IntegerField(null=True)
    day_starts_at = CharField(5)
    midday_at = CharField(5)
    day_ends_at = CharField(5)
    slack_team_id = CharField(32, null=True, unique=True)
    slack_members_join = FlagField()
    digest_channel = CharField(32, null=True)
    expiry_notices = FlagField(constraints=ON)
    # Grows with every change of what organisation_config.py keeps in memory.
    reference_version = IntegerField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    # JSON, as are the other columns of figures and terms below; NULL where there are none.
    pro_rata_rules = TextField(null=True)
    # Notes and reasons of leave that ended longer ago are removed; NULL keeps them.
    retention_months = IntegerField(null=True)
    # The first day of which that was not done yet.
    texts_removed_until = DateField(null=True)

    class Meta:
        table_name = "organisations"
        # To find the organisation of a new workspace.
        indexes = ((("domain",), False),)
        constraints = [
            check(
                "organisations_leave_year_type",
                one_of("leave_year_type", ("calendar", "fiscal", "anniversary")),
            ),
            check(
                "organisations_leave_year_start_month", "leave_year_start_month BETWEEN 1 AND 12"
            ),
            check("organisations_leave_year_start_day", "leave_year_start_day BETWEEN 1 AND 31"),
            check(
                "organisations_default_leave_allowance",
                half_days("default_leave_allowance_half_days"),
            ),
            check("organisations_carry_over", half_days("carry_over_half_days")),
            check(
                "organisations_carry_over_expiry_month", "carry_over_expiry_month BETWEEN 1 AND 12"
            ),
            check("organisations_retention_months", "retention_months BETWEEN 1 AND 240"),
        ]


# Organisations with a daily digest.
add_index(OrganisationRow, "organisations_digests", "id", where="digest_channel IS NOT NULL")


class DepartmentRow(OwnedRow):
    name = TextField()
    # No foreign key: users already refer to departments, and PostgreSQL creates tables in order.
    manager_id = IdField(null=True)
    default_leave_allowance_half_days = IntegerField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()
    figures = TextField(null=True)

    class Meta:
        table_name = "departments"
        indexes = ((("organisation_id", "manager_id"), False),)
        constraints = [
            OF_ORGANISATION,
            check(
                "departments_default_leave_allowance",
                half_days("default_leave_allowance_half_days"),
            ),
        ]


class UserRow(OwnedRow):
    email = TextField()
    email_key = TextField()
    first_name = TextField()
    last_name = TextField()
    role = CharField(16)
    status = CharField(16)
    department_id = IdField(null=True)
    manager_id = IdField(null=True)
    job_title = TextField(null=True)
    start_date = DateField(null=True)
    working_days = TextField(null=True)
    public_holiday_country_code = CharField(32, null=True)
    leave_allowance_half_days = IntegerField(null=True)
    avatar_url = TextField(null=True)
    timezone = CharField(64, null=True)
    locale = CharField(16, null=True)
    slack_user_id = CharField(32, null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()
    end_date = DateField(null=True)
    # The records besides the one in these columns, as JSON (`values.Employment`).
    employment = TextField(null=True)
    # Its JSON, too; NULL for people who were never hired again.
    earlier_periods = TextField(null=True)
    # The day on which another record takes effect, or the person is archived.
    employment_due_on = DateField(null=True)
    figures = TextField(null=True)
    # Hundredths of days where ``leave_allowance_half_days`` is rounded up; else NULL.
    leave_allowance_hundredths = IntegerField(null=True)
    employee_number = TextField(null=True)
    # When nothing that identifies the person was left in the row.
    erased_at = BigIntegerField(null=True)

    class Meta:
        table_name = "users"
        indexes = (
            (("organisation_id", "email_key"), False),
            (("organisation_id", "slack_user_id"), False),
            (("organisation_id", "created_at", "id"), False),
            (("organisation_id", "role"), False),
            # Members of a department, and its approvers.
            (("organisation_id", "department_id", "role"), False),
            (("organisation_id", "manager_id"), False),
        )
        constraints = [
            OF_ORGANISATION,
            references("departments", "department_id"),
            references("users", "manager_id"),
            check("users_role", one_of("role", ROLES)),
            check("users_status", one_of("status", USER_STATUSES)),
            check("users_leave_allowance", half_days("leave_allowance_half_days")),
        ]


# An archived person's address, Slack account and employee number are free for others.
add_index(
    UserRow, "users_emails", "organisation_id email_key", unique=True, where="status <> 'archived'"
)
add_index(
    UserRow,
    "users_slack_accounts",
    "organisation_id slack_user_id",
    unique=True,
    where="status <> 'archived'",
)

add_index(
    UserRow,
    "users_employee_numbers",
    "organisation_id employee_number",
    unique=True,
    where="employee_number IS NOT NULL AND status <> 'archived'",
)

add_index(
    UserRow, "users_employment_due", "employment_due_on", where="employment_due_on IS NOT NULL"
)


class LeaveTypeRow(OwnedRow):
    name = TextField()
    code = CharField(64)
    colour = CharField(7)
    emoji = CharField(100, null=True)
    requires_approval = FlagField()
    deducts_allowance = FlagField()
    allow_overdraft = FlagField()
    is_paid = FlagField()
    is_private = FlagField()
    requires_note = FlagField()
    approvers_may_record = FlagField(constraints=OFF)
    requires_cover = FlagField(constraints=OFF)
    may_interrupt = FlagField(constraints=OFF)
    tells_approvers = FlagField(constraints=[SQL("DEFAULT TRUE")])
    is_away = FlagField(constraints=[SQL("DEFAULT TRUE")])
    min_notice_days = IntegerField()
    max_consecutive_days = IntegerField(null=True)
    is_archived = FlagField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()
    changes_need_approval = FlagField(constraints=OFF)
    # NULL for the default allowance, or for none if it does not deduct.
    allowance_id = IdField(null=True)
    allowance_uses = TextField(null=True)
    second_approval = TextField(null=True)
    names = TextField(null=True)

    class Meta:
        table_name = "leave_types"
        indexes = ((("organisation_id", "code"), True),)
        constraints = [
            OF_ORGANISATION,
            check("leave_types_min_notice_days", "min_notice_days BETWEEN 0 AND 730"),
            check("leave_types_max_consecutive_days", "max_consecutive_days BETWEEN 1 AND 366"),
        ]


class LeaveRequestRow(OwnedRow):
    user_id = IdField()
    leave_type_id = IdField()
    status = CharField(16)
    start_date = DateField()
    end_date = DateField()
    start_half_day = CharField(2, null=True)
    end_half_day = CharField(2, null=True)
    total_half_days = IntegerField()
    counted_halves = TextField()
    note = TextField(null=True)
    decided_by = IdField(null=True)
    decided_at = BigIntegerField(null=True)
    decision_reason = TextField(null=True)
    cancelled_at = BigIntegerField(null=True)
    # When an approval was last reversed: calendar feeds had shown the leave (absences.py).
    approval_reversed_at = BigIntegerField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()
    recorded_by = IdField(null=True)
    override_reason = TextField(null=True)
    split_from = IdField(null=True)
    interrupts = IdField(null=True)
    amendment_id = IdField(null=True)
    # Feeds do not show amendments: how many versions changed only an amendment, and when the last
    # version that feeds show was written.
    hidden_versions = IntegerField(null=True)
    shown_updated_at = BigIntegerField(null=True)
    # A colleague. SQLite cannot add a foreign key to a table that has rows.
    cover_user_id = IdField(null=True)
    # The closure that booked it, which may be deleted meanwhile.
    closure_id = IdField(null=True)
    # The approvals of leave that needs two. Who gave the first one of what awaits the second, and
    # the person who is to give it: NULL for admins and owners.
    approvals = TextField(null=True)
    first_approver_id = IdField(null=True)
    second_approver_id = IdField(null=True)

    class Meta:
        table_name = "leave_requests"
        indexes = (
            (("organisation_id", "created_at", "id"), False),
            (("organisation_id", "start_date", "end_date"), False),
            # What changed since an integration last asked.
            (("organisation_id", "updated_at", "id"), False),
            # Without the first day: PostgreSQL 18 overrates a scan for conditions on two ranges.
            (("organisation_id", "user_id", "end_date"), False),
        )
        constraints = [
            references("users", "user_id"),
            references("leave_types", "leave_type_id"),
            references("users", "decided_by"),
            check("leave_requests_status", one_of("status", LEAVE_STATUSES)),
            check("leave_requests_start_half_day", one_of("start_half_day", HALVES)),
            check("leave_requests_end_half_day", one_of("end_half_day", HALVES)),
            check("leave_requests_dates", "start_date <= end_date"),
            check("leave_requests_total", half_days("total_half_days")),
        ]


# Approvers still see the requests that they decided.
add_index(
    LeaveRequestRow,
    "leave_requests_decided",
    "organisation_id decided_by",
    where="decided_by IS NOT NULL",
)
# And those that they approved first, or that await their second approval.
add_index(
    LeaveRequestRow,
    "leave_requests_first_approved",
    "organisation_id first_approver_id",
    where="first_approver_id IS NOT NULL",
)
add_index(
    LeaveRequestRow,
    "leave_requests_second_approved",
    "organisation_id second_approver_id",
    where="second_approver_id IS NOT NULL",
)
# The leave that a person covers.
add_index(
    LeaveRequestRow,
    "leave_requests_covered",
    "organisation_id cover_user_id end_date",
    where="cover_user_id IS NOT NULL",
)
# What awaits a decision, in the order of the list; queries have the same condition.
add_index(
    LeaveRequestRow,
    "leave_requests_undecided",
    "organisation_id created_at id",
    where="status = 'pending' OR amendment_id IS NOT NULL",
)


class AmendmentRow(OwnedRow):
    """A proposed change of approved leave; its request names the open one."""

    leave_request_id = IdField()
    leave_type_id = IdField()
    start_date = DateField()
    end_date = DateField()
    start_half_day = CharField(2, null=True)
    end_half_day = CharField(2, null=True)
    note = TextField(null=True)
    status = CharField(16)
    requested_by = IdField()
    requested_at = BigIntegerField()
    decided_by = IdField(null=True)
    decided_at = BigIntegerField(null=True)
    decision_reason = TextField(null=True)
    assigns_cover = FlagField(constraints=OFF)
    cancels = FlagField(constraints=OFF)
    approvals = TextField(null=True)

    class Meta:
        table_name = "amendments"
        indexes = ((("organisation_id", "leave_request_id", "requested_at"), False),)
        constraints = [
            references("leave_requests", "leave_request_id"),
            references("leave_types", "leave_type_id"),
            references("users", "requested_by"),
            references("users", "decided_by"),
            check("amendments_status", one_of("status", AMENDMENT_STATUSES)),
            check("amendments_start_half_day", one_of("start_half_day", HALVES)),
            check("amendments_end_half_day", one_of("end_half_day", HALVES)),
            check("amendments_dates", "start_date <= end_date"),
        ]


# A request has one open amendment at most.
add_index(
    AmendmentRow,
    "amendments_open",
    "organisation_id leave_request_id",
    unique=True,
    where="status = 'open'",
)


class SuggestionRow(OwnedRow):
    """Other dates that an approver suggests for a version of a pending request."""

    leave_request_id = IdField()
    request_version = IntegerField()
    status = CharField(16)
    start_date = DateField()
    end_date = DateField()
    start_half_day = CharField(2, null=True)
    end_half_day = CharField(2, null=True)
    suggested_by = IdField()
    suggested_at = BigIntegerField()
    ended_at = BigIntegerField(null=True)

    class Meta:
        table_name = "suggestions"
        indexes = ((("organisation_id", "leave_request_id"), False),)
        constraints = [
            references("leave_requests", "leave_request_id"),
            references("users", "suggested_by"),
            check("suggestions_status", one_of("status", SUGGESTION_STATUSES)),
            check("suggestions_start_half_day", one_of("start_half_day", HALVES)),
            check("suggestions_end_half_day", one_of("end_half_day", HALVES)),
            check("suggestions_dates", "start_date <= end_date"),
        ]


# A request has one open suggestion at most.
add_index(
    SuggestionRow,
    "suggestions_open",
    "organisation_id leave_request_id",
    unique=True,
    where="status = 'open'",
)


class HolidaySetRow(OwnedRow):
    country_code = CharField(32)
    created_at = BigIntegerField()
    categories = TextField(constraints=[SQL("DEFAULT '[\"public\"]'")])

    class Meta:
        table_name = "holiday_sets"
        indexes = ((("organisation_id", "country_code"), True),)
        constraints = [OF_ORGANISATION]


class HolidayOverrideRow(OwnedRow):
    holiday_set_id = IdField()
    date = DateField()
    name = TextField()
    is_holiday = FlagField()
    half = CharField(2, null=True)
    created_at = BigIntegerField()
    every_year = FlagField(constraints=OFF)

    class Meta:
        table_name = "holiday_overrides"
        constraints = [
            references("holiday_sets", "holiday_set_id"),
            check("holiday_overrides_half", one_of("half", HALVES)),
        ]


add_index(
    HolidayOverrideRow,
    "holiday_overrides_of_a_day",
    "organisation_id holiday_set_id date every_year",
    unique=True,
)


class AllowanceRow(OwnedRow):
    """A pot of days. The default one has a row, with the organisation's id, once it is changed."""

    name = TextField()
    code = CharField(64)
    is_default = FlagField()
    is_archived = FlagField()
    earnable = FlagField()
    # `values.AllowanceTerms`; those of the default before its first are the organisation's columns.
    terms = TextField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "allowances"
        indexes = ((("organisation_id", "code"), True),)
        constraints = [OF_ORGANISATION]


class TimeCreditRow(OwnedRow):
    """Work outside of working time, for which a person gets days of an allowance."""

    user_id = IdField()
    allowance_id = IdField()
    worked_on = DateField()
    half_days = IntegerField()
    reason = TextField()
    status = CharField(16)
    decided_by = IdField(null=True)
    decided_at = BigIntegerField(null=True)
    decision_reason = TextField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "time_credits"
        indexes = ((("organisation_id", "user_id", "worked_on"), False),)
        constraints = [
            references("users", "user_id"),
            check("time_credits_status", one_of("status", LEAVE_STATUSES)),
            check("time_credits_half_days", f"half_days BETWEEN 1 AND {MAX_HALF_DAYS}"),
        ]


# One a person and day, unless it was declined or cancelled.
add_index(
    TimeCreditRow,
    "time_credits_days",
    "organisation_id user_id worked_on",
    unique=True,
    where="status IN ('pending', 'approved')",
)
add_index(TimeCreditRow, "time_credits_pending", "organisation_id id", where="status = 'pending'")


class ClosureRow(OwnedRow):
    """Days off for everyone, or for a department; people get leave of its type.

    It books nothing for ``excluded_user_ids``. ``skipped_user_ids`` are the first of the people who
    have too little left of their allowance.
    """

    name = TextField()
    leave_type_id = IdField()
    start_date = DateField()
    end_date = DateField()
    start_half_day = CharField(2, null=True)
    end_half_day = CharField(2, null=True)
    department_id = IdField(null=True)
    when_short = CharField(16)
    excluded_user_ids = TextField(constraints=[SQL("DEFAULT '[]'")])
    skipped_user_ids = TextField(constraints=[SQL("DEFAULT '[]'")])
    skipped_people = IntegerField(constraints=[SQL("DEFAULT 0")])
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "closures"
        indexes = (
            (("organisation_id", "department_id"), False),
            (("organisation_id", "leave_type_id"), False),
        )
        constraints = [
            OF_ORGANISATION,
            OF_DEPARTMENT,
            # Versions that do not know the table delete leave types, too.
            SQL(
                "FOREIGN KEY (organisation_id, leave_type_id) "
                "REFERENCES leave_types (organisation_id, id) ON DELETE CASCADE"
            ),
            check("closures_when_short", one_of("when_short", WHEN_SHORT)),
            check("closures_dates", "start_date <= end_date"),
        ]


class AbsenceLimitRow(OwnedRow):
    """How many people of a group may be away, or have to be at work.

    The group: a department, the people of ``user_ids`` (JSON), or everyone.
    """

    name = TextField()
    department_id = IdField(null=True)
    user_ids = TextField(null=True)
    first_day = DateField(null=True)
    last_day = DateField(null=True)
    max_away = IntegerField(null=True)
    min_present = IntegerField(null=True)
    enforcement = CharField(8)
    is_active = FlagField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "absence_limits"
        indexes = ((("organisation_id", "department_id"), False),)
        constraints = [
            OF_ORGANISATION,
            OF_DEPARTMENT,
            check("absence_limits_group", "department_id IS NULL OR user_ids IS NULL"),
            check("absence_limits_dates", "first_day <= last_day"),
            check("absence_limits_number", "(max_away IS NULL) <> (min_present IS NULL)"),
            check("absence_limits_enforcement", one_of("enforcement", ENFORCEMENTS)),
        ]


class AllowanceAdjustmentRow(OwnedRow):
    user_id = IdField()
    leave_year_start = DateField()
    half_days = IntegerField()
    reason = TextField()
    created_by = IdField(null=True)
    created_at = BigIntegerField()
    # NULL for the default allowance.
    allowance_id = IdField(null=True)

    class Meta:
        table_name = "allowance_adjustments"
        indexes = ((("organisation_id", "user_id", "leave_year_start"), False),)
        constraints = [
            references("users", "user_id"),
            check(
                "allowance_adjustments_half_days",
                f"half_days <> 0 AND half_days BETWEEN -{MAX_HALF_DAYS} AND {MAX_HALF_DAYS}",
            ),
        ]


class DaysLeftRow(OwnedRow):
    """A figure of what a person had left on a day, which leave before that day is part of.

    The newest of a person, allowance and leave year counts.
    """

    user_id = IdField()
    allowance_id = IdField()
    leave_year_start = DateField()
    counts_from = DateField()
    reason = TextField()
    created_at = BigIntegerField()

    class Meta:
        table_name = "days_left"
        indexes = ((("organisation_id", "user_id"), False),)
        constraints = [references("users", "user_id")]


class ApiKeyRow(OwnedRow):
    user_id = IdField()
    name = TextField()
    secret_sha256 = CharField(64, unique=True)
    prefix = CharField(32)
    scopes = TextField()
    variant = IntegerField()
    created_at = BigIntegerField()
    expires_at = BigIntegerField(null=True)
    last_used_at = BigIntegerField(null=True)
    revoked_at = BigIntegerField(null=True)

    class Meta:
        table_name = "api_keys"
        indexes = ((("organisation_id", "user_id", "id"), False),)
        constraints = [
            references("users", "user_id"),
            check("api_keys_variant", "variant IN (1, 2)"),
        ]


class CalendarFeedRow(OwnedRow):
    user_id = IdField()
    name = TextField(null=True)
    # The person's own token is a feed too; regenerating replaces it.
    is_personal_token = FlagField()
    token_sha256 = CharField(64, unique=True)
    token_encrypted = TextField()
    created_at = BigIntegerField()
    revoked_at = BigIntegerField(null=True)
    last_fetched_at = BigIntegerField(null=True)
    last_fetched_by = TextField(null=True)

    class Meta:
        table_name = "calendar_feeds"
        indexes = ((("organisation_id", "user_id"), False),)
        constraints = [references("users", "user_id")]


class DisplayLinkRow(OwnedRow):
    """A wallchart of the organisation for screens; ``department_id`` is null for everyone."""

    name = TextField()
    department_id = IdField(null=True)
    token_sha256 = CharField(64, unique=True)
    token_encrypted = TextField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "display_links"
        indexes = ((("organisation_id", "department_id"), False),)
        constraints = [
            OF_ORGANISATION,
            OF_DEPARTMENT,
        ]


class FeedChangesRow(Model):  # type: ignore[misc]
    """How often leave and people changed in ways that calendars show, in 16 counters.

    An organisation's counters add up to a number that grows with every such change. A feed that
    was rendered at that number is still current (organisation_config.py).
    """

    organisation_id = IdField()
    shard = IntegerField()
    changes = BigIntegerField()

    class Meta:
        table_name = "feed_changes"
        primary_key = CompositeKey("organisation_id", "shard")
        constraints = [OF_ORGANISATION]


class FeedSequenceRow(Model):  # type: ignore[misc]
    """How often calendar events changed without a new version of any leave request.

    Added to the ``SEQUENCE`` of every event of the organisation (organisation_config.py).
    """

    organisation_id = IdField(primary_key=True)
    sequence = BigIntegerField()
    changed_at = BigIntegerField()

    class Meta:
        table_name = "feed_sequences"
        constraints = [OF_ORGANISATION]


class WebhookRow(OwnedRow):
    url = TextField()
    events = TextField()
    is_active = FlagField()
    disabled_reason = TextField(null=True)
    secret_encrypted = TextField()
    previous_secret_encrypted = TextField(null=True)
    previous_secret_until = BigIntegerField(null=True)
    failing_since_at = BigIntegerField(null=True)
    # When admins were notified; before ``failing_since_at`` it was of an earlier failure.
    failing_told_at = BigIntegerField(null=True)
    created_by = IdField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "webhooks"
        constraints = [OF_ORGANISATION]


class EventRow(OwnedRow):
    """What happened, as the bytes that every receiver is sent."""

    type = CharField(64)
    leave_request_id = IdField(null=True)
    sequence = IntegerField()
    body = BlobField()
    created_at = BigIntegerField()

    class Meta:
        table_name = "events"


class DeliveryRow(OwnedRow):
    """The delivery of one event to one webhook."""

    webhook_id = IdField()
    event_id = IdField()
    event_type = CharField(64)
    leave_request_id = IdField(null=True)
    sequence = IntegerField()
    status = CharField(16)
    attempts = IntegerField()
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    last_status_code = IntegerField(null=True)
    last_error = TextField(null=True)
    created_at = BigIntegerField()
    settled_at = BigIntegerField(null=True)

    class Meta:
        table_name = "deliveries"
        indexes = (
            (("organisation_id", "webhook_id", "status", "event_type", "id"), False),
            (("organisation_id", "event_id"), False),
        )
        constraints = [
            references("webhooks", "webhook_id"),
            references("events", "event_id"),
            check("deliveries_status", one_of("status", DELIVERY_STATUSES)),
            check("deliveries_attempts", "attempts >= 0"),
        ]


# For claims, endpoint by endpoint. It stays small, because it has only pending deliveries.
add_index(
    DeliveryRow, "deliveries_queue", "webhook_id organisation_id due_at", where="status = 'pending'"
)
# Deliveries not tried yet. Its condition differs from the queue's, so that the planner does not mix
# them up.
add_index(
    DeliveryRow,
    "deliveries_in_order",
    "leave_request_id webhook_id organisation_id sequence",
    where="settled_at IS NULL AND attempts = 0",
)
add_index(
    DeliveryRow,
    "deliveries_claimed",
    "organisation_id webhook_id due_at",
    where="claim_id IS NOT NULL",
)
add_index(DeliveryRow, "deliveries_settled", "settled_at", where="settled_at IS NOT NULL")


class DeliveryAttemptRow(OwnedRow):
    delivery_id = IdField()
    attempted_at = BigIntegerField()
    status_code = IntegerField(null=True)
    error = TextField(null=True)
    duration_milliseconds = IntegerField()
    answer_excerpt = BlobField(null=True)

    class Meta:
        table_name = "delivery_attempts"
        indexes = ((("organisation_id", "delivery_id"), False),)
        constraints = [
            references("deliveries", "delivery_id"),
            check("delivery_attempts_duration", "duration_milliseconds >= 0"),
        ]


class AuditRow(OwnedRow):
    action = CharField(64)
    occurred_at = BigIntegerField()
    actor_id = IdField(null=True)
    source = CharField(16)
    subject_type = CharField(32)
    subject_id = IdField()
    changes = TextField()
    request_id = TextField(null=True)

    class Meta:
        table_name = "audit_entries"
        indexes = (
            (("organisation_id", "occurred_at", "id"), False),
            # Each filter with the list's order: a page is read, never sorted.
            (("organisation_id", "action", "occurred_at", "id"), False),
            (("organisation_id", "actor_id", "occurred_at", "id"), False),
            (("organisation_id", "subject_id", "occurred_at", "id"), False),
        )
        constraints = [
            check("audit_entries_source", one_of("source", ("api", "slack", "cli", "scheduler"))),
        ]


class IdempotencyKeyRow(OwnedRow):
    api_key_id = IdField()
    idempotency_key = TextField()
    request_sha256 = CharField(64)
    status_code = IntegerField(null=True)
    headers = TextField(null=True)
    body = BlobField(null=True)
    created_at = BigIntegerField()

    class Meta:
        table_name = "idempotency_keys"
        indexes = (
            (("organisation_id", "api_key_id", "idempotency_key"), True),
            (("created_at",), False),
        )


class SlackInstallationRow(OwnedRow):
    team_id = CharField(32)
    enterprise_id = CharField(32, null=True)
    bot_id = CharField(32)
    bot_user_id = CharField(32)
    bot_token_encrypted = TextField()
    scopes = TextField()
    installed_by = CharField(32, null=True)
    installed_at = BigIntegerField()
    uninstalled_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_installations"
        indexes = ((("team_id",), True),)


class SlackStateRow(Model):  # type: ignore[misc]
    """An OAuth state that was used (oauth_states.py); it precedes any organisation."""

    state_sha256 = CharField(64, primary_key=True)
    expires_at = BigIntegerField()

    class Meta:
        table_name = "slack_states"
        indexes = ((("expires_at",), False),)


class SlackEventRow(Model):  # type: ignore[misc]
    """Received events: Slack sends each up to four times."""

    event_id = CharField(64, primary_key=True)
    received_at = BigIntegerField()
    # Null while being processed, and if the process died meanwhile.
    handled_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_events"
        indexes = ((("received_at",), False),)


class SlackProfileRow(Model):  # type: ignore[misc]
    """Data about a person that only texts in Slack need."""

    organisation_id = IdField()
    user_id = IdField()
    locale = CharField(35, null=True)
    updated_at = BigIntegerField()
    # Slack's own time of the last change of the profile that was applied.
    slack_updated_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_profiles"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [references("users", "user_id")]


class SlackSyncRow(Model):  # type: ignore[misc]
    """When an organisation's people are compared with its workspace next; after a claim, when the
    lease of ``claim_id`` expires."""

    organisation_id = IdField(primary_key=True)
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    failures = IntegerField()
    last_error = CharField(100, null=True)
    synced_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_syncs"
        indexes = ((("due_at",), False),)
        constraints = [OF_ORGANISATION]


class SlackStatusRow(OwnedRow):
    """A person whose Slack status shows their leave, with the encrypted token of their account.

    ``due_at`` is when the status is checked next; after a claim, when the lease expires.
    """

    user_id = IdField()
    team_id = CharField(32)
    slack_user_id = CharField(32)
    token_encrypted = TextField()
    connected_at = BigIntegerField()
    # Since then the status is to be removed, the token to be revoked, and the row to be deleted.
    ending_at = BigIntegerField(null=True)
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    failures = IntegerField()
    # ``slack_status.Known`` as JSON.
    known = TextField(null=True)
    refused_emoji = CharField(100, null=True)
    left_alone_until = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_statuses"
        indexes = (
            (("organisation_id", "user_id"), True),
            (("due_at",), False),
        )
        constraints = [OF_ORGANISATION, references("users", "user_id")]


class SlackHomeRow(Model):  # type: ignore[misc]
    """When a person last opened the App Home, and which pages of its lists they see."""

    organisation_id = IdField()
    user_id = IdField()
    opened_at = BigIntegerField()
    cursors = TextField(column_name="leafed")

    class Meta:
        table_name = "slack_homes"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [references("users", "user_id")]


class SlackMessageRow(OwnedRow):
    """The message with a request's card in one approver's DM.

    ``reply_ts`` is the last reply in its thread that shows the card again.
    """

    leave_request_id = IdField()
    user_id = IdField()
    channel = CharField(32)
    ts = CharField(32)
    posted_at = BigIntegerField()
    reply_ts = CharField(32, null=True)

    class Meta:
        table_name = "slack_messages"
        indexes = ((("organisation_id", "leave_request_id", "user_id"), True),)
        constraints = [references("leave_requests", "leave_request_id")]


class NotificationRow(OwnedRow):
    """A notification for one person in Slack, about a leave request or a webhook.

    It has only ids and is rendered when it is sent.
    """

    kind = CharField(32)
    user_id = IdField()
    leave_request_id = IdField(null=True)
    event_type = CharField(64)
    status = CharField(16)
    attempts = IntegerField()
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    last_error = TextField(null=True)
    created_at = BigIntegerField()
    settled_at = BigIntegerField(null=True)
    webhook_id = IdField(null=True)
    # The digest of "digest_refused"; without one it is the organisation's own.
    digest_id = IdField(null=True)
    # The days on which a "cover_changed" notification says that the person's leave changed, or
    # that the recipient of a "cover_notice" no longer covers.
    first_day = DateField(null=True)
    last_day = DateField(null=True)
    # The closure of "closure_notice", and the half-days that it booked for the person before.
    closure_id = IdField(null=True)
    half_days_before = IntegerField(null=True)
    time_credit_id = IdField(null=True)
    # The person who says in "balance_question" that their balance is not right.
    about_user_id = IdField(null=True)
    expiry_notice_id = IdField(null=True)

    class Meta:
        table_name = "notices"
        constraints = [
            references("users", "user_id"),
            references("leave_requests", "leave_request_id"),
            references("webhooks", "webhook_id"),
            check("notices_status", one_of("status", DELIVERY_STATUSES)),
            check("notices_attempts", "attempts >= 0"),
        ]


add_index(
    NotificationRow,
    "noticerow_organisation_id_leave_request_id_user_id",
    "organisation_id leave_request_id user_id",
)
# Rows to delete with a webhook.
add_index(
    NotificationRow,
    "notices_of_webhooks",
    "organisation_id webhook_id",
    where="webhook_id IS NOT NULL",
)
add_index(
    NotificationRow,
    "notices_of_time_credits",
    "organisation_id time_credit_id user_id",
    where="time_credit_id IS NOT NULL",
)
add_index(NotificationRow, "notices_due", "due_at", where="status = 'pending'")
add_index(
    NotificationRow, "notices_in_order", "user_id leave_request_id id", where="status = 'pending'"
)


class ExpiryNoticeRow(OwnedRow):
    """What a person was told of days that lapse, on a day; ``contents`` is JSON of the figures."""

    user_id = IdField()
    kind = CharField(16)
    told_on = DateField()
    contents = TextField()
    created_at = BigIntegerField()
    # When Slack took the message, and when the person clicked that they saw it.
    sent_at = BigIntegerField(null=True)
    seen_at = BigIntegerField(null=True)

    class Meta:
        table_name = "expiry_notices"
        # A person hears of lapsing days once a day at most.
        indexes = ((("organisation_id", "user_id", "told_on"), True),)
        constraints = [
            references("users", "user_id"),
            check("expiry_notices_kind", one_of("kind", ("statement", "reminder"))),
        ]


class ExpiryCheckRow(Model):  # type: ignore[misc]
    """When the people of an organisation are next checked for days that lapse; none: at once."""

    organisation_id = IdField(primary_key=True)
    due_at = BigIntegerField()

    class Meta:
        table_name = "expiry_checks"
        constraints = [OF_ORGANISATION]


class ReminderRow(Model):  # type: ignore[misc]
    """A pending approval of one approver, and when its next reminder is due."""

    organisation_id = IdField()
    leave_request_id = IdField()
    user_id = IdField()
    asked_at = BigIntegerField()
    # How many reminders were sent.
    sent = IntegerField()
    # An escalation: earlier approvers did not answer, so this one may decide, too.
    is_next_step = FlagField()
    due_at = BigIntegerField()

    class Meta:
        table_name = "reminders"
        primary_key = CompositeKey("organisation_id", "leave_request_id", "user_id")
        indexes = (
            (("due_at",), False),
            (("organisation_id", "due_at"), False),
            (("organisation_id", "user_id"), False),
        )
        constraints = [
            references("leave_requests", "leave_request_id"),
            references("users", "user_id"),
            check("reminders_sent", "sent >= 0"),
        ]


class TimeCreditCardRow(Model):  # type: ignore[misc]
    """The message about a time credit in one person's DM, and their next reminder.

    Without a channel it was not sent yet. ``due_at`` is null for the person who claimed it, and
    once it is decided.
    """

    organisation_id = IdField()
    time_credit_id = IdField()
    user_id = IdField()
    channel = CharField(32, null=True)
    ts = CharField(32, null=True)
    # The last reply in its thread that shows the card again.
    reply_ts = CharField(32, null=True)
    asked_at = BigIntegerField()
    # How many reminders were sent.
    sent = IntegerField()
    # As in ``ReminderRow``.
    is_next_step = FlagField()
    due_at = BigIntegerField(null=True)

    class Meta:
        table_name = "time_credit_cards"
        primary_key = CompositeKey("organisation_id", "time_credit_id", "user_id")
        indexes = ((("due_at",), False), (("organisation_id", "user_id"), False))
        constraints = [
            references("time_credits", "time_credit_id"),
            references("users", "user_id"),
            check("time_credit_cards_sent", "sent >= 0"),
        ]


class ReminderSummaryRow(Model):  # type: ignore[misc]
    """The last day on which an approver was sent a summary."""

    organisation_id = IdField()
    user_id = IdField()
    day = DateField()

    class Meta:
        table_name = "reminder_summaries"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [references("users", "user_id")]


class DigestRow(Model):  # type: ignore[misc]
    """The last message about who is out, and when the next check is due."""

    organisation_id = IdField(primary_key=True)
    due_at = BigIntegerField()
    channel = CharField(32, null=True)
    day = DateField(null=True)
    ts = CharField(32, null=True)
    shown_sha256 = CharField(64, null=True)
    # The channel that Slack rejected, and its error code.
    refused_channel = CharField(32, null=True)
    refused_because = CharField(64, null=True)

    class Meta:
        table_name = "digests"
        indexes = ((("due_at",), False),)
        constraints = [OF_ORGANISATION]


class ChannelDigestRow(OwnedRow):
    """A digest for a channel of its own, and the state of its last message as in ``DigestRow``."""

    channel = CharField(32)
    department_id = IdField(null=True)
    frequency = CharField(16)
    locale = CharField(16)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()
    due_at = BigIntegerField()
    # The first day that the message shows.
    day = DateField(null=True)
    ts = CharField(32, null=True)
    shown_sha256 = CharField(64, null=True)
    # Slack's error code, while it rejects the channel.
    refused_because = CharField(64, null=True)

    class Meta:
        table_name = "channel_digests"
        indexes = (
            (("due_at",), False),
            (("organisation_id", "department_id"), False),
        )
        constraints = [
            OF_ORGANISATION,
            OF_DEPARTMENT,
            check("channel_digests_frequency", one_of("frequency", DIGEST_FREQUENCIES)),
        ]


class LeaseRow(Model):  # type: ignore[misc]
    """Unused; the next migration that changes the schema can drop the table."""

    name = CharField(64, primary_key=True)
    holder = CharField(64)
    held_until = BigIntegerField()

    class Meta:
        table_name = "leases"


class SecretCanaryRow(Model):  # type: ignore[misc]
    """A known text, encrypted with each key that was ever the first; of the whole deployment."""

    number = IntegerField(primary_key=True)
    encrypted = TextField()

    class Meta:
        table_name = "secret_canaries"


# In the order in which they can be created.
TABLES: tuple[type[Model], ...] = (
    OrganisationRow,
    DepartmentRow,
    UserRow,
    LeaveTypeRow,
    LeaveRequestRow,
    AmendmentRow,
    SuggestionRow,
    HolidaySetRow,
    HolidayOverrideRow,
    AllowanceRow,
    TimeCreditRow,
    ClosureRow,
    AbsenceLimitRow,
    AllowanceAdjustmentRow,
    DaysLeftRow,
    ApiKeyRow,
    CalendarFeedRow,
    DisplayLinkRow,
    FeedChangesRow,
    FeedSequenceRow,
    WebhookRow,
    EventRow,
    DeliveryRow,
    DeliveryAttemptRow,
    AuditRow,
    IdempotencyKeyRow,
    SlackInstallationRow,
    SlackStateRow,
    SlackEventRow,
    SlackProfileRow,
    SlackSyncRow,
    SlackStatusRow,
    SlackHomeRow,
    SlackMessageRow,
    NotificationRow,
    ExpiryNoticeRow,
    ExpiryCheckRow,
    ReminderRow,
    TimeCreditCardRow,
    ReminderSummaryRow,
    DigestRow,
    ChannelDigestRow,
    LeaseRow,
    SecretCanaryRow,
)
