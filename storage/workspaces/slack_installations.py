"""Installations of the app in workspaces, with their encrypted tokens.

Nothing is queued while a workspace does not have the app. After it is installed again, approvers
get the pending requests, and requesters the decisions on theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from cryptography.fernet import InvalidToken
from peewee import Select

from storage.admin import reassignment
from storage.base.errors import AlreadyExists
from storage.base.event_values import AuditAction, NotificationEvent
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest, LeaveStatus
from storage.base.values import Caller, Organisation, local_day
from storage.db import locks, rows
from storage.db.compiled import Expr, Param, any_of, compiled, milliseconds
from storage.db.database import DuplicateRow, Row, Transaction
from storage.db.tables import AuditRow, LeaveRequestRow, SlackInstallationRow, SlackStatusRow
from storage.leave import leave_rows, time_credit_lists
from storage.notifications import notification_queue, reminders, time_credit_messages
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import slack_syncs
from storage.workspaces import join_policy, slack_workspaces
from storage.workspaces.slack_workspaces import NewInstallation

Kind = Literal["created", "linked", "renewed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Installation:
    """A workspace that has the app now."""

    organisation_id: str
    team_id: str
    enterprise_id: str | None
    bot_id: str
    bot_user_id: str
    bot_token: str
    installed_at: datetime

    def __repr__(self) -> str:
        return f"Installation({self.organisation_id!r}, {self.team_id!r})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """The workspace's organisation; ``kind`` tells whether it was created or linked now."""

    organisation: Organisation
    kind: Kind


class TokenUnreadable(Exception):
    """No key of this deployment decrypts the workspace's token; the operator has to restore it."""


def find(tx: Transaction, team_id: str) -> Installation | None:
    """The workspace's installation; None without one. Raises TokenUnreadable."""
    row = tx.find(SlackInstallationRow, team_id=team_id, uninstalled_at=None)
    if row is None:
        return None
    try:
        return Installation(
            organisation_id=row.organisation_id,
            team_id=row.team_id,
            enterprise_id=row.enterprise_id,
            bot_id=row.bot_id,
            bot_user_id=row.bot_user_id,
            bot_token=tx.secrets.decrypt(row.bot_token_encrypted),
            installed_at=rows.instant(row.installed_at),
        )
    except InvalidToken as error:
        raise TokenUnreadable from error


def team_ids(tx: Transaction, *, limit: int) -> list[str]:
    """The workspaces that have the app, the newest installations first."""
    return [team_id for (team_id,) in tx.all(_team_ids, limit=limit)]


def install(tx: Transaction, new: NewInstallation, *, now: datetime) -> Installed:
    """Save the installation for the workspace's organisation, or for a new one.

    A second installation renews the token. The installer in a new workspace becomes a person of the
    organisation, and its owner if it is created. Raises NotLinked, join_policy.NotAMember, or
    AlreadyExists when the organisation is linked to another workspace meanwhile; then nothing has
    changed.
    """
    # Two concurrent installations in one workspace would each see a part of the other's changes.
    locks.workspace(tx, new.team_id)
    current = slack_workspaces.find(tx, new.team_id)
    if current is not None:
        _save(tx, current.id, new, now=now)
        return Installed(organisation=current, kind="renewed")
    matching = slack_workspaces.find_match(tx, new)
    organisation = matching or slack_workspaces.create_organisation(tx, new, now=now)
    slack_workspaces.link(tx, organisation, new.team_id, source="slack", now=now)
    _save(tx, organisation.id, new, now=now)
    join_policy.join_from_slack(tx, organisation.id, new.installer, is_installer=True, now=now)
    return Installed(organisation=organisation, kind="linked" if matching else "created")


def uninstall(tx: Transaction, team_id: str, *, at: datetime, now: datetime) -> bool:
    """Delete the token of an installation made before ``at``; False without one.

    The organisation keeps its data and its workspace, so the app can be installed again.
    """
    row = tx.find(SlackInstallationRow, locks.ROW, team_id=team_id, uninstalled_at=None)
    if row is None or row.installed_at > milliseconds(at):
        return False
    changes = {"bot_token_encrypted": "", "uninstalled_at": now}
    tx.update(SlackInstallationRow, changes, organisation_id=row.organisation_id, id=row.id)
    # Slack has revoked these tokens, too.
    tx.delete(SlackStatusRow, organisation_id=row.organisation_id)
    _record(tx, "slack_installation.ended", row.organisation_id, row.id, now, {})
    notification_queue.give_up(tx, row.organisation_id, now=now)
    return True


def link_by_token(tx: Transaction, team_id: str, *, now: datetime) -> Organisation | None:
    """As ``slack_workspaces.link_only_organisation``, for the workspace of the settings' token.

    It replaces an installation by OAuth that has ended.
    """
    organisation = slack_workspaces.link_only_organisation(tx, team_id, now=now)
    if organisation is None:
        return None
    row = _locked(tx, organisation.id, team_id)
    if row is not None and row.uninstalled_at is not None:
        tx.delete(SlackInstallationRow, organisation_id=organisation.id, id=row.id)
        details = {"team_id": team_id}
        _record(tx, "slack_installation.replaced", organisation.id, row.id, now, details)
        since = rows.instant(row.uninstalled_at)
        show_missed(tx, organisation.id, since=since, now=now)
    return organisation


def _locked(tx: Transaction, organisation_id: str, team_id: str) -> Row | None:
    """The installation, locked, so that a concurrent uninstallation comes before or after."""
    return tx.find(
        SlackInstallationRow, locks.ROW, organisation_id=organisation_id, team_id=team_id
    )


