"""Which organisation a Slack workspace belongs to, and who its people are in Slack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from peewee import Select, Update

from storage.admin import organisations
from storage.base.errors import AlreadyExists
from storage.base.values import Caller, Organisation, Source, User
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow
from storage.directory import people_changes, people_rows, slack_syncs
from storage.events import audit, organisation_config


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A Slack user's organisation, by workspace, and their person in it."""

    organisation: Organisation
    user: User | None


def find(tx: Transaction, team_id: str) -> Organisation | None:
    """The organisation of the workspace."""
    row = tx.first(_organisation, team_id=team_id)
    return None if row is None else rows.organisation(row)


def find_person(tx: Transaction, team_id: str, slack_user_id: str) -> Known | None:
    """The Slack user's person, in any status; None for an unlinked workspace."""
    organisation = find(tx, team_id)
    if organisation is None:
        return None
    return Known(
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
        found = find(tx, team_id)
        if found is not None and found.id == organisation.id:
            return  # Another transaction linked it meanwhile.
        raise AlreadyExists("{name} belongs to another workspace.", name=organisation.name)
    by = Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source=source,
    )
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
    """The workspace's organisation; the deployment's only one, if it has no workspace yet.

    None if there is neither. The caller has verified that the workspace is the bot token's own.
    """
    found = find(tx, team_id)
    if found is not None:
        return found
    only = organisations.only_one(tx)
    if only is None or only.slack_team_id is not None:
        return None
    link(tx, only, team_id, source="slack", now=now)
    return find(tx, team_id)


def remember_slack_id(
    tx: Transaction, organisation_id: str, user_id: str, slack_user_id: str, *, now: datetime
) -> None:
    """Link a person to a Slack user, unless either is linked already."""
    # Provisioning takes this lock first, too: a Slack user belongs to one person.
    locks.organisation(tx, organisation_id)
    user = people_rows.find(tx, organisation_id, user_id, for_update=True)
    if user is None or user.slack_user_id is not None:
        return
    if people_rows.find_by_slack_id(tx, organisation_id, slack_user_id) is not None:
        return
    by = Caller(
        organisation_id=organisation_id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="slack",
    )
    linked = replace(user, slack_user_id=slack_user_id)
    people_changes.save(tx, user, linked, "user.linked_to_slack", by=by, now=now)


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
