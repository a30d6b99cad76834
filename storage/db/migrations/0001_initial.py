"""The first schema. A frozen copy: storage/tables.py goes on from here, this file never changes."""

from __future__ import annotations

from typing import Any

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


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    """A UUID as text on SQLite and as PostgreSQL's own type; always text in Python."""

    field_type = "UUID"


def references(table: str, *columns: str) -> SQL:
    """A foreign key within the organisation: an id of another organisation cannot satisfy it."""
    own = ", ".join(("organisation_id", *columns))
    return SQL(f"FOREIGN KEY ({own}) REFERENCES {table} (organisation_id, id)")


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
    slack_members_join = BooleanField()
    digest_channel = CharField(32, null=True)
    # Grows with every change of what organisation_config.py keeps in memory.
    reference_version = IntegerField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()

    class Meta:
        table_name = "organisations"


class DepartmentRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    name = TextField()
    # No foreign key: users already refer to departments, and PostgreSQL makes tables in order.
    manager_id = IdField(null=True)
    default_leave_allowance_half_days = IntegerField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "departments"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "manager_id"), False),)
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


class UserRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
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

    class Meta:
        table_name = "users"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = (
            (("organisation_id", "email_key"), True),
            (("organisation_id", "slack_user_id"), True),
            (("organisation_id", "created_at", "id"), False),
            (("organisation_id", "role"), False),
            (("organisation_id", "department_id"), False),
            (("organisation_id", "manager_id"), False),
        )
        constraints = [
            SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)"),
            references("departments", "department_id"),
            references("users", "manager_id"),
        ]


class LeaveTypeRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    name = TextField()
    code = CharField(64)
    colour = CharField(7)
    emoji = CharField(100, null=True)
    requires_approval = BooleanField()
    deducts_allowance = BooleanField()
    allow_overdraft = BooleanField()
    is_paid = BooleanField()
    is_private = BooleanField()
    requires_note = BooleanField()
    min_notice_days = IntegerField()
    max_consecutive_days = IntegerField(null=True)
    is_archived = BooleanField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "leave_types"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "code"), True),)
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


class LeaveRequestRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
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
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "leave_requests"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = (
            (("organisation_id", "created_at", "id"), False),
            (("organisation_id", "user_id", "created_at", "id"), False),
            (("organisation_id", "user_id", "end_date"), False),
            (("organisation_id", "status", "created_at", "id"), False),
            (("organisation_id", "start_date", "id"), False),
            (("organisation_id", "end_date"), False),
        )
        constraints = [
            references("users", "user_id"),
            references("leave_types", "leave_type_id"),
        ]


class HolidaySetRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    country_code = CharField(32)
    created_at = BigIntegerField()

    class Meta:
        table_name = "holiday_sets"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "country_code"), True),)
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


class HolidayOverrideRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    holiday_set_id = IdField()
    date = DateField()
    name = TextField()
    is_holiday = BooleanField()
    half = CharField(2, null=True)
    created_at = BigIntegerField()

    class Meta:
        table_name = "holiday_overrides"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "holiday_set_id", "date"), True),)
        constraints = [references("holiday_sets", "holiday_set_id")]


class AllowanceAdjustmentRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    user_id = IdField()
    leave_year_start = DateField()
    half_days = IntegerField()
    reason = TextField()
    created_by = IdField(null=True)
    created_at = BigIntegerField()

    class Meta:
        table_name = "allowance_adjustments"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "user_id", "leave_year_start"), False),)
        constraints = [references("users", "user_id")]


class ApiKeyRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
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
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "user_id"), False),)
        constraints = [references("users", "user_id")]


class CalendarFeedRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    user_id = IdField()
    name = TextField(null=True)
    # The person's own token (contract 8) is a feed too; regenerating replaces it.
    is_personal_token = BooleanField()
    token_sha256 = CharField(64, unique=True)
    token_encrypted = TextField()
    created_at = BigIntegerField()
    revoked_at = BigIntegerField(null=True)

    class Meta:
        table_name = "calendar_feeds"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "user_id"), False),)
        constraints = [references("users", "user_id")]


class WebhookRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    url = TextField()
    events = TextField()
    is_active = BooleanField()
    disabled_reason = TextField(null=True)
    secret_encrypted = TextField()
    previous_secret_encrypted = TextField(null=True)
    previous_secret_until = BigIntegerField(null=True)
    failing_since_at = BigIntegerField(null=True)
    created_by = IdField(null=True)
    created_at = BigIntegerField()
    updated_at = BigIntegerField()
    version = IntegerField()

    class Meta:
        table_name = "webhooks"
        primary_key = CompositeKey("organisation_id", "id")
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


class EventRow(Model):  # type: ignore[misc]
    """What happened, with the very bytes that every receiver is sent."""

    organisation_id = IdField()
    id = IdField()
    type = CharField(64)
    leave_request_id = IdField(null=True)
    sequence = IntegerField()
    body = BlobField()
    created_at = BigIntegerField()

    class Meta:
        table_name = "events"
        primary_key = CompositeKey("organisation_id", "id")


class DeliveryRow(Model):  # type: ignore[misc]
    """One event on its way to one webhook."""

    organisation_id = IdField()
    id = IdField()
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
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "webhook_id", "created_at", "id"), False),)
        constraints = [references("webhooks", "webhook_id")]


