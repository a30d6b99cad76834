"""The whole schema of version 1.0.0. Released: never edit this file.

Databases of versions before it get there by the steps in ``steps_to_1_0_0``.
"""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

# Processes of the last version before it keep serving beside those of 1.0.0.
COMPATIBLE_FROM = 1

_WITH_ORGANISATION = """
SELECT table_name FROM information_schema.columns
WHERE column_name = 'organisation_id' AND table_schema = current_schema() ORDER BY table_name
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _SCHEMA)
    if not isinstance(db, PostgresqlDatabase):
        return
    # It plans a statement once for all organisations: for one that has a hundredth of the rows, not
    # for an average one, which is small. A quarter of an organisation's leave has the same type.
    for (table,) in db.execute_sql(_WITH_ORGANISATION).fetchall():
        db.execute_sql(f"ALTER TABLE {table} ALTER organisation_id SET (n_distinct = 100)")
    db.execute_sql("ALTER TABLE leave_requests ALTER leave_type_id SET (n_distinct = 4)")


_SCHEMA = """
CREATE TABLE organisations (
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    slug VARCHAR(255) NOT NULL,
    domain TEXT,
    logo_url TEXT,
    country_code VARCHAR(32) NOT NULL,
    timezone VARCHAR(64) NOT NULL,
    working_days TEXT NOT NULL,
    leave_year_type VARCHAR(16) NOT NULL,
    leave_year_start_month INTEGER NOT NULL,
    leave_year_start_day INTEGER NOT NULL,
    default_leave_allowance_half_days INTEGER NOT NULL,
    carry_over_half_days INTEGER NOT NULL,
    carry_over_expiry_month INTEGER,
    day_starts_at VARCHAR(5) NOT NULL,
    midday_at VARCHAR(5) NOT NULL,
    day_ends_at VARCHAR(5) NOT NULL,
    slack_team_id VARCHAR(32),
    slack_members_join BOOLEAN NOT NULL,
    digest_channel VARCHAR(32),
    expiry_notices BOOLEAN NOT NULL DEFAULT TRUE,
    reference_version INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    pro_rata_rules TEXT,
    retention_months INTEGER,
    texts_removed_until DATE,
    CONSTRAINT organisations_leave_year_type
        CHECK (leave_year_type IN ('calendar', 'fiscal', 'anniversary')),
    CONSTRAINT organisations_leave_year_start_month
        CHECK (leave_year_start_month BETWEEN 1 AND 12),
    CONSTRAINT organisations_leave_year_start_day CHECK (leave_year_start_day BETWEEN 1 AND 31),
    CONSTRAINT organisations_default_leave_allowance
        CHECK (default_leave_allowance_half_days BETWEEN 0 AND 732),
    CONSTRAINT organisations_carry_over CHECK (carry_over_half_days BETWEEN 0 AND 732),
    CONSTRAINT organisations_carry_over_expiry_month
        CHECK (carry_over_expiry_month BETWEEN 1 AND 12),
    CONSTRAINT organisations_retention_months CHECK (retention_months BETWEEN 1 AND 240)
);
CREATE UNIQUE INDEX organisationrow_slug ON organisations (slug);
CREATE UNIQUE INDEX organisationrow_slack_team_id ON organisations (slack_team_id);
CREATE INDEX organisationrow_domain ON organisations (domain);
CREATE INDEX organisations_digests ON organisations (id) WHERE digest_channel IS NOT NULL;

CREATE TABLE departments (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    manager_id UUID,
    default_leave_allowance_half_days INTEGER,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    figures TEXT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    CONSTRAINT departments_default_leave_allowance
        CHECK (default_leave_allowance_half_days BETWEEN 0 AND 732)
);
CREATE INDEX departmentrow_organisation_id_manager_id ON departments (organisation_id, manager_id);