def _save(tx: Transaction, organisation_id: str, new: NewInstallation, *, now: datetime) -> None:
    columns: dict[str, object] = {
        "enterprise_id": new.enterprise_id,
        "bot_id": new.bot_id,
        "bot_user_id": new.bot_user_id,
        "bot_token_encrypted": tx.secrets.encrypt(new.bot_token),
        "scopes": ",".join(new.scopes),
        "installed_by": new.installer.slack_user_id,
        "installed_at": now,
        "uninstalled_at": None,
    }
    row = _locked(tx, organisation_id, new.team_id)
    installation_id = new_id(now) if row is None else row.id
    if row is None:
        _insert(tx, organisation_id, installation_id, new.team_id, columns)
    else:
        tx.update(
            SlackInstallationRow, columns, organisation_id=organisation_id, id=installation_id
        )
    uninstalled_at = None if row is None else row.uninstalled_at
    action: AuditAction = (
        "slack_installation.created" if row is None else "slack_installation.renewed"
    )
    details = {"team_id": new.team_id, "scopes": list(new.scopes)}
    details["installed_by"] = new.installer.slack_user_id
    _record(tx, action, organisation_id, installation_id, now, details)
    if row is None or uninstalled_at is not None:
        since = rows.instant_or_none(uninstalled_at)
        show_missed(tx, organisation_id, since=since, now=now)


def _insert(
    tx: Transaction,
    organisation_id: str,
    installation_id: str,
    team_id: str,
    columns: dict[str, object],
) -> None:
    try:
        tx.insert(
            SlackInstallationRow,
            organisation_id=organisation_id,
            id=installation_id,
            team_id=team_id,
            **columns,
        )
    except DuplicateRow as error:
        raise AlreadyExists("Hiatus is already being installed in this workspace.") from error


def _record(
    tx: Transaction,
    action: AuditAction,
    organisation_id: str,
    installation_id: str,
    now: datetime,
    after: Mapping[str, object],
) -> None:
    by = Caller.system(organisation_id, "slack")
    audit.record(tx, action, "slack_installation", installation_id, by=by, now=now, after=after)
    organisation_config.changed(tx, organisation_id)


@compiled
def _team_ids(limit: Param[int]) -> Select:
    row = SlackInstallationRow
    newest: Sequence[Expr] = (row.installed_at.desc(), row.id)
    query = row.select(row.team_id).where(row.uninstalled_at.is_null())
    return query.order_by(*newest).limit(limit)


# Of pending and of decided requests each; Home shows the rest.
MAX_REQUESTS: Final = 1_000

_DECISION_EVENTS: Final[dict[LeaveStatus, NotificationEvent]] = {
    "approved": "leave_request.approved",
    "declined": "leave_request.declined",
    "cancelled": "leave_request.cancelled",
}


def show_missed(
    tx: Transaction, organisation_id: str, *, since: datetime | None, now: datetime
) -> None:
    """Queue what people missed since the app was last installed; ``since`` None: never.

    Existing cards are refreshed, others posted; reminders restart.
    """
    config = organisation_config.of_organisation(tx, organisation_id)
    pending = leave_rows.pending_of(tx, organisation_id, limit=MAX_REQUESTS)
    new = [request for request in pending if since is not None and request.created_at >= since]
    _show_pending(tx, config, new, "leave_request.created", now, are_new=True)
    old = [request for request in pending if request not in new]
    _show_pending(tx, config, old, "leave_request.rerouted", now, are_new=False)
    if since is not None:
        _show_decided(tx, config, since, now)
    today = local_day(now, config.organisation.timezone)
    time_credit_lists.reassign(tx, config, today=today, now=now)
    slack_syncs.request(tx, organisation_id, now=now)
    reminders.restart(tx, organisation_id, now=now)
    time_credit_messages.restart(tx, organisation_id, now=now)


def _show_pending(
    tx: Transaction,
    config: OrganisationConfig,
    requests: list[LeaveRequest],
    event: NotificationEvent,
    now: datetime,
    *,
    are_new: bool,
) -> None:
    approvers_of = reassignment.approvers_by_request(tx, config, requests, now=now)
    notification_outbox.notify_all(
        tx,
        event,
        requests,
        notified=requests if are_new else (),
        approvers={
            request.id: [user.id for user in approvers_of.get(request.id, ())]
            for request in requests
        },
        config=config,
        now=now,
    )


def _show_decided(
    tx: Transaction, config: OrganisationConfig, since: datetime, now: datetime
) -> None:
    organisation_id = config.organisation.id
    decided_ids = tx.all(
        _decided,
        organisation_id=organisation_id,
        actions=sorted(_DECISION_EVENTS.values()),
        since=since,
        limit=MAX_REQUESTS,
    )
    by_status: dict[LeaveStatus, list[LeaveRequest]] = defaultdict(list)
    for row in tx.select(
        LeaveRequestRow,
        organisation_id=organisation_id,
        id=sorted({request_id for (request_id,) in decided_ids}),
    ):
        request = rows.leave_request(row)
        by_status[request.status].append(request)
    for status, event in _DECISION_EVENTS.items():
        notification_outbox.notify_all(
            tx, event, by_status[status], notified=by_status[status], config=config, now=now
        )


@compiled
def _decided(
    organisation_id: Param[str],
    actions: Param[list[str]],
    since: Param[datetime],
    limit: Param[int],
) -> Select:
    """The ids of requests that were decided or cancelled, latest first."""
    return (
        AuditRow.select(AuditRow.subject_id)
        .where(
            AuditRow.organisation_id == organisation_id,
            any_of(AuditRow.action, actions),
            AuditRow.occurred_at >= since,
        )
        .order_by(AuditRow.occurred_at.desc())
        .limit(limit)
    )
