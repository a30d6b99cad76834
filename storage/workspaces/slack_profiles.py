"""People's Slack accounts: linked, unlinked, and kept in step with their profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from peewee import JOIN, OP, Expression, Select

from storage.admin import people, people_status, reassignment
from storage.base import texts
from storage.base.errors import EmailTaken, FieldError, InvalidInput, LastOwner
from storage.base.event_values import AuditAction
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Row, Transaction
from storage.db.pages import PageOf
from storage.db.tables import SlackProfileRow, UserRow
from storage.notifications import slack_messages, time_credit_messages
from storage.outbox import audit, organisation_config
from storage.people import people_changes, people_rows
from storage.people.people_rows import AppliedProfile, SlackProfile
from storage.rules import roles


def add_member(
    tx: Transaction,
    profile: SlackProfile,
    values: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> User:
    """Add a full member of the workspace whom an admin chose, as a pending person.

    ``values`` are fields of ``people.create``; address and names that are absent come from Slack.
    Raises what ``people.create`` raises, and InvalidInput at ``slack_user_id`` for an account that
    is linked already, or whose profile has too little.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    existing = people_rows.find_by_slack_id(tx, by.organisation_id, profile.slack_user_id)
    if existing is not None and existing.status != "archived":
        raise InvalidInput.of(
            "slack_user_id", "already_exists", "This person is already in Hiatus."
        )
    if "email" not in values and profile.email and profile.confirmed_email is None:
        raise InvalidInput.of(
            "slack_user_id",
            "email_not_confirmed",
            "Slack hasn't confirmed this account's e-mail address. If you know whose account it "
            "is, fill in their address.",
        )
    profile_fields = {
        "email": profile.email,
        "first_name": texts.plain_name(profile.first_name) or None,
        "last_name": texts.plain_name(profile.last_name) or None,
    }
    user_fields = {
        name: value for name, value in profile_fields.items() if value is not None
    } | dict(values)
    missing = [name for name in profile_fields if name not in user_fields]
    if missing:
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"/{name}",
                    code="required",
                    detail="Slack doesn't share this. Please fill it in.",
                )
                for name in missing
            ]
        )
    if profile.known_timezone:
        user_fields["timezone"] = profile.known_timezone
    try:
        user = people.create(tx, user_fields | {"avatar_url": profile.avatar_url}, by=by, now=now)
    except EmailTaken as refusal:
        field = "email" if "email" in values else "slack_user_id"
        raise InvalidInput.of(field, refusal.code, refusal.detail) from refusal
    linked = replace(user, slack_user_id=profile.slack_user_id)
    user = people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)
    people_rows.save_applied_profile(tx, by.organisation_id, user.id, profile, now=now)
    return user


def link(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> str | None:
    """Link a person who is to get a message to their Slack account, unless they are linked.

    ``profile`` is what Slack found by the person's address. Returns the account's id; None where
    ``slack_matching`` finds another person or none.
    """
    # Provisioning takes this lock first, too: a Slack account belongs to one person.
    locks.organisation(tx, organisation_id)
    user = people_rows.find(tx, organisation_id, user_id, for_update=True)
    if user is not None and user.slack_user_id is not None:
        return user.slack_user_id  # Linked meanwhile.
    matched = people_rows.find_by_profile(tx, organisation_id, profile)
    if user is None or matched is None or matched.id != user_id:
        return None
    people_rows.save_applied_profile(tx, organisation_id, user_id, profile, now=now)
    linked = replace(user, slack_user_id=profile.slack_user_id)
    by = Caller.system(organisation_id, "slack")
    linked = people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)
    send_pending_cards(tx, user, linked, by=by, now=now)
    return profile.slack_user_id


def unlink(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> User:
    """Unlink a person from their Slack account; a person without one is returned unchanged.

    The account can no longer act for the person, and gets none of their messages. Raises
    NotFound, InsufficientRole (only an owner unlinks an owner) or UserArchived.
    """
    user = people_status.lock_to_manage(tx, user_id, by=by)
    if user.status == "archived":
        raise people_status.UserArchived
    if user.slack_user_id is None:
        return user
    config = organisation_config.of_organisation(tx, by.organisation_id)
    # A pending person is an approver only while they have an account.
    is_former_approver = user.status == "pending"
    reassigned = reassignment.if_inactive(tx, config, user, now=now) if is_former_approver else []
    unlinked = replace(user, slack_user_id=None)
    # Their messages are in a conversation with the former account, and are not updated there.
    slack_messages.delete_all_of(tx, by.organisation_id, user_id)
    time_credit_messages.delete_all_of(tx, by.organisation_id, user_id)
    people_rows.delete_applied_profile(tx, by.organisation_id, user_id)
    unlinked = people_changes.save(tx, user, unlinked, "user.unlinked_from_slack", by=by, now=now)
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    return unlinked


def link_unchecked(
    tx: Transaction, organisation_id: str, user_id: str, slack_user_id: str, *, now: datetime
) -> None:
    """Link a person to a Slack account without ``slack_matching``, unless either is linked."""
    locks.organisation(tx, organisation_id)
    user = people_rows.find(tx, organisation_id, user_id, for_update=True)
    if user is None or user.slack_user_id is not None:
        return
    if people_rows.find_by_slack_id(tx, organisation_id, slack_user_id) is not None:
        return
    by = Caller.system(organisation_id, "slack")
    linked = replace(user, slack_user_id=slack_user_id)
    people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)


