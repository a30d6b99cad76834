"""Checks of who may change a person, and changes of a person's status."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from storage.admin import offboarding, reassignment
from storage.admin.effects import EffectsRecorder
from storage.base.errors import (
    CannotArchiveSelf,
    Conflict,
    InsufficientRole,
    InvalidInput,
    LastOwner,
    Sentence,
)
from storage.base.leave_values import Reassignment
from storage.base.values import Caller, Role, User, local_day
from storage.calendars import feeds
from storage.db import locks
from storage.db.database import Transaction
from storage.keys import api_keys
from storage.leave import cover_notices, time_credits
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_changes, people_rows
from storage.rules import roles


class UserArchived(Conflict):
    """An archived person is kept for the record and cannot be changed."""

    code = "user_archived"
    title = "The user is archived."
    cure = "Restore the person first (`POST /users/{id}/restore`), or create a new one."
    sentence = Sentence(
        "This user is archived and cannot be changed. Restore them first, or create a new user."
    )


def check_may_manage(by: Caller, user: User | None, new_role: Role | None = None) -> None:
    """Raises InsufficientRole unless ``by`` may make, change or archive that person."""
    target_role = None if user is None else user.role
    if not roles.may_manage(by.role, target_role, new_role):
        raise InsufficientRole(roles.role_needed_to_manage(target_role, new_role))


def lock_to_manage(tx: Transaction, user_id: str, *, by: Caller) -> User:
    """The person, after locking them and the organisation. Raises NotFound or InsufficientRole."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    check_may_manage(by, user)
    return user


def check_owner_remains(tx: Transaction, user: User, *, by: Caller) -> None:
    """Raises LastOwner when no other active owner would remain; needs the organisation's lock."""
    if user.role != "owner" or user.status in ("deactivated", "archived"):
        return
    if not people_rows.has_other_active_owner(tx, by.organisation_id, user.id):
        raise LastOwner


def check_manager(
    tx: Transaction, manager_id: str | None, *, by: Caller, of_user_id: str | None = None
) -> None:
    """Refuse a manager who is unknown, archived or managed by the person.

    Raises InvalidInput ``not_found``, ``manager_archived`` or ``manager_cycle``. The last needs
    the organisation's lock.
    """
    people_changes.check_can_manage(tx, by.organisation_id, manager_id)
    if manager_id is None or of_user_id is None:
        return
    if manager_id == of_user_id:
        raise InvalidInput.of(
            "manager_id", "manager_cycle", "People cannot be their own manager. Choose another one."
        )
    if people_changes.is_above(tx, by.organisation_id, of_user_id, manager_id):
        raise InvalidInput.of(
            "manager_id",
            "manager_cycle",
            "This manager already reports to this person, directly or indirectly.",
        )


class UserPending(Conflict):
    """A pending user has never used Hiatus, so there is nothing to reactivate."""

    code = "user_pending"
    title = "The user is pending."
    cure = "Wait until they use Hiatus in Slack, or create an API key for them: both activate them."
    sentence = Sentence(
        "Only deactivated users can be reactivated. This user is pending and becomes active "
        "when they first use Slack or an API key."
    )


def archive(
    tx: Transaction,
    user_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> User:
    """Archive a person who has left; their record stays.

    Revokes API keys and feeds, cancels pending requests, ends approved leave after today, clears
    them as cover of others' leave, and notifies the next approvers (offboarding.py). Returns an
    archived person unchanged. Raises NotFound, InsufficientRole, LastOwner or CannotArchiveSelf;
    then nothing has changed.
    """
    user = _locked_to_stop(tx, user_id, by=by)
    if user.status == "archived":
        return user
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    if recorder is not None:
        recorder.read_balances_before(tx, config, [user], today=today)
    reassigned = reassignment.if_inactive(tx, config, user, now=now)
    # Before the first write, which locks a feed counter.
    released = cover_notices.lock_covered(tx, by.organisation_id, user_id, today)
    archived = replace(user, status="archived")
    archived = people_changes.save(tx, user, archived, "user.archived", by=by, now=now)
    key_count = api_keys.revoke_all(tx, user_id, by=by, now=now)
    feed_count = feeds.revoke_all(tx, user_id, by=by, now=now)
    leave = offboarding.end_leave(tx, config, user, by=by, now=now)
    claim_count = time_credits.cancel_pending(tx, config, user, by=by, now=now)
    cover_notices.release(tx, config, released, by=by, now=now)
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    if recorder is not None:
        recorder.effects = replace(
            recorder.effects,
            leave=leave,
            time_credits=claim_count,
            reassigned=tuple(reassigned),
            api_keys=key_count,
            calendar_feeds=feed_count,
            reports=offboarding.reports(tx, by.organisation_id, user_id),
            departments=offboarding.managed_departments(config, user.id),
            uncovered=len(released.leave),
            balances=recorder.balance_changes(tx, config, [user]),
        )
    return archived


def deactivate(
    tx: Transaction,
    user_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> User:
    """Suspend a person for a while: keys and feeds stop working, requests stay.

    New approvers get the cards of reassigned requests. Returns a deactivated person unchanged.
    Raises NotFound, InsufficientRole, UserArchived, LastOwner or CannotArchiveSelf; then nothing
    has changed.
    """
    user = _locked_to_stop(tx, user_id, by=by)
    if user.status == "archived":
        raise UserArchived
    if user.status == "deactivated":
        return user
    config = organisation_config.of_organisation(tx, by.organisation_id)
    reassigned = reassignment.if_inactive(tx, config, user, now=now)
    deactivated = replace(user, status="deactivated")
    deactivated = people_changes.save(tx, user, deactivated, "user.deactivated", by=by, now=now)
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    if recorder is not None:
        recorder.effects = replace(
            recorder.effects,
            reassigned=tuple(reassigned),
            api_keys=api_keys.count(tx, by.organisation_id, user_id),
            calendar_feeds=feeds.count(tx, by.organisation_id, user_id),
        )
    return deactivated


def reactivate(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> User:
    """Make a deactivated person active again; an active person stays unchanged.

    Their keys and feeds work again, and they get the cards of requests assigned to them. Raises
    NotFound, InsufficientRole, UserPending or UserArchived.
    """
    user = lock_to_manage(tx, user_id, by=by)
    if user.status == "archived":
        raise UserArchived
    if user.status == "pending":
        raise UserPending
    if user.status == "active":
        return user
    active = replace(user, status="active")
    active = people_changes.save(tx, user, active, "user.reactivated", by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    reassignment.apply(tx, config, returned(tx, config, active, now), by=by, now=now)
    return active


def returned(
    tx: Transaction, config: OrganisationConfig, user: User, now: datetime
) -> list[Reassignment]:
    """The requests that are assigned to the person again."""
    requests = reassignment.assigned_to(tx, config, user, now=now)
    before = reassignment.approvers_by_request(tx, config, requests, now=now, absent_id=user.id)
    return reassignment.difference(
        requests, before, reassignment.approvers_by_request(tx, config, requests, now=now)
    )


def _locked_to_stop(tx: Transaction, user_id: str, *, by: Caller) -> User:
    """The person, locked, after checking that ``by`` may archive or deactivate them."""
    user = lock_to_manage(tx, user_id, by=by)
    # Before CannotArchiveSelf: the last owner needs the more specific reason.
    check_owner_remains(tx, user, by=by)
    if user.id == by.user_id:
        raise CannotArchiveSelf
    return user