CREATE TABLE users (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    role VARCHAR(16) NOT NULL,
    status VARCHAR(16) NOT NULL,
    department_id UUID,
    manager_id UUID,
    job_title TEXT,
    start_date DATE,
    working_days TEXT,
    public_holiday_country_code VARCHAR(32),
    leave_allowance_half_days INTEGER,
    avatar_url TEXT,
    timezone VARCHAR(64),
    locale VARCHAR(16),
    slack_user_id VARCHAR(32),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    end_date DATE,
    employment TEXT,
    earlier_periods TEXT,
    employment_due_on DATE,
    figures TEXT,
    leave_allowance_hundredths INTEGER,
    employee_number TEXT,
    erased_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id) REFERENCES departments (organisation_id, id),
    FOREIGN KEY (organisation_id, manager_id) REFERENCES users (organisation_id, id),
    CONSTRAINT users_role CHECK (role IN ('member', 'approver', 'admin', 'owner')),
    CONSTRAINT users_status CHECK (status IN ('pending', 'active', 'deactivated', 'archived')),
    CONSTRAINT users_leave_allowance CHECK (leave_allowance_half_days BETWEEN 0 AND 732)
);
CREATE INDEX userrow_organisation_id_email_key ON users (organisation_id, email_key);
CREATE INDEX userrow_organisation_id_slack_user_id ON users (organisation_id, slack_user_id);
CREATE INDEX userrow_organisation_id_created_at_id ON users (organisation_id, created_at, id);
CREATE INDEX userrow_organisation_id_role ON users (organisation_id, role);
CREATE INDEX userrow_organisation_id_department_id_role
    ON users (organisation_id, department_id, role);
CREATE INDEX userrow_organisation_id_manager_id ON users (organisation_id, manager_id);
CREATE UNIQUE INDEX users_emails ON users (organisation_id, email_key) WHERE status <> 'archived';
CREATE UNIQUE INDEX users_slack_accounts
    ON users (organisation_id, slack_user_id) WHERE status <> 'archived';
CREATE UNIQUE INDEX users_employee_numbers
    ON users (organisation_id, employee_number)
    WHERE employee_number IS NOT NULL AND status <> 'archived';
CREATE INDEX users_employment_due ON users (employment_due_on) WHERE employment_due_on IS NOT NULL;

CREATE TABLE leave_types (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    code VARCHAR(64) NOT NULL,
    colour VARCHAR(7) NOT NULL,
    emoji VARCHAR(100),
    requires_approval BOOLEAN NOT NULL,
    deducts_allowance BOOLEAN NOT NULL,
    allow_overdraft BOOLEAN NOT NULL,
    is_paid BOOLEAN NOT NULL,
    is_private BOOLEAN NOT NULL,
    requires_note BOOLEAN NOT NULL,
    approvers_may_record BOOLEAN NOT NULL DEFAULT FALSE,
    requires_cover BOOLEAN NOT NULL DEFAULT FALSE,
    may_interrupt BOOLEAN NOT NULL DEFAULT FALSE,
    tells_approvers BOOLEAN NOT NULL DEFAULT TRUE,
    is_away BOOLEAN NOT NULL DEFAULT TRUE,
    min_notice_days INTEGER NOT NULL,
    max_consecutive_days INTEGER,
    is_archived BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    changes_need_approval BOOLEAN NOT NULL DEFAULT FALSE,
    allowance_id UUID,
    allowance_uses TEXT,
    second_approval TEXT,
    names TEXT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    CONSTRAINT leave_types_min_notice_days CHECK (min_notice_days BETWEEN 0 AND 730),
    CONSTRAINT leave_types_max_consecutive_days CHECK (max_consecutive_days BETWEEN 1 AND 366)
);
CREATE UNIQUE INDEX leavetyperow_organisation_id_code ON leave_types (organisation_id, code);

CREATE TABLE leave_requests (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    leave_type_id UUID NOT NULL,
    status VARCHAR(16) NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    total_half_days INTEGER NOT NULL,
    counted_halves TEXT NOT NULL,
    note TEXT,
    decided_by UUID,
    decided_at BIGINT,
    decision_reason TEXT,
    cancelled_at BIGINT,
    approval_reversed_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    recorded_by UUID,
    override_reason TEXT,
    split_from UUID,
    interrupts UUID,
    amendment_id UUID,
    hidden_versions INTEGER,
    shown_updated_at BIGINT,
    cover_user_id UUID,
    closure_id UUID,
    approvals TEXT,
    first_approver_id UUID,
    second_approver_id UUID,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_type_id) REFERENCES leave_types (organisation_id, id),
    FOREIGN KEY (organisation_id, decided_by) REFERENCES users (organisation_id, id),
    CONSTRAINT leave_requests_status
        CHECK (status IN ('pending', 'approved', 'declined', 'cancelled')),
    CONSTRAINT leave_requests_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT leave_requests_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT leave_requests_dates CHECK (start_date <= end_date),
    CONSTRAINT leave_requests_total CHECK (total_half_days BETWEEN 0 AND 732)
);
CREATE INDEX leaverequestrow_organisation_id_created_at_id ON leave_requests (organisation_id,
    created_at, id);
