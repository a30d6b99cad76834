CREATE TABLE absence_limits (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    department_id TEXT,
    user_ids TEXT,
    first_day DATE,
    last_day DATE,
    max_away INTEGER,
    min_present INTEGER,
    enforcement VARCHAR(8) NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "absence_limits_group" CHECK (department_id IS NULL OR user_ids IS NULL),
    CONSTRAINT "absence_limits_dates" CHECK (first_day <= last_day),
    CONSTRAINT "absence_limits_number" CHECK ((max_away IS NULL) <> (min_present IS NULL)),
    CONSTRAINT "absence_limits_enforcement" CHECK (enforcement IN ('warn', 'block'))
);
INSERT INTO "absence_limits" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-00000000009c','name 143',NULL,'["z"]','2026-12-24','2026-12-24',4,NULL,'block',1,1790000000152,1790000000153,5);
INSERT INTO "absence_limits" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-0000000000aa','name 157',NULL,'["z"]','2026-12-25','2026-12-25',3,NULL,'block',1,1790000000166,1790000000167,4);
CREATE TABLE "allowance_adjustments" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "leave_year_start" DATE NOT NULL, "half_days" INTEGER NOT NULL, "reason" TEXT NOT NULL, "created_by" TEXT, "created_at" INTEGER NOT NULL, allowance_id TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id), CONSTRAINT "allowance_adjustments_half_days" CHECK (half_days <> 0 AND half_days BETWEEN -732 AND 732));
INSERT INTO "allowance_adjustments" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-7a6c-7d22-8fe8-6ec6f691969e','0198d2a0-47ec-71ac-8cc8-c78a329e8322','2026-08-03',-3,'reason 0','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1785751210123,'0198d2a0-0000-7000-8000-000000000124');
INSERT INTO "allowance_adjustments" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-133f-7264-8d5c-282ceb552c2d','0198d2a0-cb8e-770e-8ce8-3237a28af503','2026-08-04',-3,'reason 1',NULL,1785751210124,NULL);
CREATE TABLE allowances (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    code VARCHAR(64) NOT NULL,
    is_default INTEGER NOT NULL,
    is_archived INTEGER NOT NULL,
    earnable INTEGER NOT NULL,
    terms TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
INSERT INTO "allowances" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-000000000047','name 61','code 62',1,0,1,'terms 66',1790000000067,1790000000068,5);
INSERT INTO "allowances" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-000000000052','name 72','code 73',0,1,0,'terms 77',1790000000078,1790000000079,1);
CREATE TABLE amendments (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    leave_request_id TEXT NOT NULL,
    leave_type_id TEXT NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    note TEXT,
    status VARCHAR(16) NOT NULL,
    requested_by TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    decision_reason TEXT, assigns_cover INTEGER NOT NULL DEFAULT FALSE, cancels INTEGER NOT NULL DEFAULT FALSE, approvals TEXT,
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
INSERT INTO "amendments" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-000000000012','0198d2a0-4376-7a3a-8929-b94be98756cc','0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a','2026-12-24','2026-12-24','am','pm','note 7','open','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1790000000010,'0198d2a0-47ec-71ac-8cc8-c78a329e8322',1790000000012,'decision_reason 13',0,1,'approvals 16');
INSERT INTO "amendments" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-000000000024','0198d2a0-e309-7abe-8a97-f81c9f2d06d0','0198d2a0-49fb-703a-8fee-8ee56822340e','2026-12-25','2026-12-25','am','pm','note 25','open','0198d2a0-cb8e-770e-8ce8-3237a28af503',1790000000028,'0198d2a0-cb8e-770e-8ce8-3237a28af503',1790000000030,'decision_reason 31',0,1,'approvals 34');
CREATE TABLE "api_keys" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "name" TEXT NOT NULL, "secret_sha256" VARCHAR(64) NOT NULL, "prefix" VARCHAR(32) NOT NULL, "scopes" TEXT NOT NULL, "variant" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER, "last_used_at" INTEGER, "revoked_at" INTEGER, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id), CONSTRAINT "api_keys_variant" CHECK (variant IN (1, 2)));
INSERT INTO "api_keys" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-7aa4-77e1-85fe-6ab2657d23ed','0198d2a0-47ec-71ac-8cc8-c78a329e8322','O''Brien – Größe 😀','secret_sha256 0','prefix 0','["leave:read"]',2,1785751210123,1785751210123,1785751212123,1785751210123);
INSERT INTO "api_keys" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-255d-7f45-887f-7daa212cd42e','0198d2a0-cb8e-770e-8ce8-3237a28af503','O''Brien – Größe 😀','secret_sha256 1','prefix 1','["leave:read"]',2,1785751210124,NULL,NULL,NULL);
CREATE TABLE "audit_entries" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "action" VARCHAR(64) NOT NULL, "occurred_at" INTEGER NOT NULL, "actor_id" TEXT, "source" VARCHAR(16) NOT NULL, "subject_type" VARCHAR(32) NOT NULL, "subject_id" TEXT NOT NULL, "changes" TEXT NOT NULL, "request_id" TEXT, PRIMARY KEY ("organisation_id", "id"), CONSTRAINT "audit_entries_source" CHECK (source IN ('api', 'slack', 'cli', 'scheduler')));
INSERT INTO "audit_entries" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-5fa8-7bc1-8847-98ee7b0ad58a','leave_request.approved',1785751211123,'0198d2a0-47ec-71ac-8cc8-c78a329e8322','slack','leave_request','0198d2a0-4376-7a3a-8929-b94be98756cc','{"status": ["pending", "approved"]}','request_id 0');
INSERT INTO "audit_entries" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-8b49-7f49-80cc-e452bcd6a400','leave_request.approved',1785751211124,NULL,'slack','leave_request','0198d2a0-e309-7abe-8a97-f81c9f2d06d0','{"status": ["pending", "approved"]}',NULL);
CREATE TABLE "calendar_feeds" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "name" TEXT, "is_personal_token" INTEGER NOT NULL, "token_sha256" VARCHAR(64) NOT NULL, "token_encrypted" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "revoked_at" INTEGER, "last_fetched_at" INTEGER, "last_fetched_by" TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id));
INSERT INTO "calendar_feeds" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-8cc6-7656-870c-c580e54a1761','0198d2a0-47ec-71ac-8cc8-c78a329e8322','O''Brien – Größe 😀',1,'token_sha256 0','token_encrypted 0',1785751210123,1785751210123,1785751215123,'last_fetched_by 0');
INSERT INTO "calendar_feeds" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-973d-70c6-8b38-666db8bdb551','0198d2a0-cb8e-770e-8ce8-3237a28af503',NULL,0,'token_sha256 1','token_encrypted 1',1785751210124,NULL,NULL,NULL);
CREATE TABLE channel_digests (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel VARCHAR(32) NOT NULL,
    department_id TEXT,
    frequency VARCHAR(16) NOT NULL,
    locale VARCHAR(16) NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    day DATE,
    ts VARCHAR(32),
    shown_sha256 VARCHAR(64),
    refused_because VARCHAR(64),
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "channel_digests_frequency" CHECK (frequency IN ('daily', 'weekly'))
);
INSERT INTO "channel_digests" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-0000000000fa','channel 237','0198d2a0-dc20-7ff4-83fc-0be8f720a504','weekly','locale 240',1790000000241,1790000000242,4,1790000000244,'2026-12-24','ts 246','shown_sha256 247','refused_because 248');
INSERT INTO "channel_digests" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-000000000108','channel 251','0198d2a0-3fb2-7614-8900-ecc9cc3872f9','weekly','locale 254',1790000000255,1790000000256,3,1790000000258,'2026-12-25','ts 260','shown_sha256 261','refused_because 262');
CREATE TABLE closures (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    leave_type_id TEXT NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    department_id TEXT,
    when_short VARCHAR(16) NOT NULL,
    excluded_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_people INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, leave_type_id)
        REFERENCES leave_types (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "closures_when_short" CHECK (when_short IN ('overdraft', 'skip')),
    CONSTRAINT "closures_dates" CHECK (start_date <= end_date)
);
INSERT INTO "closures" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-00000000007e','name 111','0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a','2026-12-24','2026-12-24',NULL,NULL,'0198d2a0-dc20-7ff4-83fc-0be8f720a504','skip','["x"]','["y"]',2,1790000000122,1790000000123,5);
INSERT INTO "closures" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-00000000008e','name 127','0198d2a0-49fb-703a-8fee-8ee56822340e','2026-12-25','2026-12-25',NULL,NULL,'0198d2a0-3fb2-7614-8900-ecc9cc3872f9','skip','["x"]','["y"]',3,1790000000138,1790000000139,1);
CREATE TABLE "deliveries" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "webhook_id" TEXT NOT NULL, "event_id" TEXT NOT NULL, "event_type" VARCHAR(64) NOT NULL, "leave_request_id" TEXT, "sequence" INTEGER NOT NULL, "status" VARCHAR(16) NOT NULL, "attempts" INTEGER NOT NULL, "due_at" INTEGER NOT NULL, "claim_id" VARCHAR(36), "last_status_code" INTEGER, "last_error" TEXT, "created_at" INTEGER NOT NULL, "settled_at" INTEGER, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhooks (organisation_id, id), FOREIGN KEY (organisation_id, event_id) REFERENCES events (organisation_id, id), CONSTRAINT "deliveries_status" CHECK (status IN ('pending', 'delivered', 'failed')), CONSTRAINT "deliveries_attempts" CHECK (attempts >= 0));
INSERT INTO "deliveries" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-def3-7684-89b6-fc657ee31554','0198d2a0-f0dd-7496-846a-86f8b1fd339d','0198d2a0-2814-77a5-8a61-6aeb8582c71e','leave_request.created','0198d2a0-4376-7a3a-8929-b94be98756cc',1,'delivered',2,1785751206123,'claim_id 0',1,'last_error 0',1785751210123,1785751210123);
INSERT INTO "deliveries" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-a06b-78c8-8ce9-dd1573a331e4','0198d2a0-ce32-7c11-8eb0-df73363ee854','0198d2a0-0404-7d4a-8a7b-f74f6661124a','leave_request.created',NULL,1,'delivered',2,1785751206124,NULL,NULL,NULL,1785751210124,NULL);
CREATE TABLE "delivery_attempts" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "delivery_id" TEXT NOT NULL, "attempted_at" INTEGER NOT NULL, "status_code" INTEGER, "error" TEXT, "duration_milliseconds" INTEGER NOT NULL, "answer_excerpt" BLOB, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, delivery_id) REFERENCES deliveries (organisation_id, id), CONSTRAINT "delivery_attempts_duration" CHECK (duration_milliseconds >= 0));
INSERT INTO "delivery_attempts" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-9c68-7adb-8c8a-3dcbebfc6017','0198d2a0-def3-7684-89b6-fc657ee31554',1785751212123,1,'error 0',1,X'7B226964223A202200FFC3A4227D');
INSERT INTO "delivery_attempts" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-3360-79fc-861c-9b989e54b6c4','0198d2a0-a06b-78c8-8ce9-dd1573a331e4',1785751212124,NULL,NULL,1,NULL);
CREATE TABLE "departments" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "manager_id" TEXT, "default_leave_allowance_half_days" INTEGER, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "version" INTEGER NOT NULL, figures TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id) REFERENCES organisations (id), CONSTRAINT "departments_default_leave_allowance" CHECK (default_leave_allowance_half_days BETWEEN 0 AND 732));
INSERT INTO "departments" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-dc20-7ff4-83fc-0be8f720a504','O''Brien – Größe 😀','0198d2a0-47ec-71ac-8cc8-c78a329e8322',51,1785751210123,1785751210123,1,'figures');
INSERT INTO "departments" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-3fb2-7614-8900-ecc9cc3872f9','O''Brien – Größe 😀',NULL,NULL,1785751210124,1785751210124,1,NULL);
CREATE TABLE "digests" ("organisation_id" TEXT NOT NULL PRIMARY KEY, "due_at" INTEGER NOT NULL, "channel" VARCHAR(32), "day" DATE, "ts" VARCHAR(32), "shown_sha256" VARCHAR(64), "refused_channel" VARCHAR(32), "refused_because" VARCHAR(64), FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "digests" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f',1785751206123,'D0123456','2026-08-03','ts 0','shown_sha256 0','refused_channel 0','refused_because 0');
INSERT INTO "digests" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0',1785751206124,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE display_links (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    department_id TEXT,
    token_sha256 VARCHAR(64) NOT NULL,
    token_encrypted TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE
);
INSERT INTO "display_links" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-0000000000b3','name 171','0198d2a0-dc20-7ff4-83fc-0be8f720a504','token_sha256 173','token_encrypted 174',1790000000175,1790000000176,3);
INSERT INTO "display_links" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-0000000000bc','name 180','0198d2a0-3fb2-7614-8900-ecc9cc3872f9','token_sha256 182','token_encrypted 183',1790000000184,1790000000185,2);
CREATE TABLE "events" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "type" VARCHAR(64) NOT NULL, "leave_request_id" TEXT, "sequence" INTEGER NOT NULL, "body" BLOB NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("organisation_id", "id"));
INSERT INTO "events" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-2814-77a5-8a61-6aeb8582c71e','leave_request.created','0198d2a0-4376-7a3a-8929-b94be98756cc',1,X'7B226964223A202200FFC3A4227D',1785751210123);
INSERT INTO "events" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0404-7d4a-8a7b-f74f6661124a','leave_request.created',NULL,1,X'7B226964223A202200FFC3A4227D',1785751210124);
CREATE TABLE "feed_changes" ("organisation_id" TEXT NOT NULL, "shard" INTEGER NOT NULL, "changes" INTEGER NOT NULL, PRIMARY KEY ("organisation_id", "shard"), FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "feed_changes" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f',3,1785751207123);
INSERT INTO "feed_changes" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0',4,1785751207124);
CREATE TABLE "feed_sequences" ("organisation_id" TEXT NOT NULL PRIMARY KEY, "sequence" INTEGER NOT NULL, "changed_at" INTEGER NOT NULL, FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "feed_sequences" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f',1785751208123,1785751210123);
INSERT INTO "feed_sequences" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0',1785751208124,1785751210124);
CREATE TABLE "holiday_overrides" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "holiday_set_id" TEXT NOT NULL, "date" DATE NOT NULL, "name" TEXT NOT NULL, "is_holiday" INTEGER NOT NULL, "half" VARCHAR(2), "created_at" INTEGER NOT NULL, every_year INTEGER NOT NULL DEFAULT FALSE, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, holiday_set_id) REFERENCES holiday_sets (organisation_id, id), CONSTRAINT "holiday_overrides_half" CHECK (half IN ('am', 'pm')));
INSERT INTO "holiday_overrides" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-87d0-73fe-8ef5-30724d8a6774','0198d2a0-5754-74d2-8a10-3289672daa8d','2026-08-03','O''Brien – Größe 😀',0,'am',1785751210123,0);
INSERT INTO "holiday_overrides" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-d7e0-7f66-8016-429ee7617a35','0198d2a0-9991-7d71-80cd-4cbc70f067d1','2026-08-04','O''Brien – Größe 😀',1,NULL,1785751210124,0);
CREATE TABLE "holiday_sets" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "country_code" VARCHAR(32) NOT NULL, "created_at" INTEGER NOT NULL, categories TEXT NOT NULL DEFAULT '["public"]', PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "holiday_sets" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-5754-74d2-8a10-3289672daa8d','GB',1785751210123,'["public"]');
INSERT INTO "holiday_sets" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-9991-7d71-80cd-4cbc70f067d1','GB',1785751210124,'["public"]');
CREATE TABLE "idempotency_keys" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "api_key_id" TEXT NOT NULL, "idempotency_key" TEXT NOT NULL, "request_sha256" VARCHAR(64) NOT NULL, "status_code" INTEGER, "headers" TEXT, "body" BLOB, "created_at" INTEGER NOT NULL, PRIMARY KEY ("organisation_id", "id"));
INSERT INTO "idempotency_keys" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-45b3-7d83-8374-2b9f4cd528cb','0198d2a0-7aa4-77e1-85fe-6ab2657d23ed','idempotency_key 0','request_sha256 0',1,'{}',X'7B226964223A202200FFC3A4227D',1785751210123);
INSERT INTO "idempotency_keys" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-f4c4-76e1-8a40-640f59afcbc5','0198d2a0-255d-7f45-887f-7daa212cd42e','idempotency_key 1','request_sha256 1',NULL,NULL,NULL,1785751210124);
CREATE TABLE "leases" ("name" VARCHAR(64) NOT NULL PRIMARY KEY, "holder" VARCHAR(64) NOT NULL, "held_until" INTEGER NOT NULL);
INSERT INTO "leases" VALUES('name 0','holder 0',1785751210123);
INSERT INTO "leases" VALUES('name 1','holder 1',1785751210124);
CREATE TABLE "leave_requests" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "leave_type_id" TEXT NOT NULL, "status" VARCHAR(16) NOT NULL, "start_date" DATE NOT NULL, "end_date" DATE NOT NULL, "start_half_day" VARCHAR(2), "end_half_day" VARCHAR(2), "total_half_days" INTEGER NOT NULL, "counted_halves" TEXT NOT NULL, "note" TEXT, "decided_by" TEXT, "decided_at" INTEGER, "decision_reason" TEXT, "cancelled_at" INTEGER, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "version" INTEGER NOT NULL, "approval_reversed_at" INTEGER, recorded_by TEXT, override_reason TEXT, amendment_id TEXT, hidden_versions INTEGER, shown_updated_at INTEGER, cover_user_id TEXT, split_from TEXT, interrupts TEXT, closure_id TEXT, approvals TEXT, first_approver_id TEXT, second_approver_id TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id), FOREIGN KEY (organisation_id, leave_type_id) REFERENCES leave_types (organisation_id, id), FOREIGN KEY (organisation_id, decided_by) REFERENCES users (organisation_id, id), CONSTRAINT "leave_requests_status" CHECK (status IN ('pending', 'approved', 'declined', 'cancelled')), CONSTRAINT "leave_requests_start_half_day" CHECK (start_half_day IN ('am', 'pm')), CONSTRAINT "leave_requests_end_half_day" CHECK (end_half_day IN ('am', 'pm')), CONSTRAINT "leave_requests_dates" CHECK (start_date <= end_date), CONSTRAINT "leave_requests_total" CHECK (total_half_days BETWEEN 0 AND 732));
INSERT INTO "leave_requests" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-4376-7a3a-8929-b94be98756cc','0198d2a0-47ec-71ac-8cc8-c78a329e8322','0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a','approved','2026-08-03','2026-08-03','pm','am',10,'033330','Line one
line two; it''''s \ fine','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1785751210123,'decision_reason 0',1785751212123,1785751210123,1785751210123,1,1785751220123,'0198d2a0-47ec-71ac-8cc8-c78a329e8322','override_reason','0198d2a0-0000-7000-8000-000000000118',3,1,'0198d2a0-47ec-71ac-8cc8-c78a329e8322','0198d2a0-0000-7000-8000-000000000116','0198d2a0-0000-7000-8000-000000000117','0198d2a0-0000-7000-8000-00000000011c','approvals','0198d2a0-0000-7000-8000-00000000011e','0198d2a0-0000-7000-8000-00000000011f');
INSERT INTO "leave_requests" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-e309-7abe-8a97-f81c9f2d06d0','0198d2a0-cb8e-770e-8ce8-3237a28af503','0198d2a0-49fb-703a-8fee-8ee56822340e','approved','2026-08-04','2026-08-04',NULL,NULL,10,'033330',NULL,NULL,NULL,NULL,NULL,1785751210124,1785751210124,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE "leave_types" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "code" VARCHAR(64) NOT NULL, "colour" VARCHAR(7) NOT NULL, "emoji" VARCHAR(100), "requires_approval" INTEGER NOT NULL, "deducts_allowance" INTEGER NOT NULL, "allow_overdraft" INTEGER NOT NULL, "is_paid" INTEGER NOT NULL, "is_private" INTEGER NOT NULL, "requires_note" INTEGER NOT NULL, "min_notice_days" INTEGER NOT NULL, "max_consecutive_days" INTEGER, "is_archived" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "version" INTEGER NOT NULL, approvers_may_record INTEGER NOT NULL DEFAULT FALSE, changes_need_approval INTEGER NOT NULL DEFAULT FALSE, requires_cover INTEGER NOT NULL DEFAULT FALSE, may_interrupt INTEGER NOT NULL DEFAULT FALSE, tells_approvers INTEGER NOT NULL DEFAULT TRUE, allowance_id TEXT, allowance_uses TEXT, is_away INTEGER NOT NULL DEFAULT TRUE, second_approval TEXT, names TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id) REFERENCES organisations (id), CONSTRAINT "leave_types_min_notice_days" CHECK (min_notice_days BETWEEN 0 AND 730), CONSTRAINT "leave_types_max_consecutive_days" CHECK (max_consecutive_days BETWEEN 1 AND 366));
INSERT INTO "leave_types" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-e74b-75d1-8eb6-dd9fb7a5d81a','O''Brien – Größe 😀','annual','#aabbcc',':palm_tree:',1,1,1,1,0,1,14,30,1,1785751210123,1785751210123,1,0,0,0,0,1,'0198d2a0-0000-7000-8000-000000000110','allowance_uses',1,'second_approval','names');
INSERT INTO "leave_types" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-49fb-703a-8fee-8ee56822340e','O''Brien – Größe 😀','annual','#aabbcc',NULL,0,0,0,0,1,0,14,NULL,0,1785751210124,1785751210124,1,0,0,0,0,1,NULL,NULL,1,NULL,NULL);
CREATE TABLE "notices" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "kind" VARCHAR(32) NOT NULL, "user_id" TEXT NOT NULL, "leave_request_id" TEXT, "event_type" VARCHAR(64) NOT NULL, "status" VARCHAR(16) NOT NULL, "attempts" INTEGER NOT NULL, "due_at" INTEGER NOT NULL, "claim_id" VARCHAR(36), "last_error" TEXT, "created_at" INTEGER NOT NULL, "settled_at" INTEGER, "webhook_id" TEXT, "first_day" DATE, "last_day" DATE, digest_id TEXT, time_credit_id TEXT, closure_id TEXT, half_days_before INTEGER, about_user_id TEXT, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id), FOREIGN KEY (organisation_id, leave_request_id) REFERENCES leave_requests (organisation_id, id), FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhooks (organisation_id, id), CONSTRAINT "notices_status" CHECK (status IN ('pending', 'delivered', 'failed')), CONSTRAINT "notices_attempts" CHECK (attempts >= 0));
INSERT INTO "notices" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-fdfd-7868-8d2b-939b97d1a157','card','0198d2a0-47ec-71ac-8cc8-c78a329e8322','0198d2a0-4376-7a3a-8929-b94be98756cc','leave_request.created','pending',2,1785751206123,'claim_id 0','last_error 0',1785751210123,1785751210123,'0198d2a0-f0dd-7496-846a-86f8b1fd339d','2026-08-03','2026-08-03','0198d2a0-0000-7000-8000-000000000126','0198d2a0-0000-7000-8000-000000000129','0198d2a0-0000-7000-8000-000000000127',3,'0198d2a0-47ec-71ac-8cc8-c78a329e8322');
INSERT INTO "notices" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-57de-78b6-8c36-f96ff54ef916','card','0198d2a0-cb8e-770e-8ce8-3237a28af503',NULL,'leave_request.created','pending',2,1785751206124,NULL,NULL,1785751210124,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE "organisations" ("id" TEXT NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "slug" VARCHAR(255) NOT NULL, "domain" TEXT, "logo_url" TEXT, "country_code" VARCHAR(32) NOT NULL, "timezone" VARCHAR(64) NOT NULL, "working_days" TEXT NOT NULL, "leave_year_type" VARCHAR(16) NOT NULL, "leave_year_start_month" INTEGER NOT NULL, "leave_year_start_day" INTEGER NOT NULL, "default_leave_allowance_half_days" INTEGER NOT NULL, "carry_over_half_days" INTEGER NOT NULL, "carry_over_expiry_month" INTEGER, "day_starts_at" VARCHAR(5) NOT NULL, "midday_at" VARCHAR(5) NOT NULL, "day_ends_at" VARCHAR(5) NOT NULL, "slack_team_id" VARCHAR(32), "slack_members_join" INTEGER NOT NULL, "digest_channel" VARCHAR(32), "reference_version" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, pro_rata_rules TEXT, CONSTRAINT "organisations_leave_year_type" CHECK (leave_year_type IN ('calendar', 'fiscal', 'anniversary')), CONSTRAINT "organisations_leave_year_start_month" CHECK (leave_year_start_month BETWEEN 1 AND 12), CONSTRAINT "organisations_leave_year_start_day" CHECK (leave_year_start_day BETWEEN 1 AND 31), CONSTRAINT "organisations_default_leave_allowance" CHECK (default_leave_allowance_half_days BETWEEN 0 AND 732), CONSTRAINT "organisations_carry_over" CHECK (carry_over_half_days BETWEEN 0 AND 732), CONSTRAINT "organisations_carry_over_expiry_month" CHECK (carry_over_expiry_month BETWEEN 1 AND 12));
INSERT INTO "organisations" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','O''Brien – Größe 😀','slug 0','domain 0','logo_url 0','GB','Europe/Berlin','["monday", "tuesday"]','fiscal',4,6,51,10,6,'09:00','13:00','17:30','T0',0,'digest_channel 0',1,1785751210123,1785751210123,'pro_rata_rules');
INSERT INTO "organisations" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','O''Brien – Größe 😀','slug 1',NULL,NULL,'GB','Europe/Berlin','["monday", "tuesday"]','fiscal',4,6,51,10,NULL,'09:00','13:00','17:30',NULL,1,NULL,1,1785751210124,1785751210124,NULL);
CREATE TABLE "reminder_summaries" ("organisation_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "day" DATE NOT NULL, PRIMARY KEY ("organisation_id", "user_id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id));
INSERT INTO "reminder_summaries" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-47ec-71ac-8cc8-c78a329e8322','2026-08-03');
INSERT INTO "reminder_summaries" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-cb8e-770e-8ce8-3237a28af503','2026-08-04');
CREATE TABLE "reminders" ("organisation_id" TEXT NOT NULL, "leave_request_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "asked_at" INTEGER NOT NULL, "sent" INTEGER NOT NULL, "is_next_step" INTEGER NOT NULL, "due_at" INTEGER NOT NULL, PRIMARY KEY ("organisation_id", "leave_request_id", "user_id"), FOREIGN KEY (organisation_id, leave_request_id) REFERENCES leave_requests (organisation_id, id), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id), CONSTRAINT "reminders_sent" CHECK (sent >= 0));
INSERT INTO "reminders" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-4376-7a3a-8929-b94be98756cc','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1785751208123,1,0,1785751206123);
INSERT INTO "reminders" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-e309-7abe-8a97-f81c9f2d06d0','0198d2a0-cb8e-770e-8ce8-3237a28af503',1785751208124,1,1,1785751206124);
CREATE TABLE "schema_migration" ("id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL, "applied" DATETIME NOT NULL, compatible_from INTEGER);
INSERT INTO "schema_migration" VALUES(1,'0001_first_version','2026-11-28 13:50:20.935051',1);
INSERT INTO "schema_migration" VALUES(2,'0002_indexes_of_growth','2026-11-28 13:50:20.945447',1);
INSERT INTO "schema_migration" VALUES(3,'0003_sizes_of_organisations','2026-11-28 13:50:20.946571',1);
INSERT INTO "schema_migration" VALUES(4,'0004_recorded_leave','2026-11-28 13:50:20.952792',1);
INSERT INTO "schema_migration" VALUES(5,'0005_amendments','2026-11-28 13:50:20.960950',1);
INSERT INTO "schema_migration" VALUES(6,'0006_undecided_leave','2026-11-28 13:50:20.962226',1);
INSERT INTO "schema_migration" VALUES(7,'0007_cover','2026-11-28 13:50:20.964521',1);
INSERT INTO "schema_migration" VALUES(8,'0008_index_of_covers','2026-11-28 13:50:20.965672',1);
INSERT INTO "schema_migration" VALUES(9,'0009_employment_over_time','2026-11-28 13:50:20.968744',1);
INSERT INTO "schema_migration" VALUES(10,'0010_interruptions','2026-11-28 13:50:20.975901',1);
INSERT INTO "schema_migration" VALUES(11,'0011_indexes_of_lists','2026-11-28 13:50:20.977539',1);
INSERT INTO "schema_migration" VALUES(12,'0012_channel_digests','2026-11-28 13:50:20.979699',1);
INSERT INTO "schema_migration" VALUES(13,'0013_replies_with_cards','2026-11-28 13:50:20.981523',1);
INSERT INTO "schema_migration" VALUES(14,'0014_address_keys','2026-11-28 13:50:20.983123',1);
INSERT INTO "schema_migration" VALUES(15,'0015_told_leave','2026-11-28 13:50:20.984864',1);
INSERT INTO "schema_migration" VALUES(16,'0016_cancelling_amendments','2026-11-28 13:50:20.986585',1);
INSERT INTO "schema_migration" VALUES(17,'0017_display_links','2026-11-28 13:50:20.995106',1);
INSERT INTO "schema_migration" VALUES(18,'0018_holiday_categories','2026-11-28 13:50:20.998110',1);
INSERT INTO "schema_migration" VALUES(19,'0019_earlier_employment','2026-11-28 13:50:21.003298',1);
INSERT INTO "schema_migration" VALUES(20,'0020_told_absences','2026-11-28 13:50:21.005258',1);
INSERT INTO "schema_migration" VALUES(21,'0021_fewer_indexes','2026-11-28 13:50:21.006777',1);
INSERT INTO "schema_migration" VALUES(22,'0022_allowances','2026-11-28 13:50:21.017269',1);
INSERT INTO "schema_migration" VALUES(23,'0023_time_credits_in_slack','2026-11-28 13:50:21.049084',1);
INSERT INTO "schema_migration" VALUES(24,'0024_leave_that_is_no_absence','2026-11-28 13:50:21.053147',1);
INSERT INTO "schema_migration" VALUES(25,'0025_absence_limits','2026-11-28 13:50:21.054891',1);
INSERT INTO "schema_migration" VALUES(26,'0026_closures','2026-11-28 13:50:21.086402',1);
INSERT INTO "schema_migration" VALUES(27,'0027_second_approvals','2026-11-28 13:50:21.118962',1);
INSERT INTO "schema_migration" VALUES(28,'0028_indexes_of_second_approvals','2026-11-28 13:50:21.121259',1);
INSERT INTO "schema_migration" VALUES(29,'0029_names_of_leave_types','2026-11-28 13:50:21.123191',1);
INSERT INTO "schema_migration" VALUES(30,'0030_suggestions','2026-11-28 13:50:21.129334',1);
INSERT INTO "schema_migration" VALUES(31,'0031_slack_statuses','2026-11-28 13:50:21.130794',1);
INSERT INTO "schema_migration" VALUES(32,'0032_questions_about_balances','2026-11-28 13:50:21.133810',1);
CREATE TABLE "secret_canaries" ("number" INTEGER NOT NULL PRIMARY KEY, "encrypted" TEXT NOT NULL);
INSERT INTO "secret_canaries" VALUES(1,'encrypted 0');
INSERT INTO "secret_canaries" VALUES(2,'encrypted 1');
CREATE TABLE "slack_events" ("event_id" VARCHAR(64) NOT NULL PRIMARY KEY, "received_at" INTEGER NOT NULL, "handled_at" INTEGER);
INSERT INTO "slack_events" VALUES('event_id 0',1785751211123,1785751210123);
INSERT INTO "slack_events" VALUES('event_id 1',1785751211124,NULL);
CREATE TABLE "slack_homes" ("organisation_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "opened_at" INTEGER NOT NULL, "leafed" TEXT NOT NULL, PRIMARY KEY ("organisation_id", "user_id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id));
INSERT INTO "slack_homes" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1785751209123,'{}');
INSERT INTO "slack_homes" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-cb8e-770e-8ce8-3237a28af503',1785751209124,'{}');
CREATE TABLE "slack_installations" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "team_id" VARCHAR(32) NOT NULL, "enterprise_id" VARCHAR(32), "bot_id" VARCHAR(32) NOT NULL, "bot_user_id" VARCHAR(32) NOT NULL, "bot_token_encrypted" TEXT NOT NULL, "scopes" TEXT NOT NULL, "installed_by" VARCHAR(32), "installed_at" INTEGER NOT NULL, "uninstalled_at" INTEGER, PRIMARY KEY ("organisation_id", "id"));
INSERT INTO "slack_installations" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-c3a5-764f-8872-0c39da8619e2','team_id 0','enterprise_id 0','bot_id 0','bot_user_id 0','bot_token_encrypted 0','["leave:read"]','installed_by 0',1785751212123,1785751214123);
INSERT INTO "slack_installations" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-b60c-7122-8bf8-41b03a730083','team_id 1',NULL,'bot_id 1','bot_user_id 1','bot_token_encrypted 1','["leave:read"]',NULL,1785751212124,NULL);
CREATE TABLE "slack_messages" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "leave_request_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "channel" VARCHAR(32) NOT NULL, "ts" VARCHAR(32) NOT NULL, "posted_at" INTEGER NOT NULL, reply_ts VARCHAR(32), PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id, leave_request_id) REFERENCES leave_requests (organisation_id, id));
INSERT INTO "slack_messages" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-d577-7a62-8cf1-29ce2d9cba2a','0198d2a0-4376-7a3a-8929-b94be98756cc','0198d2a0-47ec-71ac-8cc8-c78a329e8322','D0123456','ts 0',1785751209123,'reply_ts');
INSERT INTO "slack_messages" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-d923-7457-84a9-d3ca9493014b','0198d2a0-e309-7abe-8a97-f81c9f2d06d0','0198d2a0-cb8e-770e-8ce8-3237a28af503','D0123456','ts 1',1785751209124,NULL);
CREATE TABLE "slack_profiles" ("organisation_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "locale" VARCHAR(35), "updated_at" INTEGER NOT NULL, "slack_updated_at" INTEGER, PRIMARY KEY ("organisation_id", "user_id"), FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id));
INSERT INTO "slack_profiles" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-47ec-71ac-8cc8-c78a329e8322','de-DE',1785751210123,1785751216123);
INSERT INTO "slack_profiles" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-cb8e-770e-8ce8-3237a28af503',NULL,1785751210124,NULL);
CREATE TABLE "slack_states" ("state_sha256" VARCHAR(64) NOT NULL PRIMARY KEY, "expires_at" INTEGER NOT NULL);
INSERT INTO "slack_states" VALUES('state_sha256 0',1785751210123);
INSERT INTO "slack_states" VALUES('state_sha256 1',1785751210124);
CREATE TABLE slack_statuses (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    team_id VARCHAR(32) NOT NULL,
    slack_user_id VARCHAR(32) NOT NULL,
    token_encrypted TEXT NOT NULL,
    connected_at INTEGER NOT NULL,
    ending_at INTEGER,
    due_at INTEGER NOT NULL,
    claim_id VARCHAR(36),
    failures INTEGER NOT NULL,
    known TEXT,
    refused_emoji VARCHAR(100),
    left_alone_until INTEGER,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
INSERT INTO "slack_statuses" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-0000000000ca','0198d2a0-47ec-71ac-8cc8-c78a329e8322','team_id 190','slack_user_id 191','token_encrypted 192',1790000000193,1790000000194,1790000000195,'claim_id 196',3,'known 198','refused_emoji 199',1790000000200);
INSERT INTO "slack_statuses" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-0000000000d8','0198d2a0-cb8e-770e-8ce8-3237a28af503','team_id 204','slack_user_id 205','token_encrypted 206',1790000000207,1790000000208,1790000000209,'claim_id 210',2,'known 212','refused_emoji 213',1790000000214);
CREATE TABLE "slack_syncs" ("organisation_id" TEXT NOT NULL PRIMARY KEY, "due_at" INTEGER NOT NULL, "claim_id" VARCHAR(36), "failures" INTEGER NOT NULL, "last_error" VARCHAR(100), "synced_at" INTEGER, FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "slack_syncs" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f',1785751206123,'claim_id 0',1,'last_error 0',1785751209123);
INSERT INTO "slack_syncs" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0',1785751206124,NULL,1,NULL,NULL);
ANALYZE "sqlite_master";
INSERT INTO "sqlite_stat1" VALUES('leave_requests','sqlite_autoindex_leave_requests_1','1000000 10000 1');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leaverequestrow_organisation_id_created_at_id','1000000 10000 1 1');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leaverequestrow_organisation_id_start_date_end_date','1000000 10000 10 5');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leaverequestrow_organisation_id_user_id_end_date','1000000 10000 50 2');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leave_requests_decided','900000 9000 100');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leave_requests_covered','1000 100 2 1');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leave_requests_first_approved','1000 100 10');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leave_requests_second_approved','1000 100 20');
INSERT INTO "sqlite_stat1" VALUES('leave_requests','leave_requests_undecided','1000 100 1 1');
INSERT INTO "sqlite_stat1" VALUES('audit_entries','sqlite_autoindex_audit_entries_1','2000000 20000 1');
INSERT INTO "sqlite_stat1" VALUES('audit_entries','auditrow_organisation_id_occurred_at_id','2000000 20000 1 1');
INSERT INTO "sqlite_stat1" VALUES('audit_entries','auditrow_organisation_id_action_occurred_at_id','2000000 20000 2000 1 1');
INSERT INTO "sqlite_stat1" VALUES('audit_entries','auditrow_organisation_id_actor_id_occurred_at_id','2000000 20000 200 1 1');
INSERT INTO "sqlite_stat1" VALUES('audit_entries','auditrow_organisation_id_subject_id_occurred_at_id','2000000 20000 4 1 1');
CREATE TABLE suggestions (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    leave_request_id TEXT NOT NULL,
    request_version INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    suggested_by TEXT NOT NULL,
    suggested_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, suggested_by) REFERENCES users (organisation_id, id),
    CONSTRAINT suggestions_status
        CHECK (status IN ('open', 'accepted', 'declined', 'replaced')),
    CONSTRAINT suggestions_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_dates CHECK (start_date <= end_date)
);
INSERT INTO "suggestions" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-000000000030','0198d2a0-4376-7a3a-8929-b94be98756cc',4,'open','2026-12-24','2026-12-24','pm','am','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1790000000045,1790000000046);
INSERT INTO "suggestions" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-00000000003c','0198d2a0-e309-7abe-8a97-f81c9f2d06d0',1,'open','2026-12-25','2026-12-25','pm','am','0198d2a0-cb8e-770e-8ce8-3237a28af503',1790000000057,1790000000058);
CREATE TABLE time_credit_cards (
    organisation_id TEXT NOT NULL,
    time_credit_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    channel VARCHAR(32),
    ts VARCHAR(32),
    reply_ts VARCHAR(32),
    asked_at INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    is_next_step INTEGER NOT NULL,
    due_at INTEGER,
    PRIMARY KEY (organisation_id, time_credit_id, user_id),
    FOREIGN KEY (organisation_id, time_credit_id) REFERENCES time_credits (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT "time_credit_cards_sent" CHECK (sent >= 0)
);
INSERT INTO "time_credit_cards" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-000000000060','0198d2a0-47ec-71ac-8cc8-c78a329e8322','channel 220','ts 221','reply_ts 222',1790000000223,5,1,1790000000226);
INSERT INTO "time_credit_cards" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-00000000006e','0198d2a0-cb8e-770e-8ce8-3237a28af503','channel 230','ts 231','reply_ts 232',1790000000233,5,1,1790000000236);
CREATE TABLE time_credits (
    organisation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    allowance_id TEXT NOT NULL,
    worked_on DATE NOT NULL,
    half_days INTEGER NOT NULL,
    reason TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    decision_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT time_credits_status
        CHECK (status IN ('pending', 'approved', 'declined', 'cancelled')),
    CONSTRAINT time_credits_half_days CHECK (half_days BETWEEN 1 AND 732)
);
INSERT INTO "time_credits" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-0000-7000-8000-000000000060','0198d2a0-47ec-71ac-8cc8-c78a329e8322','0198d2a0-0000-7000-8000-000000000047','2026-12-24',2,'reason 87','pending','0198d2a0-47ec-71ac-8cc8-c78a329e8322',1790000000090,'decision_reason 91',1790000000092,1790000000093,5);
INSERT INTO "time_credits" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-0000-7000-8000-00000000006e','0198d2a0-cb8e-770e-8ce8-3237a28af503','0198d2a0-0000-7000-8000-000000000052','2026-12-25',1,'reason 101','pending','0198d2a0-cb8e-770e-8ce8-3237a28af503',1790000000104,'decision_reason 105',1790000000106,1790000000107,4);
CREATE TABLE "users" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "email" TEXT NOT NULL, "email_key" TEXT NOT NULL, "first_name" TEXT NOT NULL, "last_name" TEXT NOT NULL, "role" VARCHAR(16) NOT NULL, "status" VARCHAR(16) NOT NULL, "department_id" TEXT, "manager_id" TEXT, "job_title" TEXT, "start_date" DATE, "working_days" TEXT, "public_holiday_country_code" VARCHAR(32), "leave_allowance_half_days" INTEGER, "avatar_url" TEXT, "timezone" VARCHAR(64), "locale" VARCHAR(16), "slack_user_id" VARCHAR(32), "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "version" INTEGER NOT NULL, end_date DATE, employment TEXT, employment_due_on DATE, earlier_periods TEXT, figures TEXT, leave_allowance_hundredths INTEGER, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id) REFERENCES organisations (id), FOREIGN KEY (organisation_id, department_id) REFERENCES departments (organisation_id, id), FOREIGN KEY (organisation_id, manager_id) REFERENCES users (organisation_id, id), CONSTRAINT "users_role" CHECK (role IN ('member', 'approver', 'admin', 'owner')), CONSTRAINT "users_status" CHECK (status IN ('pending', 'active', 'deactivated', 'archived')), CONSTRAINT "users_leave_allowance" CHECK (leave_allowance_half_days BETWEEN 0 AND 732));
INSERT INTO "users" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-47ec-71ac-8cc8-c78a329e8322','email 0','email_key 0','first_name 0','last_name 0','owner','active','0198d2a0-dc20-7ff4-83fc-0be8f720a504','0198d2a0-47ec-71ac-8cc8-c78a329e8322','job_title 0','2026-08-03','["monday", "tuesday"]','public_holiday_country_code 0',47,'avatar_url 0','Europe/Berlin','de-DE','U0',1785751210123,1785751210123,1,'2026-11-15','employment','2026-11-18','earlier_periods','figures',2);
INSERT INTO "users" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-cb8e-770e-8ce8-3237a28af503','email 1','email_key 1','first_name 1','last_name 1','owner','active',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1785751210124,1785751210124,1,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE "webhooks" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL, "url" TEXT NOT NULL, "events" TEXT NOT NULL, "is_active" INTEGER NOT NULL, "disabled_reason" TEXT, "secret_encrypted" TEXT NOT NULL, "previous_secret_encrypted" TEXT, "previous_secret_until" INTEGER, "failing_since_at" INTEGER, "created_by" TEXT, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "version" INTEGER NOT NULL, "failing_told_at" INTEGER, PRIMARY KEY ("organisation_id", "id"), FOREIGN KEY (organisation_id) REFERENCES organisations (id));
INSERT INTO "webhooks" VALUES('0198d2a0-30e4-77ce-8dc7-44fcd632087f','0198d2a0-f0dd-7496-846a-86f8b1fd339d','https://hooks.example.com/a?b=c','["leave_request.created"]',1,'disabled_reason 0','secret_encrypted 0','previous_secret_encrypted 0',1785751221123,1785751216123,'0198d2a0-47ec-71ac-8cc8-c78a329e8322',1785751210123,1785751210123,1,1785751215123);
INSERT INTO "webhooks" VALUES('0198d2a0-36a1-7219-88cd-b6ce44a9baf0','0198d2a0-ce32-7c11-8eb0-df73363ee854','https://hooks.example.com/a?b=c','["leave_request.created"]',0,NULL,'secret_encrypted 1',NULL,NULL,NULL,NULL,1785751210124,1785751210124,1,NULL);
CREATE UNIQUE INDEX "schema_migration_name" ON "schema_migration" ("name");
CREATE UNIQUE INDEX "holidaysetrow_organisation_id_country_code" ON "holiday_sets" ("organisation_id", "country_code");
CREATE UNIQUE INDEX "calendarfeedrow_token_sha256" ON "calendar_feeds" ("token_sha256");
CREATE INDEX "calendarfeedrow_organisation_id_user_id" ON "calendar_feeds" ("organisation_id", "user_id");
CREATE UNIQUE INDEX "idempotencykeyrow_organisation_id_api_key_id_idempotency_key" ON "idempotency_keys" ("organisation_id", "api_key_id", "idempotency_key");
CREATE INDEX "idempotencykeyrow_created_at" ON "idempotency_keys" ("created_at");
CREATE UNIQUE INDEX "slackinstallationrow_team_id" ON "slack_installations" ("team_id");
CREATE INDEX "slackeventrow_received_at" ON "slack_events" ("received_at");
CREATE UNIQUE INDEX "slackmessagerow_organisation_id_leave_request_id_user_id" ON "slack_messages" ("organisation_id", "leave_request_id", "user_id");
CREATE INDEX "slackstaterow_expires_at" ON "slack_states" ("expires_at");
CREATE INDEX "digestrow_due_at" ON "digests" ("due_at");
CREATE INDEX "slacksyncrow_due_at" ON "slack_syncs" ("due_at");
CREATE UNIQUE INDEX "organisationrow_slug" ON "organisations" ("slug");
CREATE UNIQUE INDEX "organisationrow_slack_team_id" ON "organisations" ("slack_team_id");
CREATE INDEX "organisationrow_domain" ON "organisations" ("domain");
CREATE INDEX "organisations_digests" ON "organisations" ("id") WHERE digest_channel IS NOT NULL;
CREATE INDEX "departmentrow_organisation_id_manager_id" ON "departments" ("organisation_id", "manager_id");
CREATE INDEX "userrow_organisation_id_created_at_id" ON "users" ("organisation_id", "created_at", "id");
CREATE INDEX "userrow_organisation_id_role" ON "users" ("organisation_id", "role");
CREATE INDEX "userrow_organisation_id_manager_id" ON "users" ("organisation_id", "manager_id");
CREATE INDEX "userrow_organisation_id_department_id_role" ON "users" ("organisation_id", "department_id", "role");
CREATE INDEX "userrow_organisation_id_email_key" ON "users" ("organisation_id", "email_key");
CREATE INDEX "userrow_organisation_id_slack_user_id" ON "users" ("organisation_id", "slack_user_id");
CREATE UNIQUE INDEX "users_emails" ON "users" ("organisation_id", "email_key") WHERE status <> 'archived';
CREATE UNIQUE INDEX "users_slack_accounts" ON "users" ("organisation_id", "slack_user_id") WHERE status <> 'archived';
CREATE UNIQUE INDEX "leavetyperow_organisation_id_code" ON "leave_types" ("organisation_id", "code");
CREATE INDEX "leaverequestrow_organisation_id_created_at_id" ON "leave_requests" ("organisation_id", "created_at", "id");
CREATE INDEX "leaverequestrow_organisation_id_user_id_end_date" ON "leave_requests" ("organisation_id", "user_id", "end_date");
CREATE INDEX "leave_requests_decided" ON "leave_requests" ("organisation_id", "decided_by") WHERE decided_by IS NOT NULL;
CREATE INDEX "allowanceadjustmentrow_organisation_id_user_id_leave_year_start" ON "allowance_adjustments" ("organisation_id", "user_id", "leave_year_start");
CREATE UNIQUE INDEX "apikeyrow_secret_sha256" ON "api_keys" ("secret_sha256");
CREATE INDEX "apikeyrow_organisation_id_user_id_id" ON "api_keys" ("organisation_id", "user_id", "id");
CREATE INDEX "deliveryrow_organisation_id_webhook_id_status_event_type_id" ON "deliveries" ("organisation_id", "webhook_id", "status", "event_type", "id");
CREATE INDEX "deliveryrow_organisation_id_event_id" ON "deliveries" ("organisation_id", "event_id");
CREATE INDEX "deliveries_queue" ON "deliveries" ("webhook_id", "organisation_id", "due_at") WHERE status = 'pending';
CREATE INDEX "deliveries_claimed" ON "deliveries" ("organisation_id", "webhook_id", "due_at") WHERE claim_id IS NOT NULL;
CREATE INDEX "deliveries_in_order" ON "deliveries" ("leave_request_id", "webhook_id", "organisation_id", "sequence") WHERE settled_at IS NULL AND attempts = 0;
CREATE INDEX "deliveries_settled" ON "deliveries" ("settled_at") WHERE settled_at IS NOT NULL;
CREATE INDEX "deliveryattemptrow_organisation_id_delivery_id" ON "delivery_attempts" ("organisation_id", "delivery_id");
CREATE INDEX "auditrow_organisation_id_occurred_at_id" ON "audit_entries" ("organisation_id", "occurred_at", "id");
CREATE INDEX "auditrow_organisation_id_action_occurred_at_id" ON "audit_entries" ("organisation_id", "action", "occurred_at", "id");
CREATE INDEX "auditrow_organisation_id_actor_id_occurred_at_id" ON "audit_entries" ("organisation_id", "actor_id", "occurred_at", "id");
CREATE INDEX "auditrow_organisation_id_subject_id_occurred_at_id" ON "audit_entries" ("organisation_id", "subject_id", "occurred_at", "id");
CREATE INDEX "noticerow_organisation_id_leave_request_id_user_id" ON "notices" ("organisation_id", "leave_request_id", "user_id");
CREATE INDEX "notices_due" ON "notices" ("due_at") WHERE status = 'pending';
CREATE INDEX "notices_in_order" ON "notices" ("user_id", "leave_request_id", "id") WHERE status = 'pending';
CREATE INDEX "reminderrow_due_at" ON "reminders" ("due_at");
CREATE INDEX "reminderrow_organisation_id_due_at" ON "reminders" ("organisation_id", "due_at");
CREATE INDEX "reminderrow_organisation_id_user_id" ON "reminders" ("organisation_id", "user_id");
CREATE INDEX "notices_of_webhooks" ON "notices" ("organisation_id", "webhook_id") WHERE webhook_id IS NOT NULL;
CREATE INDEX amendmentrow_organisation_id_leave_request_id_requested_at
    ON amendments (organisation_id, leave_request_id, requested_at);
CREATE UNIQUE INDEX amendments_open
    ON amendments (organisation_id, leave_request_id) WHERE status = 'open';
CREATE INDEX leave_requests_undecided ON leave_requests (organisation_id, created_at, id) WHERE status = 'pending' OR amendment_id IS NOT NULL;
CREATE INDEX leave_requests_covered ON leave_requests (organisation_id, cover_user_id, end_date) WHERE cover_user_id IS NOT NULL;
CREATE INDEX users_employment_due ON users (employment_due_on) WHERE employment_due_on IS NOT NULL;
CREATE INDEX channeldigestrow_due_at ON channel_digests (due_at);
CREATE INDEX channeldigestrow_organisation_id_department_id
    ON channel_digests (organisation_id, department_id);
CREATE UNIQUE INDEX displaylinkrow_token_sha256 ON display_links (token_sha256);
CREATE INDEX displaylinkrow_organisation_id_department_id
    ON display_links (organisation_id, department_id);
CREATE UNIQUE INDEX holiday_overrides_of_a_day
    ON holiday_overrides (organisation_id, holiday_set_id, date, every_year);
CREATE INDEX leaverequestrow_organisation_id_start_date_end_date ON leave_requests (organisation_id, start_date, end_date);
CREATE UNIQUE INDEX allowancerow_organisation_id_code ON allowances (organisation_id, code);
CREATE INDEX timecreditrow_organisation_id_user_id_worked_on
    ON time_credits (organisation_id, user_id, worked_on);
CREATE UNIQUE INDEX time_credits_days ON time_credits (organisation_id, user_id, worked_on)
    WHERE status IN ('pending', 'approved');
CREATE INDEX timecreditcardrow_due_at ON time_credit_cards (due_at);
CREATE INDEX timecreditcardrow_organisation_id_user_id ON time_credit_cards
    (organisation_id, user_id);
CREATE INDEX notices_of_time_credits ON notices (organisation_id, time_credit_id, user_id)
    WHERE time_credit_id IS NOT NULL;
CREATE INDEX time_credits_pending ON time_credits (organisation_id, id) WHERE status = 'pending';
CREATE INDEX absencelimitrow_organisation_id_department_id
    ON absence_limits (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_department_id ON closures (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_leave_type_id ON closures (organisation_id, leave_type_id);
CREATE INDEX leave_requests_first_approved ON leave_requests (organisation_id, first_approver_id) WHERE first_approver_id IS NOT NULL;
CREATE INDEX leave_requests_second_approved ON leave_requests (organisation_id, second_approver_id) WHERE second_approver_id IS NOT NULL;
CREATE INDEX suggestionrow_organisation_id_leave_request_id
    ON suggestions (organisation_id, leave_request_id);
CREATE UNIQUE INDEX suggestions_open
    ON suggestions (organisation_id, leave_request_id) WHERE status = 'open';
CREATE UNIQUE INDEX slackstatusrow_organisation_id_user_id
    ON slack_statuses (organisation_id, user_id);
CREATE INDEX slackstatusrow_due_at ON slack_statuses (due_at);