def changed(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]
) -> list[SlackProfile]:
    """The profiles that would change their person in ``profile_sync``."""
    people = people_of(tx, organisation_id, profiles)
    applied = {}
    by_slack_id, by_email = {}, {}
    # Archived people first: later ones with the same address or account replace them.
    for row in sorted(people, key=lambda row: row.status != "archived"):
        person = rows.user(row)
        applied[person.id] = people_rows.applied_profile(row)
        by_email[texts.email_key(person.email)] = person
        if person.slack_user_id is not None:
            by_slack_id[person.slack_user_id] = person
    changed_profiles = []
    for profile in profiles:
        user = people_rows.choose_by_profile(
            profile, by_slack_id.get, lambda email: by_email.get(texts.email_key(email))
        )
        if user is not None and _differs(user, applied[user.id], profile):
            changed_profiles.append(profile)
    return changed_profiles


def people_of(tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]) -> list[Row]:
    emails = {profile.confirmed_email for profile in profiles} - {None}
    return tx.all(
        _people,
        organisation_id=organisation_id,
        slack_user_ids=[profile.slack_user_id for profile in profiles],
        email_keys=sorted(texts.email_key(email) for email in emails if email is not None),
    )


def _differs(user: User, applied: AppliedProfile, profile: SlackProfile) -> bool:
    if user.status == "archived" or is_outdated(profile, applied.slack_updated_at):
        return False
    if profile.is_deleted and user.status in ("pending", "active"):
        return True
    is_newer = profile.updated_at is not None and profile.updated_at != applied.slack_updated_at
    is_other_locale = profile.locale is not None and profile.locale != applied.locale
    return is_newer or is_other_locale or with_profile(user, profile) != user


def is_outdated(profile: SlackProfile, applied_at: datetime | None) -> bool:
    """Whether a later change was applied already: Slack repeats events after minutes or hours."""
    return (
        applied_at is not None
        and profile.updated_at is not None
        and profile.updated_at < applied_at
    )


def with_profile(user: User, profile: SlackProfile) -> User:
    """The person with the fields of their Slack profile."""
    first_name = texts.plain_name(profile.first_name)
    return replace(
        user,
        slack_user_id=profile.slack_user_id,
        # Slack requires one name only; without a first name, both are unknown.
        first_name=first_name or user.first_name,
        last_name=texts.plain_name(profile.last_name) if first_name else user.last_name,
        timezone=profile.known_timezone or user.timezone,
        avatar_url=profile.avatar_url or user.avatar_url,
    )


@compiled
def _people(
    organisation_id: Param[str], slack_user_ids: Param[list[str]], email_keys: Param[list[str]]
) -> Select:
    """The people with one of the accounts or addresses, and what was applied of their profiles."""
    profile = SlackProfileRow
    return (
        UserRow.select(profile.locale, profile.slack_updated_at, *rows.USER)
        .join(
            profile,
            JOIN.LEFT_OUTER,
            on=(profile.organisation_id == UserRow.organisation_id)
            & (profile.user_id == UserRow.id),
        )
        .where(
            UserRow.organisation_id == organisation_id,
            Expression(
                any_of(UserRow.slack_user_id, slack_user_ids),
                OP.OR,
                any_of(UserRow.email_key, email_keys),
            ),
        )
    )


# Sorts before every id.
_FIRST_ID: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, kw_only=True, slots=True)
class Synced:
    """``is_last_owner``: Slack deactivated the last owner, who stays active here."""

    user: User
    is_last_owner: bool = False


