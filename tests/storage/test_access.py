"""Roles; API keys: who may create, see and revoke them, and whom a key authenticates."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from storage.admin import people, people_status
from storage.base.errors import (
    Forbidden,
    InsufficientRole,
    InvalidInput,
    NotFound,
    NotYourField,
    Unauthenticated,
)
from storage.base.secrets import fingerprint
from storage.base.values import ROLES, SCOPES, ApiKey, Caller, Role, User, UserStatus
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.keys import api_keys, authentication
from storage.people import people_rows
from storage.rules import roles
from tests.builders import NOW, Acme, a_person, an_organisation, audit_entries, caller_for

pytestmark = pytest.mark.shared_database


def a_key(database: Database, by: Caller, for_user: User, **fields: Any) -> tuple[ApiKey, str]:
    fields = {"name": "ci", "scopes": None, "variant": 1, "expires_at": None} | fields
    return database.write_now(api_keys.create_key, for_user=for_user.id, by=by, now=NOW, **fields)


def recognised(database: Database, key: str, now: datetime = NOW) -> authentication.Authenticated:
    lookup = database.read_now(authentication.find_key, fingerprint(key))
    return authentication.caller_of(lookup, now=now, request_id="r-1")


def changed(key: str, position: int) -> str:
    other = "A" if key[position] != "A" else "B"
    return key[:position] + other + key[position + 1 :]


def actions_of(database: Database, by: Caller) -> list[str]:
    return [entry.action for entry in audit_entries(database, by)]


def test_keys_are_of_one_length_and_carry_their_checksum() -> None:
    keys = {authentication.new_key() for _ in range(50)}

    assert len(keys) == 50
    assert {len(key) for key in keys} == {len("hiatus_sk_live_") + 43 + 6}
    assert all(map(authentication.is_well_formed, keys))


@pytest.mark.parametrize("position", [0, 14, 15, 40, 57, 58, 63])
def test_a_mistyped_character_makes_a_key_malformed(position: int) -> None:
    assert not authentication.is_well_formed(changed(authentication.new_key(), position))


@pytest.mark.parametrize("text", ["", "hiatus_sk_live_", "hiatus_sk_live_" + "é" * 49, "x" * 64])
def test_other_texts_are_malformed(text: str) -> None:
    assert not authentication.is_well_formed(text)


def test_a_key_authenticates_its_owner(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, role="approver")
    key, secret = a_key(
        database, caller_for(acme, ada), ada, scopes=["leave:write", "users:read"], variant=2
    )

    authenticated = recognised(database, secret)

    assert authenticated.caller == Caller(
        organisation_id=acme.id,
        user_id=ada.id,
        role="approver",
        scopes=frozenset({"leave:write", "leave:read", "users:read"}),
        source="api",
        request_id="r-1",
        variant=2,
        key_id=key.id,
    )
    assert authenticated.key.reference_version >= 1
    assert authenticated.key.last_used_at is None


def test_a_role_that_changes_holds_on_the_next_request(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    _, secret = a_key(database, caller_for(acme, ada), ada)

    acme.write(people.update, ada.id, {"role": "admin"})

    assert recognised(database, secret).caller.role == "admin"


def test_revoking_twice_keeps_the_first_moment_and_one_entry(database: Database) -> None:
    acme = an_organisation(database)
    key, _ = a_key(database, acme.caller, acme.owner)
    later = NOW + timedelta(hours=1)

    first = acme.write(api_keys.revoke, key.id)
    second = acme.write(api_keys.revoke, key.id, now=later)

    assert first.revoked_at == second.revoked_at == NOW
    assert actions_of(database, acme.caller).count("api_key.revoked") == 1


def test_a_key_works_until_its_expiry(database: Database, acme: Acme) -> None:
    expiry = NOW + timedelta(days=1)
    _, secret = a_key(database, acme.caller, acme.owner, expires_at=expiry)

    assert recognised(database, secret, expiry - timedelta(milliseconds=1)).caller.user_id
    with pytest.raises(Unauthenticated):
        recognised(database, secret, expiry)


@pytest.mark.parametrize("status", ["deactivated", "archived"])
def test_keys_of_inactive_people_do_not_authenticate(
    database: Database, acme: Acme, ada: User, status: UserStatus
) -> None:
    _, secret = a_key(database, caller_for(acme, ada), ada)
    stop = people_status.deactivate if status == "deactivated" else people_status.archive

    acme.write(stop, ada.id)

    with pytest.raises(Unauthenticated):
        recognised(database, secret)


def test_a_first_key_activates_a_pending_person(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, status="pending")
    shell = replace(acme.caller, user_id=None, source="cli")

    _, secret = a_key(database, shell, ada)

    assert acme.read(people_rows.get, ada.id).status == "active"
    assert "user.activated" in actions_of(database, acme.caller)
    assert recognised(database, secret).caller.user_id == ada.id


@pytest.mark.parametrize("status", ["deactivated", "archived"])
def test_inactive_people_get_no_key(database: Database, acme: Acme, status: UserStatus) -> None:
    ada = a_person(database, acme, status=status)
    shell = replace(acme.caller, user_id=None, source="cli")

    with pytest.raises(InvalidInput) as refusal:
        a_key(database, shell, ada)

    assert refusal.value.code == "user_not_active"


def test_users_cannot_create_keys_for_other_users(
    database: Database, acme: Acme, ada: User
) -> None:
    with pytest.raises(Forbidden):
        a_key(database, acme.caller, ada)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"scopes": ["leave:admin"]}, "unknown_scope"),
        ({"scopes": []}, "no_scopes"),
        ({"scopes": ["webhooks:read"]}, "scope_not_held"),
        ({"scopes": ["users:write"]}, "scope_not_held"),
        ({"expires_at": NOW}, "expiry_in_past"),
        ({"variant": 3}, "unknown_variant"),
        ({"name": " "}, "invalid_length"),
    ],
)
def test_invalid_keys_are_rejected(database: Database, fields: dict[str, Any], code: str) -> None:
    acme = an_organisation(database)
    by = replace(acme.caller, scopes=frozenset({"leave:write", "users:read", "keys:write"}))

    with pytest.raises(InvalidInput) as refusal:
        a_key(database, by, acme.owner, **fields)

    assert refusal.value.code == code


def test_writing_includes_reading_for_a_new_key_too(database: Database, acme: Acme) -> None:
    by = replace(acme.caller, scopes=frozenset({"leave:write", "keys:write"}))

    named, _ = a_key(database, by, acme.owner, scopes=["leave:read"])
    default, _ = a_key(database, by, acme.owner)

    assert named.scopes == ("leave:read",)
    assert default.scopes == ("leave:read", "leave:write", "keys:read", "keys:write")


def test_from_slack_a_key_may_have_every_scope(database: Database, acme: Acme, ada: User) -> None:
    by = caller_for(acme, ada, source="slack", scopes=frozenset())

    key, _ = a_key(database, by, ada)

    assert key.scopes == SCOPES


def three_keys(database: Database) -> tuple[Acme, User, list[str]]:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    keys = [
        a_key(database, acme.caller, acme.owner)[0].id,
        a_key(database, caller_for(acme, ada), ada)[0].id,
        a_key(database, caller_for(acme, ada), ada)[0].id,
    ]
    return acme, ada, keys


def ids_of(database: Database, by: Caller, page: PageOf, **fields: Any) -> list[str]:
    keys = database.read_now(api_keys.page, page, by=by, **fields)
    return [key.id for key in keys.items]


def test_members_see_their_own_keys_and_admins_all(database: Database) -> None:
    acme, ada, keys = three_keys(database)
    other = an_organisation(database, name="Other")

    assert set(ids_of(database, caller_for(acme, ada), PageOf())) == set(keys[1:])
    assert set(ids_of(database, acme.caller, PageOf())) == set(keys)
    assert ids_of(database, acme.caller, PageOf(), own_only=True) == keys[:1]
    assert ids_of(database, other.caller, PageOf()) == []


def test_members_cannot_revoke_the_keys_of_others(database: Database) -> None:
    acme, ada, keys = three_keys(database)
    grace = a_person(database, acme, first_name="Grace")

    with pytest.raises(NotFound):
        database.write_now(api_keys.revoke, keys[1], by=caller_for(acme, grace), now=NOW)

    own = database.write_now(api_keys.revoke, keys[1], by=caller_for(acme, ada), now=NOW)
    by_admin = acme.write(api_keys.revoke, keys[2])
    assert own.revoked_at == by_admin.revoked_at == NOW


def test_all_keys_of_one_person_are_revoked_together(database: Database) -> None:
    acme, ada, keys = three_keys(database)
    acme.write(api_keys.revoke, keys[1])

    count = acme.write(api_keys.revoke_all, ada.id)

    living = acme.read(api_keys.page, PageOf()).items
    assert count == 1
    assert [key.id for key in living if key.revoked_at is None] == keys[:1]


def test_the_last_use_is_recorded_to_the_minute(database: Database, acme: Acme) -> None:
    key, secret = a_key(database, acme.caller, acme.owner)
    used_at = NOW + timedelta(seconds=42)
    before = recognised(database, secret)

    database.write_now(authentication.record_use, acme.id, key.id, now=used_at)

    after = recognised(database, secret)
    api_key = acme.read(api_keys.page, PageOf()).items[0]
    assert api_key.last_used_at == NOW
    assert authentication.is_use_due(before, used_at)
    assert not authentication.is_use_due(after, NOW + timedelta(seconds=59))
    assert authentication.is_use_due(after, NOW + timedelta(seconds=60))


def test_an_earlier_use_recorded_late_changes_nothing(database: Database, acme: Acme) -> None:
    key, _ = a_key(database, acme.caller, acme.owner)
    database.write_now(authentication.record_use, acme.id, key.id, now=NOW)

    database.write_now(authentication.record_use, acme.id, key.id, now=NOW - timedelta(minutes=5))

    api_key = acme.read(api_keys.page, PageOf()).items[0]
    assert api_key.last_used_at == NOW


@pytest.mark.parametrize(("rank", "role"), list(enumerate(ROLES)))
@pytest.mark.parametrize(("needed_rank", "needed"), list(enumerate(ROLES)))
def test_a_role_includes_those_below_it(
    rank: int, role: Role, needed_rank: int, needed: Role
) -> None:
    assert roles.has_role(role, needed) == (rank >= needed_rank)


def test_too_low_a_role_is_refused_with_the_needed_role() -> None:
    with pytest.raises(InsufficientRole) as refusal:
        roles.check_role("approver", "admin")

    assert refusal.value.needed_role == "admin"


@pytest.mark.parametrize(
    ("actor", "target", "new_role", "allowed"),
    [
        pytest.param("owner", "owner", "member", True, id="owner demotes an owner"),
        pytest.param("owner", "member", "owner", True, id="owner makes an owner"),
        pytest.param("owner", None, "owner", True, id="owner creates an owner"),
        pytest.param("admin", "member", "admin", True, id="admin makes an admin"),
        pytest.param("admin", "admin", None, True, id="admin changes an admin"),
        pytest.param("admin", None, "member", True, id="admin creates a member"),
        pytest.param("admin", "owner", None, False, id="admin changes an owner"),
        pytest.param("admin", "owner", "member", False, id="admin demotes an owner"),
        pytest.param("admin", "member", "owner", False, id="admin makes an owner"),
        pytest.param("admin", None, "owner", False, id="admin creates an owner"),
        pytest.param("approver", "member", None, False, id="approver changes a member"),
        pytest.param("member", None, "member", False, id="member creates a member"),
    ],
)
def test_only_owners_manage_owners(
    actor: Role, target: Role | None, new_role: Role | None, allowed: bool
) -> None:
    assert roles.may_manage(actor, target, new_role) is allowed


def test_people_may_change_their_own_names_and_job_title() -> None:
    roles.check_own_fields(["first_name", "last_name", "job_title"])


def test_fields_that_need_admin_rights_are_named() -> None:
    with pytest.raises(NotYourField) as refusal:
        roles.check_own_fields(["role", "first_name", "email"])

    assert refusal.value.fields == ("email", "role")
