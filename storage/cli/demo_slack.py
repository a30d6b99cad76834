"""Links the demo organisation and its people to the playground's workspace.

The link is removed when Hiatus gets a real workspace.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from peewee import Delete, Update

from storage.base.clock import local_day
from storage.base.values import SCOPES, Caller, User
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.db.tables import OrganisationRow, SlackMessageRow, UserRow
from storage.directory import approvers, people_lists, slack_syncs
from storage.events import notification_outbox, organisation_config
from storage.leave.lists import filtered_leave
from storage.slack import slack_profiles, slack_workspaces

# Not the id of a real workspace: those are random letters and digits.
TEAM_ID: Final = "T0PLAYGROUND"
_MAX_PEOPLE: Final = 200
_MAX_PENDING: Final = 100


def enter(tx: Transaction, organisation_id: str, *, now: datetime) -> list[User] | None:
    """Link the organisation to the playground. Returns its people with their Slack ids there.

    Queues the approval cards of pending requests again, because a playground keeps nothing. None
    if the organisation belongs to another workspace: then nothing has changed.
    """
    organisation = organisation_config.of_organisation(tx, organisation_id).organisation
    if organisation.slack_team_id is None:
        slack_workspaces.link(tx, organisation, TEAM_ID, source="cli", now=now)
    elif organisation.slack_team_id != TEAM_ID:
        return None
    # The playground's members are the organisation's people, so there is nothing to compare.
    slack_syncs.end(tx, organisation_id)
    for user in _staff(tx, organisation_id):
        if user.slack_user_id is None:
            slack_profiles.link_unchecked(tx, organisation_id, user.id, _slack_id(user), now=now)
    queue_pending_cards(tx, organisation_id, now=now)
    return [user for user in _staff(tx, organisation_id) if user.slack_user_id is not None]


def queue_pending_cards(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Queue the card of every pending request for its approvers."""
    by = _system(organisation_id)
    config = organisation_config.of_organisation(tx, organisation_id)
    pending = filtered_leave.page(tx, PageOf(limit=_MAX_PENDING), by=by, status="pending")
    today = local_day(now, config.organisation.timezone)
    for request in pending.items:
        approvers_now = approvers.of_person(tx, organisation_id, request.user_id, today=today)
        notification_outbox.notify(
            tx,
            "leave_request.created",
            request,
            by=by,
            approvers=approvers_now,
            config=config,
            now=now,
        )


def leave(tx: Transaction, *, now: datetime) -> bool:
    """Undo ``enter``, so that a real workspace can be linked. Returns whether it was linked."""
    organisation = slack_workspaces.find(tx, TEAM_ID)
    if organisation is None:
        return False
    if not tx.change(_unlink_organisation, organisation_id=organisation.id, now=now):
        return False
    tx.change(_unlink_people, organisation_id=organisation.id, now=now)
    tx.change(_delete_messages, organisation_id=organisation.id)
    organisation_config.changed(tx, organisation.id)
    return True


def _staff(tx: Transaction, organisation_id: str) -> list[User]:
    users = people_lists.page(tx, PageOf(limit=_MAX_PEOPLE), by=_system(organisation_id)).items
    return [user for user in users if user.status in ("pending", "active")]


def _slack_id(user: User) -> str:
    letters = "".join(letter for letter in user.email.partition("@")[0].upper() if letter.isalnum())
    return f"U0{letters}"[:32]


def _system(organisation_id: str) -> Caller:
    return Caller(
        organisation_id=organisation_id,
        user_id=None,
        role="owner",
        scopes=frozenset(SCOPES),
        source="cli",
    )


@compiled
def _unlink_organisation(organisation_id: Param[str], now: Param[datetime]) -> Update:
    return OrganisationRow.update(slack_team_id=None, updated_at=now).where(
        OrganisationRow.id == organisation_id, OrganisationRow.slack_team_id == TEAM_ID
    )


@compiled
def _unlink_people(organisation_id: Param[str], now: Param[datetime]) -> Update:
    return UserRow.update(slack_user_id=None, updated_at=now).where(
        UserRow.organisation_id == organisation_id, UserRow.slack_user_id.is_null(False)
    )


@compiled
def _delete_messages(organisation_id: Param[str]) -> Delete:
    return SlackMessageRow.delete().where(SlackMessageRow.organisation_id == organisation_id)