CREATE INDEX leaverequestrow_organisation_id_start_date_end_date ON leave_requests
    (organisation_id, start_date, end_date);
CREATE INDEX leaverequestrow_organisation_id_updated_at_id ON leave_requests (organisation_id,
    updated_at, id);
CREATE INDEX leaverequestrow_organisation_id_user_id_end_date ON leave_requests (organisation_id,
    user_id, end_date);
CREATE INDEX leave_requests_decided ON leave_requests (organisation_id, decided_by)
    WHERE decided_by IS NOT NULL;
CREATE INDEX leave_requests_first_approved ON leave_requests (organisation_id, first_approver_id)
    WHERE first_approver_id IS NOT NULL;
CREATE INDEX leave_requests_second_approved ON leave_requests (organisation_id, second_approver_id)
    WHERE second_approver_id IS NOT NULL;
CREATE INDEX leave_requests_covered ON leave_requests (organisation_id, cover_user_id, end_date)
    WHERE cover_user_id IS NOT NULL;
CREATE INDEX leave_requests_undecided ON leave_requests (organisation_id, created_at, id)
    WHERE status = 'pending' OR amendment_id IS NOT NULL;

CREATE TABLE amendments (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    leave_type_id UUID NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    note TEXT,
    status VARCHAR(16) NOT NULL,
    requested_by UUID NOT NULL,
    requested_at BIGINT NOT NULL,
    decided_by UUID,
    decided_at BIGINT,
    decision_reason TEXT,
    assigns_cover BOOLEAN NOT NULL DEFAULT FALSE,
    cancels BOOLEAN NOT NULL DEFAULT FALSE,
    approvals TEXT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_type_id) REFERENCES leave_types (organisation_id, id),
    FOREIGN KEY (organisation_id, requested_by) REFERENCES users (organisation_id, id),
    FOREIGN KEY (organisation_id, decided_by) REFERENCES users (organisation_id, id),
    CONSTRAINT amendments_status
        CHECK (status IN ('open', 'approved', 'declined', 'withdrawn', 'replaced', 'ended')),
    CONSTRAINT amendments_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT amendments_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT amendments_dates CHECK (start_date <= end_date)
);
CREATE INDEX amendmentrow_organisation_id_leave_request_id_requested_at ON amendments
    (organisation_id, leave_request_id, requested_at);
CREATE UNIQUE INDEX amendments_open ON amendments (organisation_id, leave_request_id)
    WHERE status = 'open';

CREATE TABLE suggestions (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    request_version INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    suggested_by UUID NOT NULL,
    suggested_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, suggested_by) REFERENCES users (organisation_id, id),
    CONSTRAINT suggestions_status CHECK (status IN ('open', 'accepted', 'declined', 'replaced')),
    CONSTRAINT suggestions_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_dates CHECK (start_date <= end_date)
);
CREATE INDEX suggestionrow_organisation_id_leave_request_id ON suggestions (organisation_id,
    leave_request_id);
CREATE UNIQUE INDEX suggestions_open ON suggestions (organisation_id, leave_request_id)
    WHERE status = 'open';

CREATE TABLE holiday_sets (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    country_code VARCHAR(32) NOT NULL,
    created_at BIGINT NOT NULL,
    categories TEXT NOT NULL DEFAULT '["public"]',
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE UNIQUE INDEX holidaysetrow_organisation_id_country_code ON holiday_sets (organisation_id,
    country_code);

CREATE TABLE holiday_overrides (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    holiday_set_id UUID NOT NULL,
    date DATE NOT NULL,
    name TEXT NOT NULL,
    is_holiday BOOLEAN NOT NULL,
    half VARCHAR(2),
    created_at BIGINT NOT NULL,
    every_year BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, holiday_set_id) REFERENCES holiday_sets (organisation_id, id),
    CONSTRAINT holiday_overrides_half CHECK (half IN ('am', 'pm'))
);
CREATE UNIQUE INDEX holiday_overrides_of_a_day ON holiday_overrides (organisation_id,
    holiday_set_id, date, every_year);