# Claims look across organisations, and only at what is not settled: the index stays small.
DeliveryRow.add_index(
    DeliveryRow.due_at,
    DeliveryRow.webhook_id,
    where=SQL("status = 'pending'"),
    name="deliveries_due",
)
DeliveryRow.add_index(
    DeliveryRow.webhook_id,
    DeliveryRow.leave_request_id,
    DeliveryRow.sequence,
    where=SQL("status = 'pending'"),
    name="deliveries_in_order",
)
DeliveryRow.add_index(
    DeliveryRow.claim_id, where=SQL("claim_id IS NOT NULL"), name="deliveries_claimed"
)


class DeliveryAttemptRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    delivery_id = IdField()
    attempted_at = BigIntegerField()
    status_code = IntegerField(null=True)
    error = TextField(null=True)
    duration_milliseconds = IntegerField()
    answer_excerpt = BlobField(null=True)

    class Meta:
        table_name = "delivery_attempts"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "delivery_id"), False),)
        constraints = [references("deliveries", "delivery_id")]


class AuditRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
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
        primary_key = CompositeKey("organisation_id", "id")
        indexes = (
            (("organisation_id", "occurred_at", "id"), False),
            (("organisation_id", "subject_id", "occurred_at"), False),
        )


class IdempotencyKeyRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
    api_key_id = IdField()
    idempotency_key = TextField()
    request_sha256 = CharField(64)
    status_code = IntegerField(null=True)
    headers = TextField(null=True)
    body = BlobField(null=True)
    created_at = BigIntegerField()

    class Meta:
        table_name = "idempotency_keys"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = (
            (("organisation_id", "api_key_id", "idempotency_key"), True),
            (("created_at",), False),
        )


class SlackInstallationRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    id = IdField()
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
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("team_id",), True),)


class SlackStateRow(Model):  # type: ignore[misc]
    """A single-use OAuth state; it precedes any organisation."""

    state_sha256 = CharField(64, primary_key=True)
    expires_at = BigIntegerField()

    class Meta:
        table_name = "slack_states"


class SlackEventRow(Model):  # type: ignore[misc]
    """Events already handled: Slack sends one up to four times."""

    event_id = CharField(64, primary_key=True)
    received_at = BigIntegerField()

    class Meta:
        table_name = "slack_events"
        indexes = ((("received_at",), False),)


class SlackMessageRow(Model):  # type: ignore[misc]
    """Where the card of a request stands in one approver's DM."""

    organisation_id = IdField()
    id = IdField()
    leave_request_id = IdField()
    user_id = IdField()
    channel = CharField(32)
    ts = CharField(32)
    posted_at = BigIntegerField()

    class Meta:
        table_name = "slack_messages"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "leave_request_id", "user_id"), True),)
        constraints = [references("leave_requests", "leave_request_id")]


class NoticeRow(Model):  # type: ignore[misc]
    """Something to show one person in Slack: ids, drawn from what is true when it is sent."""

    organisation_id = IdField()
    id = IdField()
    kind = CharField(32)
    user_id = IdField()
    leave_request_id = IdField()
    event_type = CharField(64)
    status = CharField(16)
    attempts = IntegerField()
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    last_error = TextField(null=True)
    created_at = BigIntegerField()
    settled_at = BigIntegerField(null=True)

    class Meta:
        table_name = "notices"
        primary_key = CompositeKey("organisation_id", "id")
        indexes = ((("organisation_id", "leave_request_id", "user_id"), False),)


NoticeRow.add_index(NoticeRow.due_at, where=SQL("status = 'pending'"), name="notices_due")
NoticeRow.add_index(
    NoticeRow.user_id,
    NoticeRow.leave_request_id,
    NoticeRow.id,
    where=SQL("status = 'pending'"),
    name="notices_in_order",
)


class LeaseRow(Model):  # type: ignore[misc]
    """Which process does a job that only one may do; it belongs to no organisation."""

    name = CharField(64, primary_key=True)
    holder = CharField(64)
    held_until = BigIntegerField()

    class Meta:
        table_name = "leases"


TABLES: tuple[type[Model], ...] = (
    OrganisationRow,
    DepartmentRow,
    UserRow,
    LeaveTypeRow,
    LeaveRequestRow,
    HolidaySetRow,
    HolidayOverrideRow,
    AllowanceAdjustmentRow,
    ApiKeyRow,
    CalendarFeedRow,
    WebhookRow,
    EventRow,
    DeliveryRow,
    DeliveryAttemptRow,
    AuditRow,
    IdempotencyKeyRow,
    SlackInstallationRow,
    SlackStateRow,
    SlackEventRow,
    SlackMessageRow,
    NoticeRow,
    LeaseRow,
)


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx(TABLES, bind_refs=False, bind_backrefs=False):
        # One by one: create_tables() sorts by name, and foreign keys need their table first.
        for table in TABLES:
            table.create_table(safe=False)


def down(migrator: Any, db: Any) -> None:
    with db.bind_ctx(TABLES, bind_refs=False, bind_backrefs=False):
        for table in reversed(TABLES):
            table.drop_table()