def sync(
    tx: Transaction, organisation_id: str, profile: SlackProfile, *, now: datetime
) -> Synced | None:
    """Update the person from their Slack profile; None if the organisation has no such person.

    ``slack_matching`` finds the person. Syncing adds and activates no one. A person whose linked
    account is deleted in Slack is deactivated, except the last owner; if it is restored, they are
    reactivated, unless an admin deactivated them. Archived people stay as they are, and a profile
    older than the last applied one changes nothing.
    """
    user = _find_locked(tx, organisation_id, profile)
    if user is None or user.status == "archived":
        return None
    if is_outdated(
        profile, people_rows.find_applied_profile(tx, organisation_id, user.id).slack_updated_at
    ):
        return None
    by = Caller.system(organisation_id, "slack")
    user = _update(tx, user, profile, by=by, now=now)
    people_rows.save_applied_profile(tx, organisation_id, user.id, profile, now=now)
    if profile.is_deleted:
        return _deactivate(tx, user, by=by, now=now)
    if user.status == "deactivated" and _was_deactivated_by_slack(tx, user, by=by):
        return Synced(user=people_status.reactivate(tx, user.id, by=by, now=now))
    return Synced(user=user)


def sync_all(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile], *, now: datetime
) -> list[Synced]:
    """As ``sync``, for profiles that ``profile_changes.changed`` found."""
    # All of them before the first is written, to avoid deadlocks.
    locks.organisation(tx, organisation_id)
    users = [rows.user(row) for row in people_of(tx, organisation_id, profiles)]
    people_rows.lock(tx, organisation_id, [user.id for user in users])
    results = [sync(tx, organisation_id, profile, now=now) for profile in profiles]
    return [synced for synced in results if synced is not None]


def linked_accounts(
    tx: Transaction, organisation_id: str, *, after_id: str | None, limit: int
) -> list[tuple[str, str]]:
    """A page of people who may use Hiatus: their ids, in order, and their Slack accounts'."""
    return [
        (row.id, row.slack_user_id)
        for row in tx.all(
            _linked, organisation_id=organisation_id, after_id=after_id or _FIRST_ID, limit=limit
        )
    ]


def deactivate_missing(
    tx: Transaction,
    organisation_id: str,
    user_ids: Sequence[str],
    *,
    listed_at: datetime,
    now: datetime,
) -> list[Synced]:
    """Deactivate people whose accounts the workspace's member list no longer has.

    People who changed after ``listed_at``, the start of the list, are left to the next one: they
    may have been linked after their page was read.
    """
    locks.organisation(tx, organisation_id)
    by = Caller.system(organisation_id, "slack")
    users = [
        people_rows.find(tx, organisation_id, user_id, for_update=True) for user_id in user_ids
    ]
    return [
        _deactivate(tx, user, by=by, now=now)
        for user in users
        if user is not None
        and user.slack_user_id is not None
        and user.status in ("pending", "active")
        and user.updated_at < listed_at
    ]


def _find_locked(tx: Transaction, organisation_id: str, profile: SlackProfile) -> User | None:
    user = people_rows.find_by_profile(tx, organisation_id, profile)
    if user is None:
        return None
    if profile.is_deleted or user.status == "deactivated" or user.slack_user_id is None:
        # Locked before the person's row, as ``locks`` says; the Slack user may have changed.
        locks.organisation(tx, organisation_id)
        user = people_rows.find_by_profile(tx, organisation_id, profile)
    return user and people_rows.find(tx, organisation_id, user.id, for_update=True)


def _update(
    tx: Transaction, user: User, profile: SlackProfile, *, by: Caller, now: datetime
) -> User:
    after = with_profile(user, profile)
    if after == user:
        return user
    action: AuditAction = "user.updated" if user.slack_user_id else "user.linked_to_slack"
    after = people_changes.save(tx, user, after, action, by=by, now=now)
    if user.slack_user_id is None:
        send_pending_cards(tx, user, after, by=by, now=now)
    return after


def send_pending_cards(
    tx: Transaction, before: User, after: User, *, by: Caller, now: datetime
) -> None:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    reassignment.send_cards_to_linked(tx, config, before, after, by=by, now=now)


def _deactivate(tx: Transaction, user: User, *, by: Caller, now: datetime) -> Synced:
    try:
        return Synced(user=people_status.deactivate(tx, user.id, by=by, now=now))
    except LastOwner:
        return Synced(user=user, is_last_owner=True)


def _was_deactivated_by_slack(tx: Transaction, user: User, *, by: Caller) -> bool:
    """Whether the last deactivation was Slack's: only admins reverse an admin's."""
    entries = audit.entries(
        tx, PageOf(limit=1), by=by, action="user.deactivated", subject_id=user.id
    ).items
    return bool(entries) and entries[0].source == "slack"


@compiled
def _linked(organisation_id: Param[str], after_id: Param[str], limit: Param[int]) -> Select:
    return (
        UserRow.select(UserRow.id, UserRow.slack_user_id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.id > after_id,
            UserRow.slack_user_id.is_null(False),
            UserRow.status.in_(("pending", "active")),
        )
        .order_by(UserRow.id)
        .limit(limit)
    )