CREATE TABLE allowances (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    code VARCHAR(64) NOT NULL,
    is_default BOOLEAN NOT NULL,
    is_archived BOOLEAN NOT NULL,
    earnable BOOLEAN NOT NULL,
    terms TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE UNIQUE INDEX allowancerow_organisation_id_code ON allowances (organisation_id, code);

CREATE TABLE time_credits (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    allowance_id UUID NOT NULL,
    worked_on DATE NOT NULL,
    half_days INTEGER NOT NULL,
    reason TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    decided_by UUID,
    decided_at BIGINT,
    decision_reason TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT time_credits_status
        CHECK (status IN ('pending', 'approved', 'declined', 'cancelled')),
    CONSTRAINT time_credits_half_days CHECK (half_days BETWEEN 1 AND 732)
);
CREATE INDEX timecreditrow_organisation_id_user_id_worked_on ON time_credits (organisation_id,
    user_id, worked_on);
CREATE UNIQUE INDEX time_credits_days ON time_credits (organisation_id, user_id, worked_on)
    WHERE status IN ('pending', 'approved');
CREATE INDEX time_credits_pending ON time_credits (organisation_id, id) WHERE status = 'pending';

CREATE TABLE closures (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    leave_type_id UUID NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    department_id UUID,
    when_short VARCHAR(16) NOT NULL,
    excluded_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_people INTEGER NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, leave_type_id)
        REFERENCES leave_types (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT closures_when_short CHECK (when_short IN ('overdraft', 'skip')),
    CONSTRAINT closures_dates CHECK (start_date <= end_date)
);
CREATE INDEX closurerow_organisation_id_department_id ON closures (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_leave_type_id ON closures (organisation_id, leave_type_id);

CREATE TABLE absence_limits (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    department_id UUID,
    user_ids TEXT,
    first_day DATE,
    last_day DATE,
    max_away INTEGER,
    min_present INTEGER,
    enforcement VARCHAR(8) NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT absence_limits_group CHECK (department_id IS NULL OR user_ids IS NULL),
    CONSTRAINT absence_limits_dates CHECK (first_day <= last_day),
    CONSTRAINT absence_limits_number CHECK ((max_away IS NULL) <> (min_present IS NULL)),
    CONSTRAINT absence_limits_enforcement CHECK (enforcement IN ('warn', 'block'))
);
CREATE INDEX absencelimitrow_organisation_id_department_id ON absence_limits (organisation_id,
    department_id);

CREATE TABLE allowance_adjustments (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    leave_year_start DATE NOT NULL,
    half_days INTEGER NOT NULL,
    reason TEXT NOT NULL,
    created_by UUID,
    created_at BIGINT NOT NULL,
    allowance_id UUID,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT allowance_adjustments_half_days
        CHECK (half_days <> 0 AND half_days BETWEEN -732 AND 732)
);
CREATE INDEX allowanceadjustmentrow_organisation_id_user_id_leave_year_start ON
    allowance_adjustments (organisation_id, user_id, leave_year_start);

CREATE TABLE days_left (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    allowance_id UUID NOT NULL,
    leave_year_start DATE NOT NULL,
    counts_from DATE NOT NULL,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
CREATE INDEX daysleftrow_organisation_id_user_id ON days_left (organisation_id, user_id);

CREATE TABLE api_keys (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    secret_sha256 VARCHAR(64) NOT NULL,
    prefix VARCHAR(32) NOT NULL,
    scopes TEXT NOT NULL,
    variant INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT api_keys_variant CHECK (variant IN (1, 2))
);
CREATE UNIQUE INDEX apikeyrow_secret_sha256 ON api_keys (secret_sha256);
CREATE INDEX apikeyrow_organisation_id_user_id_id ON api_keys (organisation_id, user_id, id);

CREATE TABLE calendar_feeds (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    name TEXT,
    is_personal_token BOOLEAN NOT NULL,
    token_sha256 VARCHAR(64) NOT NULL,
    token_encrypted TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_fetched_at BIGINT,
    last_fetched_by TEXT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
CREATE UNIQUE INDEX calendarfeedrow_token_sha256 ON calendar_feeds (token_sha256);
CREATE INDEX calendarfeedrow_organisation_id_user_id ON calendar_feeds (organisation_id, user_id);

CREATE TABLE display_links (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    department_id UUID,
    token_sha256 VARCHAR(64) NOT NULL,
    token_encrypted TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX displaylinkrow_token_sha256 ON display_links (token_sha256);
CREATE INDEX displaylinkrow_organisation_id_department_id ON display_links (organisation_id,
    department_id);

CREATE TABLE feed_changes (
    organisation_id UUID NOT NULL,
    shard INTEGER NOT NULL,
    changes BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, shard),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);

CREATE TABLE feed_sequences (
    organisation_id UUID NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);

CREATE TABLE webhooks (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    disabled_reason TEXT,
    secret_encrypted TEXT NOT NULL,
    previous_secret_encrypted TEXT,
    previous_secret_until BIGINT,
    failing_since_at BIGINT,
    failing_told_at BIGINT,
    created_by UUID,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);

CREATE TABLE events (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    type VARCHAR(64) NOT NULL,
    leave_request_id UUID,
    sequence INTEGER NOT NULL,
    body BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, id)
);

CREATE TABLE deliveries (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    webhook_id UUID NOT NULL,
    event_id UUID NOT NULL,
    event_type VARCHAR(64) NOT NULL,
    leave_request_id UUID,
    sequence INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    due_at BIGINT NOT NULL,
    claim_id VARCHAR(36),
    last_status_code INTEGER,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhooks (organisation_id, id),
    FOREIGN KEY (organisation_id, event_id) REFERENCES events (organisation_id, id),
    CONSTRAINT deliveries_status CHECK (status IN ('pending', 'delivered', 'failed')),
    CONSTRAINT deliveries_attempts CHECK (attempts >= 0)
);
CREATE INDEX deliveryrow_organisation_id_webhook_id_status_event_type_id ON deliveries
    (organisation_id, webhook_id, status, event_type, id);
CREATE INDEX deliveryrow_organisation_id_event_id ON deliveries (organisation_id, event_id);
CREATE INDEX deliveries_queue ON deliveries (webhook_id, organisation_id, due_at)
    WHERE status = 'pending';
CREATE INDEX deliveries_in_order ON deliveries (leave_request_id, webhook_id, organisation_id,
    sequence) WHERE settled_at IS NULL AND attempts = 0;
CREATE INDEX deliveries_claimed ON deliveries (organisation_id, webhook_id, due_at)
    WHERE claim_id IS NOT NULL;
CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE delivery_attempts (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    delivery_id UUID NOT NULL,
    attempted_at BIGINT NOT NULL,
    status_code INTEGER,
    error TEXT,
    duration_milliseconds INTEGER NOT NULL,
    answer_excerpt BYTEA,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, delivery_id) REFERENCES deliveries (organisation_id, id),
    CONSTRAINT delivery_attempts_duration CHECK (duration_milliseconds >= 0)
);
CREATE INDEX deliveryattemptrow_organisation_id_delivery_id ON delivery_attempts (organisation_id,
    delivery_id);

CREATE TABLE audit_entries (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    action VARCHAR(64) NOT NULL,
    occurred_at BIGINT NOT NULL,
    actor_id UUID,
    source VARCHAR(16) NOT NULL,
    subject_type VARCHAR(32) NOT NULL,
    subject_id UUID NOT NULL,
    changes TEXT NOT NULL,
    request_id TEXT,
    PRIMARY KEY (organisation_id, id),
    CONSTRAINT audit_entries_source CHECK (source IN ('api', 'slack', 'cli', 'scheduler'))
);
CREATE INDEX auditrow_organisation_id_occurred_at_id ON audit_entries (organisation_id,
    occurred_at, id);
CREATE INDEX auditrow_organisation_id_action_occurred_at_id ON audit_entries (organisation_id,
    action, occurred_at, id);
CREATE INDEX auditrow_organisation_id_actor_id_occurred_at_id ON audit_entries (organisation_id,
    actor_id, occurred_at, id);
CREATE INDEX auditrow_organisation_id_subject_id_occurred_at_id ON audit_entries (organisation_id,
    subject_id, occurred_at, id);

CREATE TABLE idempotency_keys (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    api_key_id UUID NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_sha256 VARCHAR(64) NOT NULL,
    status_code INTEGER,
    headers TEXT,
    body BYTEA,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE UNIQUE INDEX idempotencykeyrow_organisation_id_api_key_id_idempotency_key ON
    idempotency_keys (organisation_id, api_key_id, idempotency_key);
CREATE INDEX idempotencykeyrow_created_at ON idempotency_keys (created_at);

CREATE TABLE slack_installations (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    team_id VARCHAR(32) NOT NULL,
    enterprise_id VARCHAR(32),
    bot_id VARCHAR(32) NOT NULL,
    bot_user_id VARCHAR(32) NOT NULL,
    bot_token_encrypted TEXT NOT NULL,
    scopes TEXT NOT NULL,
    installed_by VARCHAR(32),
    installed_at BIGINT NOT NULL,
    uninstalled_at BIGINT,
    PRIMARY KEY (organisation_id, id)
);
CREATE UNIQUE INDEX slackinstallationrow_team_id ON slack_installations (team_id);

CREATE TABLE slack_states (
    state_sha256 VARCHAR(64) NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX slackstaterow_expires_at ON slack_states (expires_at);

CREATE TABLE slack_events (
    event_id VARCHAR(64) NOT NULL PRIMARY KEY,
    received_at BIGINT NOT NULL,
    handled_at BIGINT
);
CREATE INDEX slackeventrow_received_at ON slack_events (received_at);

CREATE TABLE slack_profiles (
    organisation_id UUID NOT NULL,
    user_id UUID NOT NULL,
    locale VARCHAR(35),
    updated_at BIGINT NOT NULL,
    slack_updated_at BIGINT,
    PRIMARY KEY (organisation_id, user_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);

CREATE TABLE slack_syncs (
    organisation_id UUID NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL,
    claim_id VARCHAR(36),
    failures INTEGER NOT NULL,
    last_error VARCHAR(100),
    synced_at BIGINT,
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE INDEX slacksyncrow_due_at ON slack_syncs (due_at);

CREATE TABLE slack_statuses (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    team_id VARCHAR(32) NOT NULL,
    slack_user_id VARCHAR(32) NOT NULL,
    token_encrypted TEXT NOT NULL,
    connected_at BIGINT NOT NULL,
    ending_at BIGINT,
    due_at BIGINT NOT NULL,
    claim_id VARCHAR(36),
    failures INTEGER NOT NULL,
    known TEXT,
    refused_emoji VARCHAR(100),
    left_alone_until BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
CREATE UNIQUE INDEX slackstatusrow_organisation_id_user_id ON slack_statuses (organisation_id,
    user_id);
CREATE INDEX slackstatusrow_due_at ON slack_statuses (due_at);

CREATE TABLE slack_homes (
    organisation_id UUID NOT NULL,
    user_id UUID NOT NULL,
    opened_at BIGINT NOT NULL,
    leafed TEXT NOT NULL,
    PRIMARY KEY (organisation_id, user_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);

CREATE TABLE slack_messages (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    user_id UUID NOT NULL,
    channel VARCHAR(32) NOT NULL,
    ts VARCHAR(32) NOT NULL,
    posted_at BIGINT NOT NULL,
    reply_ts VARCHAR(32),
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id) REFERENCES leave_requests (organisation_id, id)
);
CREATE UNIQUE INDEX slackmessagerow_organisation_id_leave_request_id_user_id ON slack_messages
    (organisation_id, leave_request_id, user_id);

CREATE TABLE notices (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    kind VARCHAR(32) NOT NULL,
    user_id UUID NOT NULL,
    leave_request_id UUID,
    event_type VARCHAR(64) NOT NULL,
    status VARCHAR(16) NOT NULL,
    attempts INTEGER NOT NULL,
    due_at BIGINT NOT NULL,
    claim_id VARCHAR(36),
    last_error TEXT,
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    webhook_id UUID,
    digest_id UUID,
    first_day DATE,
    last_day DATE,
    closure_id UUID,
    half_days_before INTEGER,
    time_credit_id UUID,
    about_user_id UUID,
    expiry_notice_id UUID,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhooks (organisation_id, id),
    CONSTRAINT notices_status CHECK (status IN ('pending', 'delivered', 'failed')),
    CONSTRAINT notices_attempts CHECK (attempts >= 0)
);
CREATE INDEX noticerow_organisation_id_leave_request_id_user_id ON notices (organisation_id,
    leave_request_id, user_id);
CREATE INDEX notices_of_webhooks ON notices (organisation_id, webhook_id)
    WHERE webhook_id IS NOT NULL;
CREATE INDEX notices_of_time_credits ON notices (organisation_id, time_credit_id, user_id)
    WHERE time_credit_id IS NOT NULL;
CREATE INDEX notices_due ON notices (due_at) WHERE status = 'pending';
CREATE INDEX notices_in_order ON notices (user_id, leave_request_id, id) WHERE status = 'pending';

CREATE TABLE expiry_notices (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    kind VARCHAR(16) NOT NULL,
    told_on DATE NOT NULL,
    contents TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    seen_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT expiry_notices_kind CHECK (kind IN ('statement', 'reminder'))
);
CREATE UNIQUE INDEX expirynoticerow_organisation_id_user_id_told_on ON expiry_notices
    (organisation_id, user_id, told_on);

CREATE TABLE expiry_checks (
    organisation_id UUID NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL,
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);

CREATE TABLE reminders (
    organisation_id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    user_id UUID NOT NULL,
    asked_at BIGINT NOT NULL,
    sent INTEGER NOT NULL,
    is_next_step BOOLEAN NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, leave_request_id, user_id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT reminders_sent CHECK (sent >= 0)
);
CREATE INDEX reminderrow_due_at ON reminders (due_at);
CREATE INDEX reminderrow_organisation_id_due_at ON reminders (organisation_id, due_at);
CREATE INDEX reminderrow_organisation_id_user_id ON reminders (organisation_id, user_id);

CREATE TABLE time_credit_cards (
    organisation_id UUID NOT NULL,
    time_credit_id UUID NOT NULL,
    user_id UUID NOT NULL,
    channel VARCHAR(32),
    ts VARCHAR(32),
    reply_ts VARCHAR(32),
    asked_at BIGINT NOT NULL,
    sent INTEGER NOT NULL,
    is_next_step BOOLEAN NOT NULL,
    due_at BIGINT,
    PRIMARY KEY (organisation_id, time_credit_id, user_id),
    FOREIGN KEY (organisation_id, time_credit_id) REFERENCES time_credits (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT time_credit_cards_sent CHECK (sent >= 0)
);
CREATE INDEX timecreditcardrow_due_at ON time_credit_cards (due_at);
CREATE INDEX timecreditcardrow_organisation_id_user_id ON time_credit_cards (organisation_id,
    user_id);

CREATE TABLE reminder_summaries (
    organisation_id UUID NOT NULL,
    user_id UUID NOT NULL,
    day DATE NOT NULL,
    PRIMARY KEY (organisation_id, user_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);

CREATE TABLE digests (
    organisation_id UUID NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL,
    channel VARCHAR(32),
    day DATE,
    ts VARCHAR(32),
    shown_sha256 VARCHAR(64),
    refused_channel VARCHAR(32),
    refused_because VARCHAR(64),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE INDEX digestrow_due_at ON digests (due_at);

CREATE TABLE channel_digests (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    channel VARCHAR(32) NOT NULL,
    department_id UUID,
    frequency VARCHAR(16) NOT NULL,
    locale VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    due_at BIGINT NOT NULL,
    day DATE,
    ts VARCHAR(32),
    shown_sha256 VARCHAR(64),
    refused_because VARCHAR(64),
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT channel_digests_frequency CHECK (frequency IN ('daily', 'weekly'))
);
CREATE INDEX channeldigestrow_due_at ON channel_digests (due_at);
CREATE INDEX channeldigestrow_organisation_id_department_id ON channel_digests (organisation_id,
    department_id);

CREATE TABLE leases (
    name VARCHAR(64) NOT NULL PRIMARY KEY,
    holder VARCHAR(64) NOT NULL,
    held_until BIGINT NOT NULL
);

CREATE TABLE secret_canaries (
    number INTEGER NOT NULL PRIMARY KEY,
    encrypted TEXT NOT NULL
);
"""
