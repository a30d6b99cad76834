"""What Slack says of a person, kept in step: names, time zone, picture, locale, deactivation.

``slack_profiles`` holds what only texts in Slack need; the rest is the person's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from peewee import JOIN, OP, Expression, Select

from storage.admin import people, people_checks, people_status, reassignment
from storage.base import fields, texts
from storage.base.errors import EmailTaken, FieldError, InvalidInput, LastOwner
from storage.base.event_values import AuditAction
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import PageOf
from storage.db.tables import SlackProfileRow, UserRow
from storage.directory import people_changes, people_rows, slack_locales, slack_matching
from storage.directory.slack_locales import Kept
from storage.directory.slack_matching import SlackProfile
from storage.events import audit_log, organisation_config
from storage.notifications import slack_messages
from storage.rules import roles

# Before every id.
_FIRST_ID: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, kw_only=True, slots=True)
class Synced:
    """``owner_kept``: Slack deactivated the last owner, who stays active here."""

    user: User
    owner_kept: bool = False


def keep_in_step(
    tx: Transaction, organisation_id: str, profile: SlackProfile, *, now: datetime
) -> Synced | None:
    """Update the person from their Slack profile; None if the organisation has no such person.

    Matched as slack_matching.py says. No one joins, and pending stays pending. A person whose
    linked account is deleted in Slack is deactivated, except the last owner; if it is restored,
    they are reactivated. Reactivation undoes only what Slack did. Archived people stay as
    they are, and a profile older than the last applied one changes nothing.
    """
    user = _held(tx, organisation_id, profile)
    if user is None or user.status == "archived":
        return None
    if _is_outdated(profile, slack_locales.find(tx, organisation_id, user.id).slack_updated_at):
        return None
    by = _slack(organisation_id)
    user = _described(tx, user, profile, by=by, now=now)
    _keep(tx, organisation_id, user.id, profile, now=now)
    if profile.is_deleted:
        return _switched_off(tx, user, by=by, now=now)
    if user.status == "deactivated" and _was_switched_off_by_slack(tx, user, by=by):
        return Synced(user=people_status.reactivate(tx, user.id, by=by, now=now))
    return Synced(user=user)


def keep_all_in_step(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile], *, now: datetime
) -> list[Synced]:
    """As ``keep_in_step``, for accounts that ``differing`` found."""
    # All of them before the first is written, so that no two transactions wait for each other.
    locks.organisation(tx, organisation_id)
    users = [rows.user(row) for row in _people_of(tx, organisation_id, profiles)]
    people_rows.lock(tx, organisation_id, [user.id for user in users])
    found = [keep_in_step(tx, organisation_id, profile, now=now) for profile in profiles]
    return [synced for synced in found if synced is not None]


def differing(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]
) -> list[SlackProfile]:
    """Those of the accounts from which ``keep_in_step`` would take something over."""
    found = _people_of(tx, organisation_id, profiles)
    kept = {}
    by_slack_id, by_email = {}, {}
    # Archived people first: later ones with the same address or account replace them.
    for row in sorted(found, key=lambda row: row.status != "archived"):
        user = rows.user(row)
        kept[user.id] = slack_locales.kept(row)
        by_email[user.email.casefold()] = user
        if user.slack_user_id is not None:
            by_slack_id[user.slack_user_id] = user
    different = []
    for profile in profiles:
        user_or_none = slack_matching.choose(
            profile, by_slack_id.get, lambda email: by_email.get(email.casefold())
        )
        if user_or_none is not None and _differs(user_or_none, kept[user_or_none.id], profile):
            different.append(profile)
    return different


def _people_of(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]
) -> list[Row]:
    emails = {profile.confirmed_email for profile in profiles} - {None}
    return tx.all(
        _known,
        organisation_id=organisation_id,
        slack_user_ids=[profile.slack_user_id for profile in profiles],
        email_keys=sorted(email.casefold() for email in emails if email is not None),
    )


def _differs(user: User, kept: Kept, profile: SlackProfile) -> bool:
    if user.status == "archived" or _is_outdated(profile, kept.slack_updated_at):
        return False
    if profile.is_deleted and user.status in ("pending", "active"):
        return True
    is_newer = profile.updated_at is not None and profile.updated_at != kept.slack_updated_at
    is_other_locale = profile.locale is not None and profile.locale != kept.locale
    return is_newer or is_other_locale or _as_described(user, profile) != user


def _is_outdated(profile: SlackProfile, applied_at: datetime | None) -> bool:
    """Whether a later change was applied already: Slack repeats events after minutes and hours."""
    return (
        applied_at is not None
        and profile.updated_at is not None
        and profile.updated_at < applied_at
    )


def _keep(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> None:
    slack_locales.keep(
        tx,
        organisation_id,
        user_id,
        profile.locale,
        now=now,
        slack_updated_at=profile.updated_at,
    )


def linked_accounts(
    tx: Transaction, organisation_id: str, *, after_id: str | None, limit: int
) -> list[tuple[str, str]]:
    """People who may use Hiatus and their Slack accounts, by the people's ids; a page of them."""
    return [
        (user_id, slack_user_id)
        for user_id, slack_user_id in tx.all(
            _linked, organisation_id=organisation_id, after_id=after_id or _FIRST_ID, limit=limit
        )
    ]


