"""Syncs people with their Slack profiles: names, time zone, picture, locale and deactivation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Select

from storage.admin import people_status, reassignment
from storage.base.errors import LastOwner
from storage.base.event_values import AuditAction
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.db.tables import UserRow
from storage.directory import people_changes, people_rows, slack_locales, slack_matching
from storage.directory.slack_matching import SlackProfile
from storage.events import audit_log, organisation_config
from storage.slack import profile_changes

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
    if profile_changes.is_outdated(
        profile, slack_locales.find(tx, organisation_id, user.id).slack_updated_at
    ):
        return None
    by = Caller.system(organisation_id, "slack")
    user = _update(tx, user, profile, by=by, now=now)
    slack_locales.save_profile(tx, organisation_id, user.id, profile, now=now)
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
    users = [rows.user(row) for row in profile_changes.people_of(tx, organisation_id, profiles)]
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
    user = slack_matching.find(tx, organisation_id, profile)
    if user is None:
        return None
    if profile.is_deleted or user.status == "deactivated" or user.slack_user_id is None:
        # Locked before the person's row, as ``locks`` says; the Slack user may have changed.
        locks.organisation(tx, organisation_id)
        user = slack_matching.find(tx, organisation_id, profile)
    return user and people_rows.find(tx, organisation_id, user.id, for_update=True)


def _update(
    tx: Transaction, user: User, profile: SlackProfile, *, by: Caller, now: datetime
) -> User:
    after = profile_changes.with_profile(user, profile)
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
    entries = audit_log.entries(
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
