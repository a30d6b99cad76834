"""The organisation of a Slack workspace, and the person of a Slack user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from peewee import Select, Update

from storage.admin import organisations
from storage.base.errors import AlreadyExists
from storage.base.values import Caller, Organisation, Source, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow
from storage.directory import people_rows, slack_syncs
from storage.events import audit, organisation_config


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceUser:
    """The organisation of a Slack user's workspace, and their person in it."""

    organisation: Organisation
    user: User | None


def find(tx: Transaction, team_id: str) -> Organisation | None:
    row = tx.first(_organisation, team_id=team_id)
    return None if row is None else rows.organisation(row)


def find_person(tx: Transaction, team_id: str, slack_user_id: str) -> WorkspaceUser | None:
    """The Slack user's person, in any status; None for an unlinked workspace."""
    organisation = find(tx, team_id)
    if organisation is None:
        return None
    return WorkspaceUser(
        organisation=organisation,
        user=people_rows.find_by_slack_id(tx, organisation.id, slack_user_id),
    )


def link(
    tx: Transaction, organisation: Organisation, team_id: str, *, source: Source, now: datetime
) -> None:
    """Link the organisation to a workspace, unless it is linked to that one already.

    Raises AlreadyExists when the organisation has another workspace, or the workspace another
    organisation; then nothing has changed.
    """
    try:
        linked = tx.change(_link, organisation_id=organisation.id, team_id=team_id, now=now)
    except DuplicateRow as error:
        raise AlreadyExists(
            "The workspace {team_id} belongs to another organisation.", team_id=team_id
        ) from error
    if not linked:
        current = find(tx, team_id)
        if current is not None and current.id == organisation.id:
            return  # Another transaction linked it meanwhile.
        raise AlreadyExists("{name} belongs to another workspace.", name=organisation.name)
    by = Caller.system(organisation.id, source)
    audit.record(
        tx,
        "organisation.slack_linked",
        "organisation",
        organisation.id,
        by=by,
        now=now,
        before={"slack_team_id": None},
        after={"slack_team_id": team_id},
    )
    slack_syncs.begin(tx, organisation.id, now=now)
    organisation_config.changed(tx, organisation.id)


def link_only_organisation(tx: Transaction, team_id: str, *, now: datetime) -> Organisation | None:
    """The workspace's organisation; the deployment's only organisation, if it has no workspace yet.

    None if there is neither. The caller has verified that the workspace is the bot token's own.
    """
    linked = find(tx, team_id)
    if linked is not None:
        return linked
    organisation = organisations.only_one(tx)
    if organisation is None or organisation.slack_team_id is not None:
        return None
    link(tx, organisation, team_id, source="slack", now=now)
    return find(tx, team_id)


@compiled
def _organisation(team_id: Param[str]) -> Select:
    return OrganisationRow.select(*rows.ORGANISATION).where(
        OrganisationRow.slack_team_id == team_id
    )


@compiled
def _link(organisation_id: Param[str], team_id: Param[str], now: Param[datetime]) -> Update:
    return OrganisationRow.update(slack_team_id=team_id, updated_at=now).where(
        OrganisationRow.id == organisation_id, OrganisationRow.slack_team_id.is_null()
    )