def switch_off_missing(
    tx: Transaction,
    organisation_id: str,
    user_ids: Sequence[str],
    *,
    listed_at: datetime,
    now: datetime,
) -> list[Synced]:
    """Deactivate people whose accounts are not in the workspace's member list any more.

    People who changed since ``listed_at``, when the list was begun, are left to the next one: they
    may have been linked after their page was read.
    """
    locks.organisation(tx, organisation_id)
    by = _slack(organisation_id)
    found = [
        people_rows.find(tx, organisation_id, user_id, for_update=True) for user_id in user_ids
    ]
    return [
        _switched_off(tx, user, by=by, now=now)
        for user in found
        if user is not None
        and user.slack_user_id is not None
        and user.status in ("pending", "active")
        and user.updated_at < listed_at
    ]


def add(
    tx: Transaction,
    profile: SlackProfile,
    values: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> User:
    """Add a full member of the workspace whom an admin chose, as a pending person.

    ``values`` are what ``people.create`` takes; what is absent of address and names is Slack's.
    Raises what ``people.create`` raises, and InvalidInput at ``slack_user_id`` for a person who is
    one of the people already, or of whom Slack tells too little.
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
    described = {
        "email": profile.email,
        "first_name": texts.plain_name(profile.first_name) or None,
        "last_name": texts.plain_name(profile.last_name) or None,
    }
    user_fields = {name: value for name, value in described.items() if value is not None} | dict(
        values
    )
    missing = [name for name in described if name not in user_fields]
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
    zone = profile.timezone
    if zone is not None and fields.is_timezone(zone):
        user_fields["timezone"] = zone
    try:
        user = people.create(tx, user_fields | {"avatar_url": profile.avatar_url}, by=by, now=now)
    except EmailTaken as refusal:
        field = "email" if "email" in values else "slack_user_id"
        raise InvalidInput.of(field, refusal.code, refusal.detail) from refusal
    linked = replace(user, slack_user_id=profile.slack_user_id)
    user = people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)
    _keep(tx, by.organisation_id, user.id, profile, now=now)
    return user


def link(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> str | None:
    """The Slack account of a person who is to get a message, linked first if it is not yet.

    ``profile`` is what Slack found by the person's address. None where it does not belong to the
    person, as slack_matching.py decides it.
    """
    # Joining takes this lock first, too: a Slack account belongs to one person.
    locks.organisation(tx, organisation_id)
    user = people_rows.find(tx, organisation_id, user_id, for_update=True)
    if user is not None and user.slack_user_id is not None:
        return user.slack_user_id  # Linked since the caller looked.
    matched = slack_matching.find(tx, organisation_id, profile)
    if user is None or matched is None or matched.id != user_id:
        return None
    _keep(tx, organisation_id, user_id, profile, now=now)
    linked = replace(user, slack_user_id=profile.slack_user_id)
    by = _slack(organisation_id)
    linked = people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)
    _show_what_awaits(tx, user, linked, by=by, now=now)
    return profile.slack_user_id


def unlink(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> User:
    """Separate a person from their Slack account; a person who has none comes back unchanged.

    The account can no longer act for the person, and gets no more of their messages. Raises
    NotFound, InsufficientRole (only an owner unlinks an owner) or UserArchived.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    people_checks.check_may_manage(by, user)
    if user.status == "archived":
        raise people_checks.UserArchived
    if user.slack_user_id is None:
        return user
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    # A pending person can be asked only while their account is known.
    is_approver_no_more = user.status == "pending"
    reassigned = (
        reassignment.if_inactive(tx, reference, user, now=now) if is_approver_no_more else []
    )
    unlinked = replace(user, slack_user_id=None)
    # Their messages stand in a conversation with the former account: never updated there again.
    slack_messages.delete_all_of(tx, by.organisation_id, user_id)
    slack_locales.forget(tx, by.organisation_id, user_id)
    unlinked = people_changes.save(tx, user, unlinked, "user.unlinked_from_slack", by=by, now=now)
    reassignment.apply(tx, reference, reassigned, by=by, now=now)
    return unlinked


def _held(tx: Transaction, organisation_id: str, profile: SlackProfile) -> User | None:
    user = slack_matching.find(tx, organisation_id, profile)
    if user is None:
        return None
    if profile.is_deleted or user.status == "deactivated" or user.slack_user_id is None:
        # Locked before the person's row, as ``locks`` says; the Slack user may have changed.
        locks.organisation(tx, organisation_id)
        user = slack_matching.find(tx, organisation_id, profile)
    return user and people_rows.find(tx, organisation_id, user.id, for_update=True)


def _described(
    tx: Transaction, user: User, profile: SlackProfile, *, by: Caller, now: datetime
) -> User:
    after = _as_described(user, profile)
    if after == user:
        return user
    action: AuditAction = "user.updated" if user.slack_user_id else "user.linked_to_slack"
    after = people_changes.save(tx, user, after, action, by=by, now=now)
    if user.slack_user_id is None:
        _show_what_awaits(tx, user, after, by=by, now=now)
    return after


def _show_what_awaits(
    tx: Transaction, before: User, after: User, *, by: Caller, now: datetime
) -> None:
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    reassignment.send_cards_to_linked(tx, reference, before, after, by=by, now=now)


def _as_described(user: User, profile: SlackProfile) -> User:
    """The person with what Slack says of their account."""
    first_name = texts.plain_name(profile.first_name)
    zone = profile.timezone
    return replace(
        user,
        slack_user_id=profile.slack_user_id,
        # Slack asks for one name only: without a first one nothing is known.
        first_name=first_name or user.first_name,
        last_name=texts.plain_name(profile.last_name) if first_name else user.last_name,
        timezone=zone if zone is not None and fields.is_timezone(zone) else user.timezone,
        avatar_url=profile.avatar_url or user.avatar_url,
    )


def _switched_off(tx: Transaction, user: User, *, by: Caller, now: datetime) -> Synced:
    try:
        return Synced(user=people_status.deactivate(tx, user.id, by=by, now=now))
    except LastOwner:
        return Synced(user=user, owner_kept=True)


def _was_switched_off_by_slack(tx: Transaction, user: User, *, by: Caller) -> bool:
    """Whether the last deactivation was Slack's: an admin's is undone by admins alone."""
    found = audit_log.entries(
        tx, PageOf(limit=1), by=by, action="user.deactivated", subject_id=user.id
    ).items
    return bool(found) and found[0].source == "slack"


def _slack(organisation_id: str) -> Caller:
    return Caller(
        organisation_id=organisation_id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="slack",
    )


@compiled
def _known(
    organisation_id: Param[str], slack_user_ids: Param[list[str]], email_keys: Param[list[str]]
) -> Select:
    """The people who have one of the accounts or addresses, with what is kept of their account."""
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
