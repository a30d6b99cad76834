SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.absence_limits (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    department_id uuid,
    user_ids text,
    first_day date,
    last_day date,
    max_away integer,
    min_present integer,
    enforcement character varying(8) NOT NULL,
    is_active boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    CONSTRAINT absence_limits_dates CHECK ((first_day <= last_day)),
    CONSTRAINT absence_limits_enforcement CHECK ((enforcement IN ('warn', 'block'))),
    CONSTRAINT absence_limits_group CHECK (((department_id IS NULL) OR (user_ids IS NULL))),
    CONSTRAINT absence_limits_number CHECK (((max_away IS NULL) <> (min_present IS NULL)))
);
ALTER TABLE ONLY public.absence_limits ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.allowance_adjustments (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    leave_year_start date NOT NULL,
    half_days integer NOT NULL,
    reason text NOT NULL,
    created_by uuid,
    created_at bigint NOT NULL,
    allowance_id uuid,
    CONSTRAINT allowance_adjustments_half_days CHECK (((half_days <> 0) AND ((half_days >= '-732'::integer) AND (half_days <= 732))))
);
ALTER TABLE ONLY public.allowance_adjustments ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.allowances (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    code character varying(64) NOT NULL,
    is_default boolean NOT NULL,
    is_archived boolean NOT NULL,
    earnable boolean NOT NULL,
    terms text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL
);
ALTER TABLE ONLY public.allowances ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.amendments (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    leave_request_id uuid NOT NULL,
    leave_type_id uuid NOT NULL,
    start_date date NOT NULL,
    end_date date NOT NULL,
    start_half_day character varying(2),
    end_half_day character varying(2),
    note text,
    status character varying(16) NOT NULL,
    requested_by uuid NOT NULL,
    requested_at bigint NOT NULL,
    decided_by uuid,
    decided_at bigint,
    decision_reason text,
    assigns_cover boolean DEFAULT false NOT NULL,
    cancels boolean DEFAULT false NOT NULL,
    approvals text,
    CONSTRAINT amendments_dates CHECK ((start_date <= end_date)),
    CONSTRAINT amendments_end_half_day CHECK ((end_half_day IN ('am', 'pm'))),
    CONSTRAINT amendments_start_half_day CHECK ((start_half_day IN ('am', 'pm'))),
    CONSTRAINT amendments_status CHECK ((status IN ('open', 'approved', 'declined', 'withdrawn', 'replaced', 'ended')))
);
ALTER TABLE ONLY public.amendments ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.api_keys (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    secret_sha256 character varying(64) NOT NULL,
    prefix character varying(32) NOT NULL,
    scopes text NOT NULL,
    variant integer NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    CONSTRAINT api_keys_variant CHECK ((variant = ANY (ARRAY[1, 2])))
);
ALTER TABLE ONLY public.api_keys ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.audit_entries (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    action character varying(64) NOT NULL,
    occurred_at bigint NOT NULL,
    actor_id uuid,
    source character varying(16) NOT NULL,
    subject_type character varying(32) NOT NULL,
    subject_id uuid NOT NULL,
    changes text NOT NULL,
    request_id text,
    CONSTRAINT audit_entries_source CHECK ((source IN ('api', 'slack', 'cli', 'scheduler')))
);
ALTER TABLE ONLY public.audit_entries ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.calendar_feeds (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text,
    is_personal_token boolean NOT NULL,
    token_sha256 character varying(64) NOT NULL,
    token_encrypted text NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    last_fetched_at bigint,
    last_fetched_by text
);
ALTER TABLE ONLY public.calendar_feeds ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.channel_digests (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    channel character varying(32) NOT NULL,
    department_id uuid,
    frequency character varying(16) NOT NULL,
    locale character varying(16) NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    due_at bigint NOT NULL,
    day date,
    ts character varying(32),
    shown_sha256 character varying(64),
    refused_because character varying(64),
    CONSTRAINT channel_digests_frequency CHECK ((frequency IN ('daily', 'weekly')))
);
ALTER TABLE ONLY public.channel_digests ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.closures (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    leave_type_id uuid NOT NULL,
    start_date date NOT NULL,
    end_date date NOT NULL,
    start_half_day character varying(2),
    end_half_day character varying(2),
    department_id uuid,
    when_short character varying(16) NOT NULL,
    excluded_user_ids text DEFAULT '[]'::text NOT NULL,
    skipped_user_ids text DEFAULT '[]'::text NOT NULL,
    skipped_people integer DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    CONSTRAINT closures_dates CHECK ((start_date <= end_date)),
    CONSTRAINT closures_when_short CHECK ((when_short IN ('overdraft', 'skip')))
);
ALTER TABLE ONLY public.closures ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.deliveries (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type character varying(64) NOT NULL,
    leave_request_id uuid,
    sequence integer NOT NULL,
    status character varying(16) NOT NULL,
    attempts integer NOT NULL,
    due_at bigint NOT NULL,
    claim_id character varying(36),
    last_status_code integer,
    last_error text,
    created_at bigint NOT NULL,
    settled_at bigint,
    CONSTRAINT deliveries_attempts CHECK ((attempts >= 0)),
    CONSTRAINT deliveries_status CHECK ((status IN ('pending', 'delivered', 'failed')))
);
ALTER TABLE ONLY public.deliveries ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.delivery_attempts (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempted_at bigint NOT NULL,
    status_code integer,
    error text,
    duration_milliseconds integer NOT NULL,
    answer_excerpt bytea,
    CONSTRAINT delivery_attempts_duration CHECK ((duration_milliseconds >= 0))
);
ALTER TABLE ONLY public.delivery_attempts ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.departments (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    manager_id uuid,
    default_leave_allowance_half_days integer,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    figures text,
    CONSTRAINT departments_default_leave_allowance CHECK (((default_leave_allowance_half_days >= 0) AND (default_leave_allowance_half_days <= 732)))
);
ALTER TABLE ONLY public.departments ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.digests (
    organisation_id uuid NOT NULL,
    due_at bigint NOT NULL,
    channel character varying(32),
    day date,
    ts character varying(32),
    shown_sha256 character varying(64),
    refused_channel character varying(32),
    refused_because character varying(64)
);
ALTER TABLE ONLY public.digests ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.display_links (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    department_id uuid,
    token_sha256 character varying(64) NOT NULL,
    token_encrypted text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL
);
ALTER TABLE ONLY public.display_links ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.events (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    type character varying(64) NOT NULL,
    leave_request_id uuid,
    sequence integer NOT NULL,
    body bytea NOT NULL,
    created_at bigint NOT NULL
);
ALTER TABLE ONLY public.events ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.feed_changes (
    organisation_id uuid NOT NULL,
    shard integer NOT NULL,
    changes bigint NOT NULL
);
ALTER TABLE ONLY public.feed_changes ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.feed_sequences (
    organisation_id uuid NOT NULL,
    sequence bigint NOT NULL,
    changed_at bigint NOT NULL
);
ALTER TABLE ONLY public.feed_sequences ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.holiday_overrides (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    holiday_set_id uuid NOT NULL,
    date date NOT NULL,
    name text NOT NULL,
    is_holiday boolean NOT NULL,
    half character varying(2),
    created_at bigint NOT NULL,
    every_year boolean DEFAULT false NOT NULL,
    CONSTRAINT holiday_overrides_half CHECK ((half IN ('am', 'pm')))
);
ALTER TABLE ONLY public.holiday_overrides ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.holiday_sets (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    country_code character varying(32) NOT NULL,
    created_at bigint NOT NULL,
    categories text DEFAULT '["public"]'::text NOT NULL
);
ALTER TABLE ONLY public.holiday_sets ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.idempotency_keys (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    request_sha256 character varying(64) NOT NULL,
    status_code integer,
    headers text,
    body bytea,
    created_at bigint NOT NULL
);
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.leases (
    name character varying(64) NOT NULL,
    holder character varying(64) NOT NULL,
    held_until bigint NOT NULL
);
CREATE TABLE public.leave_requests (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    leave_type_id uuid NOT NULL,
    status character varying(16) NOT NULL,
    start_date date NOT NULL,
    end_date date NOT NULL,
    start_half_day character varying(2),
    end_half_day character varying(2),
    total_half_days integer NOT NULL,
    counted_halves text NOT NULL,
    note text,
    decided_by uuid,
    decided_at bigint,
    decision_reason text,
    cancelled_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    approval_reversed_at bigint,
    recorded_by uuid,
    override_reason text,
    amendment_id uuid,
    hidden_versions integer,
    shown_updated_at bigint,
    cover_user_id uuid,
    split_from uuid,
    interrupts uuid,
    closure_id uuid,
    approvals text,
    first_approver_id uuid,
    second_approver_id uuid,
    CONSTRAINT leave_requests_dates CHECK ((start_date <= end_date)),
    CONSTRAINT leave_requests_end_half_day CHECK ((end_half_day IN ('am', 'pm'))),
    CONSTRAINT leave_requests_start_half_day CHECK ((start_half_day IN ('am', 'pm'))),
    CONSTRAINT leave_requests_status CHECK ((status IN ('pending', 'approved', 'declined', 'cancelled'))),
    CONSTRAINT leave_requests_total CHECK (((total_half_days >= 0) AND (total_half_days <= 732)))
);
ALTER TABLE ONLY public.leave_requests ALTER COLUMN organisation_id SET (n_distinct=100);
ALTER TABLE ONLY public.leave_requests ALTER COLUMN leave_type_id SET (n_distinct=4);
CREATE TABLE public.leave_types (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    code character varying(64) NOT NULL,
    colour character varying(7) NOT NULL,
    emoji character varying(100),
    requires_approval boolean NOT NULL,
    deducts_allowance boolean NOT NULL,
    allow_overdraft boolean NOT NULL,
    is_paid boolean NOT NULL,
    is_private boolean NOT NULL,
    requires_note boolean NOT NULL,
    min_notice_days integer NOT NULL,
    max_consecutive_days integer,
    is_archived boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    approvers_may_record boolean DEFAULT false NOT NULL,
    changes_need_approval boolean DEFAULT false NOT NULL,
    requires_cover boolean DEFAULT false NOT NULL,
    may_interrupt boolean DEFAULT false NOT NULL,
    tells_approvers boolean DEFAULT true NOT NULL,
    allowance_id uuid,
    allowance_uses text,
    is_away boolean DEFAULT true NOT NULL,
    second_approval text,
    names text,
    CONSTRAINT leave_types_max_consecutive_days CHECK (((max_consecutive_days >= 1) AND (max_consecutive_days <= 366))),
    CONSTRAINT leave_types_min_notice_days CHECK (((min_notice_days >= 0) AND (min_notice_days <= 730)))
);
ALTER TABLE ONLY public.leave_types ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.notices (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    kind character varying(32) NOT NULL,
    user_id uuid NOT NULL,
    leave_request_id uuid,
    event_type character varying(64) NOT NULL,
    status character varying(16) NOT NULL,
    attempts integer NOT NULL,
    due_at bigint NOT NULL,
    claim_id character varying(36),
    last_error text,
    created_at bigint NOT NULL,
    settled_at bigint,
    webhook_id uuid,
    first_day date,
    last_day date,
    digest_id uuid,
    time_credit_id uuid,
    closure_id uuid,
    half_days_before integer,
    about_user_id uuid,
    CONSTRAINT notices_attempts CHECK ((attempts >= 0)),
    CONSTRAINT notices_status CHECK ((status IN ('pending', 'delivered', 'failed')))
);
ALTER TABLE ONLY public.notices ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.organisations (
    id uuid NOT NULL,
    name text NOT NULL,
    slug character varying(255) NOT NULL,
    domain text,
    logo_url text,
    country_code character varying(32) NOT NULL,
    timezone character varying(64) NOT NULL,
    working_days text NOT NULL,
    leave_year_type character varying(16) NOT NULL,
    leave_year_start_month integer NOT NULL,
    leave_year_start_day integer NOT NULL,
    default_leave_allowance_half_days integer NOT NULL,
    carry_over_half_days integer NOT NULL,
    carry_over_expiry_month integer,
    day_starts_at character varying(5) NOT NULL,
    midday_at character varying(5) NOT NULL,
    day_ends_at character varying(5) NOT NULL,
    slack_team_id character varying(32),
    slack_members_join boolean NOT NULL,
    digest_channel character varying(32),
    reference_version integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    pro_rata_rules text,
    CONSTRAINT organisations_carry_over CHECK (((carry_over_half_days >= 0) AND (carry_over_half_days <= 732))),
    CONSTRAINT organisations_carry_over_expiry_month CHECK (((carry_over_expiry_month >= 1) AND (carry_over_expiry_month <= 12))),
    CONSTRAINT organisations_default_leave_allowance CHECK (((default_leave_allowance_half_days >= 0) AND (default_leave_allowance_half_days <= 732))),
    CONSTRAINT organisations_leave_year_start_day CHECK (((leave_year_start_day >= 1) AND (leave_year_start_day <= 31))),
    CONSTRAINT organisations_leave_year_start_month CHECK (((leave_year_start_month >= 1) AND (leave_year_start_month <= 12))),
    CONSTRAINT organisations_leave_year_type CHECK ((leave_year_type IN ('calendar', 'fiscal', 'anniversary')))
);
CREATE TABLE public.reminder_summaries (
    organisation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    day date NOT NULL
);
ALTER TABLE ONLY public.reminder_summaries ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.reminders (
    organisation_id uuid NOT NULL,
    leave_request_id uuid NOT NULL,
    user_id uuid NOT NULL,
    asked_at bigint NOT NULL,
    sent integer NOT NULL,
    is_next_step boolean NOT NULL,
    due_at bigint NOT NULL,
    CONSTRAINT reminders_sent CHECK ((sent >= 0))
);
ALTER TABLE ONLY public.reminders ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.schema_migration (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp without time zone NOT NULL,
    compatible_from integer
);
CREATE SEQUENCE public.schema_migration_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.schema_migration_id_seq OWNED BY public.schema_migration.id;
CREATE TABLE public.secret_canaries (
    number integer NOT NULL,
    encrypted text NOT NULL
);
CREATE TABLE public.slack_events (
    event_id character varying(64) NOT NULL,
    received_at bigint NOT NULL,
    handled_at bigint
);
CREATE TABLE public.slack_homes (
    organisation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    opened_at bigint NOT NULL,
    leafed text NOT NULL
);
ALTER TABLE ONLY public.slack_homes ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.slack_installations (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    team_id character varying(32) NOT NULL,
    enterprise_id character varying(32),
    bot_id character varying(32) NOT NULL,
    bot_user_id character varying(32) NOT NULL,
    bot_token_encrypted text NOT NULL,
    scopes text NOT NULL,
    installed_by character varying(32),
    installed_at bigint NOT NULL,
    uninstalled_at bigint
);
ALTER TABLE ONLY public.slack_installations ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.slack_messages (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    leave_request_id uuid NOT NULL,
    user_id uuid NOT NULL,
    channel character varying(32) NOT NULL,
    ts character varying(32) NOT NULL,
    posted_at bigint NOT NULL,
    reply_ts character varying(32)
);
ALTER TABLE ONLY public.slack_messages ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.slack_profiles (
    organisation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    locale character varying(35),
    updated_at bigint NOT NULL,
    slack_updated_at bigint
);
ALTER TABLE ONLY public.slack_profiles ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.slack_states (
    state_sha256 character varying(64) NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.slack_statuses (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    team_id character varying(32) NOT NULL,
    slack_user_id character varying(32) NOT NULL,
    token_encrypted text NOT NULL,
    connected_at bigint NOT NULL,
    ending_at bigint,
    due_at bigint NOT NULL,
    claim_id character varying(36),
    failures integer NOT NULL,
    known text,
    refused_emoji character varying(100),
    left_alone_until bigint
);
ALTER TABLE ONLY public.slack_statuses ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.slack_syncs (
    organisation_id uuid NOT NULL,
    due_at bigint NOT NULL,
    claim_id character varying(36),
    failures integer NOT NULL,
    last_error character varying(100),
    synced_at bigint
);
ALTER TABLE ONLY public.slack_syncs ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.suggestions (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    leave_request_id uuid NOT NULL,
    request_version integer NOT NULL,
    status character varying(16) NOT NULL,
    start_date date NOT NULL,
    end_date date NOT NULL,
    start_half_day character varying(2),
    end_half_day character varying(2),
    suggested_by uuid NOT NULL,
    suggested_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT suggestions_dates CHECK ((start_date <= end_date)),
    CONSTRAINT suggestions_end_half_day CHECK ((end_half_day IN ('am', 'pm'))),
    CONSTRAINT suggestions_start_half_day CHECK ((start_half_day IN ('am', 'pm'))),
    CONSTRAINT suggestions_status CHECK ((status IN ('open', 'accepted', 'declined', 'replaced')))
);
ALTER TABLE ONLY public.suggestions ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.time_credit_cards (
    organisation_id uuid NOT NULL,
    time_credit_id uuid NOT NULL,
    user_id uuid NOT NULL,
    channel character varying(32),
    ts character varying(32),
    reply_ts character varying(32),
    asked_at bigint NOT NULL,
    sent integer NOT NULL,
    is_next_step boolean NOT NULL,
    due_at bigint,
    CONSTRAINT time_credit_cards_sent CHECK ((sent >= 0))
);
ALTER TABLE ONLY public.time_credit_cards ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.time_credits (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    allowance_id uuid NOT NULL,
    worked_on date NOT NULL,
    half_days integer NOT NULL,
    reason text NOT NULL,
    status character varying(16) NOT NULL,
    decided_by uuid,
    decided_at bigint,
    decision_reason text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    CONSTRAINT time_credits_half_days CHECK (((half_days >= 1) AND (half_days <= 732))),
    CONSTRAINT time_credits_status CHECK ((status IN ('pending', 'approved', 'declined', 'cancelled')))
);
ALTER TABLE ONLY public.time_credits ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.users (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    role character varying(16) NOT NULL,
    status character varying(16) NOT NULL,
    department_id uuid,
    manager_id uuid,
    job_title text,
    start_date date,
    working_days text,
    public_holiday_country_code character varying(32),
    leave_allowance_half_days integer,
    avatar_url text,
    timezone character varying(64),
    locale character varying(16),
    slack_user_id character varying(32),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    end_date date,
    employment text,
    employment_due_on date,
    earlier_periods text,
    figures text,
    leave_allowance_hundredths integer,
    CONSTRAINT users_leave_allowance CHECK (((leave_allowance_half_days >= 0) AND (leave_allowance_half_days <= 732))),
    CONSTRAINT users_role CHECK ((role IN ('member', 'approver', 'admin', 'owner'))),
    CONSTRAINT users_status CHECK ((status IN ('pending', 'active', 'deactivated', 'archived')))
);
ALTER TABLE ONLY public.users ALTER COLUMN organisation_id SET (n_distinct=100);
CREATE TABLE public.webhooks (
    organisation_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    events text NOT NULL,
    is_active boolean NOT NULL,
    disabled_reason text,
    secret_encrypted text NOT NULL,
    previous_secret_encrypted text,
    previous_secret_until bigint,
    failing_since_at bigint,
    created_by uuid,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version integer NOT NULL,
    failing_told_at bigint
);
ALTER TABLE ONLY public.webhooks ALTER COLUMN organisation_id SET (n_distinct=100);
ALTER TABLE ONLY public.schema_migration ALTER COLUMN id SET DEFAULT nextval('public.schema_migration_id_seq'::regclass);
INSERT INTO public.absence_limits VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-00000000009c', 'name 143', NULL, '["z"]', '2026-12-24', '2026-12-24', 4, NULL, 'block', true, 1790000000152, 1790000000153, 5);
INSERT INTO public.absence_limits VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-0000000000aa', 'name 157', NULL, '["z"]', '2026-12-25', '2026-12-25', 3, NULL, 'block', true, 1790000000166, 1790000000167, 4);
INSERT INTO public.allowance_adjustments VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-133f-7264-8d5c-282ceb552c2d', '0198d2a0-cb8e-770e-8ce8-3237a28af503', '2026-08-04', -3, 'reason 1', NULL, 1785751210124, NULL);
INSERT INTO public.allowance_adjustments VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-7a6c-7d22-8fe8-6ec6f691969e', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '2026-08-03', -3, 'reason 0', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1785751210123, '0198d2a0-0000-7000-8000-000000000124');
INSERT INTO public.allowances VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-000000000047', 'name 61', 'code 62', true, false, true, 'terms 66', 1790000000067, 1790000000068, 5);
INSERT INTO public.allowances VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-000000000052', 'name 72', 'code 73', false, true, false, 'terms 77', 1790000000078, 1790000000079, 1);
INSERT INTO public.amendments VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-000000000012', '0198d2a0-4376-7a3a-8929-b94be98756cc', '0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a', '2026-12-24', '2026-12-24', 'am', 'pm', 'note 7', 'open', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1790000000010, '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1790000000012, 'decision_reason 13', false, true, 'approvals 16');
INSERT INTO public.amendments VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-000000000024', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', '0198d2a0-49fb-703a-8fee-8ee56822340e', '2026-12-25', '2026-12-25', 'am', 'pm', 'note 25', 'open', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1790000000028, '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1790000000030, 'decision_reason 31', false, true, 'approvals 34');
INSERT INTO public.api_keys VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-7aa4-77e1-85fe-6ab2657d23ed', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'O''Brien – Größe 😀', 'secret_sha256 0', 'prefix 0', '["leave:read"]', 2, 1785751210123, 1785751210123, 1785751212123, 1785751210123);
INSERT INTO public.api_keys VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-255d-7f45-887f-7daa212cd42e', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 'O''Brien – Größe 😀', 'secret_sha256 1', 'prefix 1', '["leave:read"]', 2, 1785751210124, NULL, NULL, NULL);
INSERT INTO public.audit_entries VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-5fa8-7bc1-8847-98ee7b0ad58a', 'leave_request.approved', 1785751211123, '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'slack', 'leave_request', '0198d2a0-4376-7a3a-8929-b94be98756cc', '{"status": ["pending", "approved"]}', 'request_id 0');
INSERT INTO public.audit_entries VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-8b49-7f49-80cc-e452bcd6a400', 'leave_request.approved', 1785751211124, NULL, 'slack', 'leave_request', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', '{"status": ["pending", "approved"]}', NULL);
INSERT INTO public.calendar_feeds VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-8cc6-7656-870c-c580e54a1761', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'O''Brien – Größe 😀', true, 'token_sha256 0', 'token_encrypted 0', 1785751210123, 1785751210123, 1785751215123, 'last_fetched_by 0');
INSERT INTO public.calendar_feeds VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-973d-70c6-8b38-666db8bdb551', '0198d2a0-cb8e-770e-8ce8-3237a28af503', NULL, false, 'token_sha256 1', 'token_encrypted 1', 1785751210124, NULL, NULL, NULL);
INSERT INTO public.channel_digests VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-0000000000fa', 'channel 237', '0198d2a0-dc20-7ff4-83fc-0be8f720a504', 'weekly', 'locale 240', 1790000000241, 1790000000242, 4, 1790000000244, '2026-12-24', 'ts 246', 'shown_sha256 247', 'refused_because 248');
INSERT INTO public.channel_digests VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-000000000108', 'channel 251', '0198d2a0-3fb2-7614-8900-ecc9cc3872f9', 'weekly', 'locale 254', 1790000000255, 1790000000256, 3, 1790000000258, '2026-12-25', 'ts 260', 'shown_sha256 261', 'refused_because 262');
INSERT INTO public.closures VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-00000000007e', 'name 111', '0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a', '2026-12-24', '2026-12-24', NULL, NULL, '0198d2a0-dc20-7ff4-83fc-0be8f720a504', 'skip', '["x"]', '["y"]', 2, 1790000000122, 1790000000123, 5);
INSERT INTO public.closures VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-00000000008e', 'name 127', '0198d2a0-49fb-703a-8fee-8ee56822340e', '2026-12-25', '2026-12-25', NULL, NULL, '0198d2a0-3fb2-7614-8900-ecc9cc3872f9', 'skip', '["x"]', '["y"]', 3, 1790000000138, 1790000000139, 1);
INSERT INTO public.deliveries VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-def3-7684-89b6-fc657ee31554', '0198d2a0-f0dd-7496-846a-86f8b1fd339d', '0198d2a0-2814-77a5-8a61-6aeb8582c71e', 'leave_request.created', '0198d2a0-4376-7a3a-8929-b94be98756cc', 1, 'delivered', 2, 1785751206123, 'claim_id 0', 1, 'last_error 0', 1785751210123, 1785751210123);
INSERT INTO public.deliveries VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-a06b-78c8-8ce9-dd1573a331e4', '0198d2a0-ce32-7c11-8eb0-df73363ee854', '0198d2a0-0404-7d4a-8a7b-f74f6661124a', 'leave_request.created', NULL, 1, 'delivered', 2, 1785751206124, NULL, NULL, NULL, 1785751210124, NULL);
INSERT INTO public.delivery_attempts VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-9c68-7adb-8c8a-3dcbebfc6017', '0198d2a0-def3-7684-89b6-fc657ee31554', 1785751212123, 1, 'error 0', 1, '\x7b226964223a202200ffc3a4227d');
INSERT INTO public.delivery_attempts VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-3360-79fc-861c-9b989e54b6c4', '0198d2a0-a06b-78c8-8ce9-dd1573a331e4', 1785751212124, NULL, NULL, 1, NULL);
INSERT INTO public.departments VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-3fb2-7614-8900-ecc9cc3872f9', 'O''Brien – Größe 😀', NULL, NULL, 1785751210124, 1785751210124, 1, NULL);
INSERT INTO public.departments VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-dc20-7ff4-83fc-0be8f720a504', 'O''Brien – Größe 😀', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 51, 1785751210123, 1785751210123, 1, 'figures');
INSERT INTO public.digests VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', 1785751206123, 'D0123456', '2026-08-03', 'ts 0', 'shown_sha256 0', 'refused_channel 0', 'refused_because 0');
INSERT INTO public.digests VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', 1785751206124, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.display_links VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-0000000000b3', 'name 171', '0198d2a0-dc20-7ff4-83fc-0be8f720a504', 'token_sha256 173', 'token_encrypted 174', 1790000000175, 1790000000176, 3);
INSERT INTO public.display_links VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-0000000000bc', 'name 180', '0198d2a0-3fb2-7614-8900-ecc9cc3872f9', 'token_sha256 182', 'token_encrypted 183', 1790000000184, 1790000000185, 2);
INSERT INTO public.events VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-2814-77a5-8a61-6aeb8582c71e', 'leave_request.created', '0198d2a0-4376-7a3a-8929-b94be98756cc', 1, '\x7b226964223a202200ffc3a4227d', 1785751210123);
INSERT INTO public.events VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0404-7d4a-8a7b-f74f6661124a', 'leave_request.created', NULL, 1, '\x7b226964223a202200ffc3a4227d', 1785751210124);
INSERT INTO public.feed_changes VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', 3, 1785751207123);
INSERT INTO public.feed_changes VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', 4, 1785751207124);
INSERT INTO public.feed_sequences VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', 1785751208123, 1785751210123);
INSERT INTO public.feed_sequences VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', 1785751208124, 1785751210124);
INSERT INTO public.holiday_overrides VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-87d0-73fe-8ef5-30724d8a6774', '0198d2a0-5754-74d2-8a10-3289672daa8d', '2026-08-03', 'O''Brien – Größe 😀', false, 'am', 1785751210123, false);
INSERT INTO public.holiday_overrides VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-d7e0-7f66-8016-429ee7617a35', '0198d2a0-9991-7d71-80cd-4cbc70f067d1', '2026-08-04', 'O''Brien – Größe 😀', true, NULL, 1785751210124, false);
INSERT INTO public.holiday_sets VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-5754-74d2-8a10-3289672daa8d', 'GB', 1785751210123, '["public"]');
INSERT INTO public.holiday_sets VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-9991-7d71-80cd-4cbc70f067d1', 'GB', 1785751210124, '["public"]');
INSERT INTO public.idempotency_keys VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-45b3-7d83-8374-2b9f4cd528cb', '0198d2a0-7aa4-77e1-85fe-6ab2657d23ed', 'idempotency_key 0', 'request_sha256 0', 1, '{}', '\x7b226964223a202200ffc3a4227d', 1785751210123);
INSERT INTO public.idempotency_keys VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-f4c4-76e1-8a40-640f59afcbc5', '0198d2a0-255d-7f45-887f-7daa212cd42e', 'idempotency_key 1', 'request_sha256 1', NULL, NULL, NULL, 1785751210124);
INSERT INTO public.leases VALUES ('name 0', 'holder 0', 1785751210123);
INSERT INTO public.leases VALUES ('name 1', 'holder 1', 1785751210124);
INSERT INTO public.leave_requests VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', '0198d2a0-49fb-703a-8fee-8ee56822340e', 'approved', '2026-08-04', '2026-08-04', NULL, NULL, 10, '033330', NULL, NULL, NULL, NULL, NULL, 1785751210124, 1785751210124, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.leave_requests VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-4376-7a3a-8929-b94be98756cc', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a', 'approved', '2026-08-03', '2026-08-03', 'pm', 'am', 10, '033330', 'Line one
line two; it''''s \ fine', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1785751210123, 'decision_reason 0', 1785751212123, 1785751210123, 1785751210123, 1, 1785751220123, '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'override_reason', '0198d2a0-0000-7000-8000-000000000118', 3, 1, '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '0198d2a0-0000-7000-8000-000000000116', '0198d2a0-0000-7000-8000-000000000117', '0198d2a0-0000-7000-8000-00000000011c', 'approvals', '0198d2a0-0000-7000-8000-00000000011e', '0198d2a0-0000-7000-8000-00000000011f');
INSERT INTO public.leave_types VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-49fb-703a-8fee-8ee56822340e', 'O''Brien – Größe 😀', 'annual', '#aabbcc', NULL, false, false, false, false, true, false, 14, NULL, false, 1785751210124, 1785751210124, 1, false, false, false, false, true, NULL, NULL, true, NULL, NULL);
INSERT INTO public.leave_types VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a', 'O''Brien – Größe 😀', 'annual', '#aabbcc', ':palm_tree:', true, true, true, true, false, true, 14, 30, true, 1785751210123, 1785751210123, 1, false, false, false, false, true, '0198d2a0-0000-7000-8000-000000000110', 'allowance_uses', true, 'second_approval', 'names');
INSERT INTO public.notices VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-57de-78b6-8c36-f96ff54ef916', 'card', '0198d2a0-cb8e-770e-8ce8-3237a28af503', NULL, 'leave_request.created', 'pending', 2, 1785751206124, NULL, NULL, 1785751210124, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.notices VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-fdfd-7868-8d2b-939b97d1a157', 'card', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '0198d2a0-4376-7a3a-8929-b94be98756cc', 'leave_request.created', 'pending', 2, 1785751206123, 'claim_id 0', 'last_error 0', 1785751210123, 1785751210123, '0198d2a0-f0dd-7496-846a-86f8b1fd339d', '2026-08-03', '2026-08-03', '0198d2a0-0000-7000-8000-000000000126', '0198d2a0-0000-7000-8000-000000000129', '0198d2a0-0000-7000-8000-000000000127', 3, '0198d2a0-47ec-71ac-8cc8-c78a329e8322');
INSERT INTO public.organisations VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', 'O''Brien – Größe 😀', 'slug 1', NULL, NULL, 'GB', 'Europe/Berlin', '["monday", "tuesday"]', 'fiscal', 4, 6, 51, 10, NULL, '09:00', '13:00', '17:30', NULL, true, NULL, 1, 1785751210124, 1785751210124, NULL);
INSERT INTO public.organisations VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', 'O''Brien – Größe 😀', 'slug 0', 'domain 0', 'logo_url 0', 'GB', 'Europe/Berlin', '["monday", "tuesday"]', 'fiscal', 4, 6, 51, 10, 6, '09:00', '13:00', '17:30', 'T0', false, 'digest_channel 0', 1, 1785751210123, 1785751210123, 'pro_rata_rules');
INSERT INTO public.reminder_summaries VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '2026-08-03');
INSERT INTO public.reminder_summaries VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', '2026-08-04');
INSERT INTO public.reminders VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-4376-7a3a-8929-b94be98756cc', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1785751208123, 1, false, 1785751206123);
INSERT INTO public.reminders VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1785751208124, 1, true, 1785751206124);
INSERT INTO public.schema_migration VALUES (19, '0001_first_version', '2026-11-28 13:50:24.736028', 1);
INSERT INTO public.schema_migration VALUES (20, '0002_indexes_of_growth', '2026-11-28 13:50:24.748197', 1);
INSERT INTO public.schema_migration VALUES (21, '0003_sizes_of_organisations', '2026-11-28 13:50:24.792664', 1);
INSERT INTO public.schema_migration VALUES (22, '0004_recorded_leave', '2026-11-28 13:50:24.799775', 1);
INSERT INTO public.schema_migration VALUES (23, '0005_amendments', '2026-11-28 13:50:24.812088', 1);
INSERT INTO public.schema_migration VALUES (24, '0006_undecided_leave', '2026-11-28 13:50:24.819627', 1);
INSERT INTO public.schema_migration VALUES (25, '0007_cover', '2026-11-28 13:50:24.825448', 1);
INSERT INTO public.schema_migration VALUES (26, '0008_index_of_covers', '2026-11-28 13:50:24.832861', 1);
INSERT INTO public.schema_migration VALUES (27, '0009_employment_over_time', '2026-11-28 13:50:24.863607', 1);
INSERT INTO public.schema_migration VALUES (28, '0010_interruptions', '2026-11-28 13:50:24.86827', 1);
INSERT INTO public.schema_migration VALUES (29, '0011_indexes_of_lists', '2026-11-28 13:50:24.880439', 1);
INSERT INTO public.schema_migration VALUES (30, '0012_channel_digests', '2026-11-28 13:50:24.888385', 1);
INSERT INTO public.schema_migration VALUES (31, '0013_replies_with_cards', '2026-11-28 13:50:24.905112', 1);
INSERT INTO public.schema_migration VALUES (32, '0014_address_keys', '2026-11-28 13:50:24.908574', 1);
INSERT INTO public.schema_migration VALUES (33, '0015_told_leave', '2026-11-28 13:50:24.912098', 1);
INSERT INTO public.schema_migration VALUES (34, '0016_cancelling_amendments', '2026-11-28 13:50:24.917866', 1);
INSERT INTO public.schema_migration VALUES (35, '0017_display_links', '2026-11-28 13:50:24.928581', 1);
INSERT INTO public.schema_migration VALUES (36, '0018_holiday_categories', '2026-11-28 13:50:24.940309', 1);
INSERT INTO public.schema_migration VALUES (37, '0019_earlier_employment', '2026-11-28 13:50:24.943876', 1);
INSERT INTO public.schema_migration VALUES (38, '0020_told_absences', '2026-11-28 13:50:24.950171', 1);
INSERT INTO public.schema_migration VALUES (39, '0021_fewer_indexes', '2026-11-28 13:50:24.972275', 1);
INSERT INTO public.schema_migration VALUES (40, '0022_allowances', '2026-11-28 13:50:24.99176', 1);
INSERT INTO public.schema_migration VALUES (41, '0023_time_credits_in_slack', '2026-11-28 13:50:25.002362', 1);
INSERT INTO public.schema_migration VALUES (42, '0024_leave_that_is_no_absence', '2026-11-28 13:50:25.016406', 1);
INSERT INTO public.schema_migration VALUES (43, '0025_absence_limits', '2026-11-28 13:50:25.02415', 1);
INSERT INTO public.schema_migration VALUES (44, '0026_closures', '2026-11-28 13:50:25.032901', 1);
INSERT INTO public.schema_migration VALUES (45, '0027_second_approvals', '2026-11-28 13:50:25.04663', 1);
INSERT INTO public.schema_migration VALUES (46, '0028_indexes_of_second_approvals', '2026-11-28 13:50:25.055795', 1);
INSERT INTO public.schema_migration VALUES (47, '0029_names_of_leave_types', '2026-11-28 13:50:25.059758', 1);
INSERT INTO public.schema_migration VALUES (48, '0030_suggestions', '2026-11-28 13:50:25.06741', 1);
INSERT INTO public.schema_migration VALUES (49, '0031_slack_statuses', '2026-11-28 13:50:25.083685', 1);
INSERT INTO public.schema_migration VALUES (50, '0032_questions_about_balances', '2026-11-28 13:50:25.090456', 1);
INSERT INTO public.secret_canaries VALUES (1, 'encrypted 0');
INSERT INTO public.secret_canaries VALUES (2, 'encrypted 1');
INSERT INTO public.slack_events VALUES ('event_id 0', 1785751211123, 1785751210123);
INSERT INTO public.slack_events VALUES ('event_id 1', 1785751211124, NULL);
INSERT INTO public.slack_homes VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1785751209123, '{}');
INSERT INTO public.slack_homes VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1785751209124, '{}');
INSERT INTO public.slack_installations VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-c3a5-764f-8872-0c39da8619e2', 'team_id 0', 'enterprise_id 0', 'bot_id 0', 'bot_user_id 0', 'bot_token_encrypted 0', '["leave:read"]', 'installed_by 0', 1785751212123, 1785751214123);
INSERT INTO public.slack_installations VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-b60c-7122-8bf8-41b03a730083', 'team_id 1', NULL, 'bot_id 1', 'bot_user_id 1', 'bot_token_encrypted 1', '["leave:read"]', NULL, 1785751212124, NULL);
INSERT INTO public.slack_messages VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-d923-7457-84a9-d3ca9493014b', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 'D0123456', 'ts 1', 1785751209124, NULL);
INSERT INTO public.slack_messages VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-d577-7a62-8cf1-29ce2d9cba2a', '0198d2a0-4376-7a3a-8929-b94be98756cc', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'D0123456', 'ts 0', 1785751209123, 'reply_ts');
INSERT INTO public.slack_profiles VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'de-DE', 1785751210123, 1785751216123);
INSERT INTO public.slack_profiles VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', NULL, 1785751210124, NULL);
INSERT INTO public.slack_states VALUES ('state_sha256 0', 1785751210123);
INSERT INTO public.slack_states VALUES ('state_sha256 1', 1785751210124);
INSERT INTO public.slack_statuses VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-0000000000ca', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'team_id 190', 'slack_user_id 191', 'token_encrypted 192', 1790000000193, 1790000000194, 1790000000195, 'claim_id 196', 3, 'known 198', 'refused_emoji 199', 1790000000200);
INSERT INTO public.slack_statuses VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-0000000000d8', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 'team_id 204', 'slack_user_id 205', 'token_encrypted 206', 1790000000207, 1790000000208, 1790000000209, 'claim_id 210', 2, 'known 212', 'refused_emoji 213', 1790000000214);
INSERT INTO public.slack_syncs VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', 1785751206123, 'claim_id 0', 1, 'last_error 0', 1785751209123);
INSERT INTO public.slack_syncs VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', 1785751206124, NULL, 1, NULL, NULL);
INSERT INTO public.suggestions VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-000000000030', '0198d2a0-4376-7a3a-8929-b94be98756cc', 4, 'open', '2026-12-24', '2026-12-24', 'pm', 'am', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1790000000045, 1790000000046);
INSERT INTO public.suggestions VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-00000000003c', '0198d2a0-e309-7abe-8a97-f81c9f2d06d0', 1, 'open', '2026-12-25', '2026-12-25', 'pm', 'am', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1790000000057, 1790000000058);
INSERT INTO public.time_credit_cards VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-000000000060', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'channel 220', 'ts 221', 'reply_ts 222', 1790000000223, 5, true, 1790000000226);
INSERT INTO public.time_credit_cards VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-00000000006e', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 'channel 230', 'ts 231', 'reply_ts 232', 1790000000233, 5, true, 1790000000236);
INSERT INTO public.time_credits VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-0000-7000-8000-000000000060', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', '0198d2a0-0000-7000-8000-000000000047', '2026-12-24', 2, 'reason 87', 'pending', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1790000000090, 'decision_reason 91', 1790000000092, 1790000000093, 5);
INSERT INTO public.time_credits VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-0000-7000-8000-00000000006e', '0198d2a0-cb8e-770e-8ce8-3237a28af503', '0198d2a0-0000-7000-8000-000000000052', '2026-12-25', 1, 'reason 101', 'pending', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 1790000000104, 'decision_reason 105', 1790000000106, 1790000000107, 4);
INSERT INTO public.users VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-cb8e-770e-8ce8-3237a28af503', 'email 1', 'email_key 1', 'first_name 1', 'last_name 1', 'owner', 'active', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1785751210124, 1785751210124, 1, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.users VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'email 0', 'email_key 0', 'first_name 0', 'last_name 0', 'owner', 'active', '0198d2a0-dc20-7ff4-83fc-0be8f720a504', '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 'job_title 0', '2026-08-03', '["monday", "tuesday"]', 'public_holiday_country_code 0', 47, 'avatar_url 0', 'Europe/Berlin', 'de-DE', 'U0', 1785751210123, 1785751210123, 1, '2026-11-15', 'employment', '2026-11-18', 'earlier_periods', 'figures', 2);
INSERT INTO public.webhooks VALUES ('0198d2a0-30e4-77ce-8dc7-44fcd632087f', '0198d2a0-f0dd-7496-846a-86f8b1fd339d', 'https://hooks.example.com/a?b=c', '["leave_request.created"]', true, 'disabled_reason 0', 'secret_encrypted 0', 'previous_secret_encrypted 0', 1785751221123, 1785751216123, '0198d2a0-47ec-71ac-8cc8-c78a329e8322', 1785751210123, 1785751210123, 1, 1785751215123);
INSERT INTO public.webhooks VALUES ('0198d2a0-36a1-7219-88cd-b6ce44a9baf0', '0198d2a0-ce32-7c11-8eb0-df73363ee854', 'https://hooks.example.com/a?b=c', '["leave_request.created"]', false, NULL, 'secret_encrypted 1', NULL, NULL, NULL, NULL, 1785751210124, 1785751210124, 1, NULL);
SELECT pg_catalog.setval('public.schema_migration_id_seq', 50, true);
ALTER TABLE ONLY public.absence_limits
    ADD CONSTRAINT absence_limits_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.allowance_adjustments
    ADD CONSTRAINT allowance_adjustments_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.allowances
    ADD CONSTRAINT allowances_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.calendar_feeds
    ADD CONSTRAINT calendar_feeds_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.channel_digests
    ADD CONSTRAINT channel_digests_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.closures
    ADD CONSTRAINT closures_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.digests
    ADD CONSTRAINT digests_pkey PRIMARY KEY (organisation_id);
ALTER TABLE ONLY public.display_links
    ADD CONSTRAINT display_links_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.feed_changes
    ADD CONSTRAINT feed_changes_pkey PRIMARY KEY (organisation_id, shard);
ALTER TABLE ONLY public.feed_sequences
    ADD CONSTRAINT feed_sequences_pkey PRIMARY KEY (organisation_id);
ALTER TABLE ONLY public.holiday_overrides
    ADD CONSTRAINT holiday_overrides_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.holiday_sets
    ADD CONSTRAINT holiday_sets_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.leave_requests
    ADD CONSTRAINT leave_requests_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.leave_types
    ADD CONSTRAINT leave_types_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reminder_summaries
    ADD CONSTRAINT reminder_summaries_pkey PRIMARY KEY (organisation_id, user_id);
ALTER TABLE ONLY public.reminders
    ADD CONSTRAINT reminders_pkey PRIMARY KEY (organisation_id, leave_request_id, user_id);
ALTER TABLE ONLY public.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.secret_canaries
    ADD CONSTRAINT secret_canaries_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.slack_events
    ADD CONSTRAINT slack_events_pkey PRIMARY KEY (event_id);
ALTER TABLE ONLY public.slack_homes
    ADD CONSTRAINT slack_homes_pkey PRIMARY KEY (organisation_id, user_id);
ALTER TABLE ONLY public.slack_installations
    ADD CONSTRAINT slack_installations_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.slack_messages
    ADD CONSTRAINT slack_messages_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.slack_profiles
    ADD CONSTRAINT slack_profiles_pkey PRIMARY KEY (organisation_id, user_id);
ALTER TABLE ONLY public.slack_states
    ADD CONSTRAINT slack_states_pkey PRIMARY KEY (state_sha256);
ALTER TABLE ONLY public.slack_statuses
    ADD CONSTRAINT slack_statuses_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.slack_syncs
    ADD CONSTRAINT slack_syncs_pkey PRIMARY KEY (organisation_id);
ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT suggestions_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.time_credit_cards
    ADD CONSTRAINT time_credit_cards_pkey PRIMARY KEY (organisation_id, time_credit_id, user_id);
ALTER TABLE ONLY public.time_credits
    ADD CONSTRAINT time_credits_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (organisation_id, id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (organisation_id, id);
CREATE INDEX absencelimitrow_organisation_id_department_id ON public.absence_limits USING btree (organisation_id, department_id);
CREATE INDEX allowanceadjustmentrow_organisation_id_user_id_leave_year_start ON public.allowance_adjustments USING btree (organisation_id, user_id, leave_year_start);
CREATE UNIQUE INDEX allowancerow_organisation_id_code ON public.allowances USING btree (organisation_id, code);
CREATE INDEX amendmentrow_organisation_id_leave_request_id_requested_at ON public.amendments USING btree (organisation_id, leave_request_id, requested_at);
CREATE UNIQUE INDEX amendments_open ON public.amendments USING btree (organisation_id, leave_request_id) WHERE ((status)::text = 'open'::text);
CREATE INDEX apikeyrow_organisation_id_user_id_id ON public.api_keys USING btree (organisation_id, user_id, id);
CREATE UNIQUE INDEX apikeyrow_secret_sha256 ON public.api_keys USING btree (secret_sha256);
CREATE INDEX auditrow_organisation_id_action_occurred_at_id ON public.audit_entries USING btree (organisation_id, action, occurred_at, id);
CREATE INDEX auditrow_organisation_id_actor_id_occurred_at_id ON public.audit_entries USING btree (organisation_id, actor_id, occurred_at, id);
CREATE INDEX auditrow_organisation_id_occurred_at_id ON public.audit_entries USING btree (organisation_id, occurred_at, id);
CREATE INDEX auditrow_organisation_id_subject_id_occurred_at_id ON public.audit_entries USING btree (organisation_id, subject_id, occurred_at, id);
CREATE INDEX calendarfeedrow_organisation_id_user_id ON public.calendar_feeds USING btree (organisation_id, user_id);
CREATE UNIQUE INDEX calendarfeedrow_token_sha256 ON public.calendar_feeds USING btree (token_sha256);
CREATE INDEX channeldigestrow_due_at ON public.channel_digests USING btree (due_at);
CREATE INDEX channeldigestrow_organisation_id_department_id ON public.channel_digests USING btree (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_department_id ON public.closures USING btree (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_leave_type_id ON public.closures USING btree (organisation_id, leave_type_id);
CREATE INDEX deliveries_claimed ON public.deliveries USING btree (organisation_id, webhook_id, due_at) WHERE (claim_id IS NOT NULL);
CREATE INDEX deliveries_in_order ON public.deliveries USING btree (leave_request_id, webhook_id, organisation_id, sequence) WHERE ((settled_at IS NULL) AND (attempts = 0));
CREATE INDEX deliveries_queue ON public.deliveries USING btree (webhook_id, organisation_id, due_at) WHERE ((status)::text = 'pending'::text);
CREATE INDEX deliveries_settled ON public.deliveries USING btree (settled_at) WHERE (settled_at IS NOT NULL);
CREATE INDEX deliveryattemptrow_organisation_id_delivery_id ON public.delivery_attempts USING btree (organisation_id, delivery_id);
CREATE INDEX deliveryrow_organisation_id_event_id ON public.deliveries USING btree (organisation_id, event_id);
CREATE INDEX deliveryrow_organisation_id_webhook_id_status_event_type_id ON public.deliveries USING btree (organisation_id, webhook_id, status, event_type, id);
CREATE INDEX departmentrow_organisation_id_manager_id ON public.departments USING btree (organisation_id, manager_id);
CREATE INDEX digestrow_due_at ON public.digests USING btree (due_at);
CREATE INDEX displaylinkrow_organisation_id_department_id ON public.display_links USING btree (organisation_id, department_id);
CREATE UNIQUE INDEX displaylinkrow_token_sha256 ON public.display_links USING btree (token_sha256);
CREATE UNIQUE INDEX holiday_overrides_of_a_day ON public.holiday_overrides USING btree (organisation_id, holiday_set_id, date, every_year);
CREATE UNIQUE INDEX holidaysetrow_organisation_id_country_code ON public.holiday_sets USING btree (organisation_id, country_code);
CREATE INDEX idempotencykeyrow_created_at ON public.idempotency_keys USING btree (created_at);
CREATE UNIQUE INDEX idempotencykeyrow_organisation_id_api_key_id_idempotency_key ON public.idempotency_keys USING btree (organisation_id, api_key_id, idempotency_key);
CREATE INDEX leave_requests_covered ON public.leave_requests USING btree (organisation_id, cover_user_id, end_date) WHERE (cover_user_id IS NOT NULL);
CREATE INDEX leave_requests_decided ON public.leave_requests USING btree (organisation_id, decided_by) WHERE (decided_by IS NOT NULL);
CREATE INDEX leave_requests_first_approved ON public.leave_requests USING btree (organisation_id, first_approver_id) WHERE (first_approver_id IS NOT NULL);
CREATE INDEX leave_requests_second_approved ON public.leave_requests USING btree (organisation_id, second_approver_id) WHERE (second_approver_id IS NOT NULL);
CREATE INDEX leave_requests_undecided ON public.leave_requests USING btree (organisation_id, created_at, id) WHERE (((status)::text = 'pending'::text) OR (amendment_id IS NOT NULL));
CREATE INDEX leaverequestrow_organisation_id_created_at_id ON public.leave_requests USING btree (organisation_id, created_at, id);
CREATE INDEX leaverequestrow_organisation_id_start_date_end_date ON public.leave_requests USING btree (organisation_id, start_date, end_date);
CREATE INDEX leaverequestrow_organisation_id_user_id_end_date ON public.leave_requests USING btree (organisation_id, user_id, end_date);
CREATE UNIQUE INDEX leavetyperow_organisation_id_code ON public.leave_types USING btree (organisation_id, code);
CREATE INDEX noticerow_organisation_id_leave_request_id_user_id ON public.notices USING btree (organisation_id, leave_request_id, user_id);
CREATE INDEX notices_due ON public.notices USING btree (due_at) WHERE ((status)::text = 'pending'::text);
CREATE INDEX notices_in_order ON public.notices USING btree (user_id, leave_request_id, id) WHERE ((status)::text = 'pending'::text);
CREATE INDEX notices_of_time_credits ON public.notices USING btree (organisation_id, time_credit_id, user_id) WHERE (time_credit_id IS NOT NULL);
CREATE INDEX notices_of_webhooks ON public.notices USING btree (organisation_id, webhook_id) WHERE (webhook_id IS NOT NULL);
CREATE INDEX organisationrow_domain ON public.organisations USING btree (domain);
CREATE UNIQUE INDEX organisationrow_slack_team_id ON public.organisations USING btree (slack_team_id);
CREATE UNIQUE INDEX organisationrow_slug ON public.organisations USING btree (slug);
CREATE INDEX organisations_digests ON public.organisations USING btree (id) WHERE (digest_channel IS NOT NULL);
CREATE INDEX reminderrow_due_at ON public.reminders USING btree (due_at);
CREATE INDEX reminderrow_organisation_id_due_at ON public.reminders USING btree (organisation_id, due_at);
CREATE INDEX reminderrow_organisation_id_user_id ON public.reminders USING btree (organisation_id, user_id);
CREATE UNIQUE INDEX schema_migration_name ON public.schema_migration USING btree (name);
CREATE INDEX slackeventrow_received_at ON public.slack_events USING btree (received_at);
CREATE UNIQUE INDEX slackinstallationrow_team_id ON public.slack_installations USING btree (team_id);
CREATE UNIQUE INDEX slackmessagerow_organisation_id_leave_request_id_user_id ON public.slack_messages USING btree (organisation_id, leave_request_id, user_id);
CREATE INDEX slackstaterow_expires_at ON public.slack_states USING btree (expires_at);
CREATE INDEX slackstatusrow_due_at ON public.slack_statuses USING btree (due_at);
CREATE UNIQUE INDEX slackstatusrow_organisation_id_user_id ON public.slack_statuses USING btree (organisation_id, user_id);
CREATE INDEX slacksyncrow_due_at ON public.slack_syncs USING btree (due_at);
CREATE INDEX suggestionrow_organisation_id_leave_request_id ON public.suggestions USING btree (organisation_id, leave_request_id);
CREATE UNIQUE INDEX suggestions_open ON public.suggestions USING btree (organisation_id, leave_request_id) WHERE ((status)::text = 'open'::text);
CREATE UNIQUE INDEX time_credits_days ON public.time_credits USING btree (organisation_id, user_id, worked_on) WHERE (status IN ('pending', 'approved'));
CREATE INDEX time_credits_pending ON public.time_credits USING btree (organisation_id, id) WHERE ((status)::text = 'pending'::text);
CREATE INDEX timecreditcardrow_due_at ON public.time_credit_cards USING btree (due_at);
CREATE INDEX timecreditcardrow_organisation_id_user_id ON public.time_credit_cards USING btree (organisation_id, user_id);
CREATE INDEX timecreditrow_organisation_id_user_id_worked_on ON public.time_credits USING btree (organisation_id, user_id, worked_on);
CREATE INDEX userrow_organisation_id_created_at_id ON public.users USING btree (organisation_id, created_at, id);
CREATE INDEX userrow_organisation_id_department_id_role ON public.users USING btree (organisation_id, department_id, role);
CREATE INDEX userrow_organisation_id_email_key ON public.users USING btree (organisation_id, email_key);
CREATE INDEX userrow_organisation_id_manager_id ON public.users USING btree (organisation_id, manager_id);
CREATE INDEX userrow_organisation_id_role ON public.users USING btree (organisation_id, role);
CREATE INDEX userrow_organisation_id_slack_user_id ON public.users USING btree (organisation_id, slack_user_id);
CREATE UNIQUE INDEX users_emails ON public.users USING btree (organisation_id, email_key) WHERE ((status)::text <> 'archived'::text);
CREATE INDEX users_employment_due ON public.users USING btree (employment_due_on) WHERE (employment_due_on IS NOT NULL);
CREATE UNIQUE INDEX users_slack_accounts ON public.users USING btree (organisation_id, slack_user_id) WHERE ((status)::text <> 'archived'::text);
ALTER TABLE ONLY public.absence_limits
    ADD CONSTRAINT absence_limits_organisation_id_department_id_fkey FOREIGN KEY (organisation_id, department_id) REFERENCES public.departments(organisation_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.absence_limits
    ADD CONSTRAINT absence_limits_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.allowance_adjustments
    ADD CONSTRAINT allowance_adjustments_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.allowances
    ADD CONSTRAINT allowances_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_organisation_id_decided_by_fkey FOREIGN KEY (organisation_id, decided_by) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_organisation_id_leave_request_id_fkey FOREIGN KEY (organisation_id, leave_request_id) REFERENCES public.leave_requests(organisation_id, id);
ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_organisation_id_leave_type_id_fkey FOREIGN KEY (organisation_id, leave_type_id) REFERENCES public.leave_types(organisation_id, id);
ALTER TABLE ONLY public.amendments
    ADD CONSTRAINT amendments_organisation_id_requested_by_fkey FOREIGN KEY (organisation_id, requested_by) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.calendar_feeds
    ADD CONSTRAINT calendar_feeds_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.channel_digests
    ADD CONSTRAINT channel_digests_organisation_id_department_id_fkey FOREIGN KEY (organisation_id, department_id) REFERENCES public.departments(organisation_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.channel_digests
    ADD CONSTRAINT channel_digests_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.closures
    ADD CONSTRAINT closures_organisation_id_department_id_fkey FOREIGN KEY (organisation_id, department_id) REFERENCES public.departments(organisation_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.closures
    ADD CONSTRAINT closures_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.closures
    ADD CONSTRAINT closures_organisation_id_leave_type_id_fkey FOREIGN KEY (organisation_id, leave_type_id) REFERENCES public.leave_types(organisation_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_organisation_id_event_id_fkey FOREIGN KEY (organisation_id, event_id) REFERENCES public.events(organisation_id, id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_organisation_id_webhook_id_fkey FOREIGN KEY (organisation_id, webhook_id) REFERENCES public.webhooks(organisation_id, id);
ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_organisation_id_delivery_id_fkey FOREIGN KEY (organisation_id, delivery_id) REFERENCES public.deliveries(organisation_id, id);
ALTER TABLE ONLY public.departments
    ADD CONSTRAINT departments_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.digests
    ADD CONSTRAINT digests_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.display_links
    ADD CONSTRAINT display_links_organisation_id_department_id_fkey FOREIGN KEY (organisation_id, department_id) REFERENCES public.departments(organisation_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.display_links
    ADD CONSTRAINT display_links_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.feed_changes
    ADD CONSTRAINT feed_changes_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.feed_sequences
    ADD CONSTRAINT feed_sequences_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.holiday_overrides
    ADD CONSTRAINT holiday_overrides_organisation_id_holiday_set_id_fkey FOREIGN KEY (organisation_id, holiday_set_id) REFERENCES public.holiday_sets(organisation_id, id);
ALTER TABLE ONLY public.holiday_sets
    ADD CONSTRAINT holiday_sets_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.leave_requests
    ADD CONSTRAINT leave_requests_organisation_id_decided_by_fkey FOREIGN KEY (organisation_id, decided_by) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.leave_requests
    ADD CONSTRAINT leave_requests_organisation_id_leave_type_id_fkey FOREIGN KEY (organisation_id, leave_type_id) REFERENCES public.leave_types(organisation_id, id);
ALTER TABLE ONLY public.leave_requests
    ADD CONSTRAINT leave_requests_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.leave_types
    ADD CONSTRAINT leave_types_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_organisation_id_leave_request_id_fkey FOREIGN KEY (organisation_id, leave_request_id) REFERENCES public.leave_requests(organisation_id, id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_organisation_id_webhook_id_fkey FOREIGN KEY (organisation_id, webhook_id) REFERENCES public.webhooks(organisation_id, id);
ALTER TABLE ONLY public.reminder_summaries
    ADD CONSTRAINT reminder_summaries_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.reminders
    ADD CONSTRAINT reminders_organisation_id_leave_request_id_fkey FOREIGN KEY (organisation_id, leave_request_id) REFERENCES public.leave_requests(organisation_id, id);
ALTER TABLE ONLY public.reminders
    ADD CONSTRAINT reminders_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.slack_homes
    ADD CONSTRAINT slack_homes_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.slack_messages
    ADD CONSTRAINT slack_messages_organisation_id_leave_request_id_fkey FOREIGN KEY (organisation_id, leave_request_id) REFERENCES public.leave_requests(organisation_id, id);
ALTER TABLE ONLY public.slack_profiles
    ADD CONSTRAINT slack_profiles_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.slack_statuses
    ADD CONSTRAINT slack_statuses_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.slack_statuses
    ADD CONSTRAINT slack_statuses_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.slack_syncs
    ADD CONSTRAINT slack_syncs_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT suggestions_organisation_id_leave_request_id_fkey FOREIGN KEY (organisation_id, leave_request_id) REFERENCES public.leave_requests(organisation_id, id);
ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT suggestions_organisation_id_suggested_by_fkey FOREIGN KEY (organisation_id, suggested_by) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.time_credit_cards
    ADD CONSTRAINT time_credit_cards_organisation_id_time_credit_id_fkey FOREIGN KEY (organisation_id, time_credit_id) REFERENCES public.time_credits(organisation_id, id);
ALTER TABLE ONLY public.time_credit_cards
    ADD CONSTRAINT time_credit_cards_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.time_credits
    ADD CONSTRAINT time_credits_organisation_id_user_id_fkey FOREIGN KEY (organisation_id, user_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_organisation_id_department_id_fkey FOREIGN KEY (organisation_id, department_id) REFERENCES public.departments(organisation_id, id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_organisation_id_manager_id_fkey FOREIGN KEY (organisation_id, manager_id) REFERENCES public.users(organisation_id, id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id);
