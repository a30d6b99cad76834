"""Links between people and their Slack accounts, made or removed on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from storage.admin import people, people_checks, reassignment
from storage.base import texts
from storage.base.errors import EmailTaken, FieldError, InvalidInput
from storage.base.values import Caller, User
from storage.db import locks
from storage.db.database import Transaction
from storage.directory import (
    people_changes,
    people_rows,
    slack_locales,
    slack_matching,
)
from storage.directory.slack_matching import SlackProfile
from storage.events import organisation_config
from storage.notifications import slack_messages
from storage.rules import roles
from storage.slack import profile_sync


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
    slack_locales.save_profile(tx, by.organisation_id, user.id, profile, now=now)
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
    matched = slack_matching.find(tx, organisation_id, profile)
    if user is None or matched is None or matched.id != user_id:
        return None
    slack_locales.save_profile(tx, organisation_id, user_id, profile, now=now)
    linked = replace(user, slack_user_id=profile.slack_user_id)
    by = Caller.system(organisation_id, "slack")
    linked = people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)
    profile_sync.send_pending_cards(tx, user, linked, by=by, now=now)
    return profile.slack_user_id


def unlink(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> User:
    """Unlink a person from their Slack account; a person without one is returned unchanged.

    The account can no longer act for the person, and gets none of their messages. Raises
    NotFound, InsufficientRole (only an owner unlinks an owner) or UserArchived.
    """
    user = people_checks.lock_to_manage(tx, user_id, by=by)
    if user.status == "archived":
        raise people_checks.UserArchived
    if user.slack_user_id is None:
        return user
    config = organisation_config.of_organisation(tx, by.organisation_id)
    # A pending person is an approver only while they have an account.
    is_former_approver = user.status == "pending"
    reassigned = reassignment.if_inactive(tx, config, user, now=now) if is_former_approver else []
    unlinked = replace(user, slack_user_id=None)
    # Their messages are in a conversation with the former account, and are not updated there.
    slack_messages.delete_all_of(tx, by.organisation_id, user_id)
    slack_locales.delete(tx, by.organisation_id, user_id)
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
