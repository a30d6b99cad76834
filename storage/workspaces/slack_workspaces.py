"""The Slack workspaces of organisations, and the people who interact from them or view Home.

A workspace is linked only with proof from both sides. Slack vouches that the installer may install
in the workspace (the code from its consent page, bound to the browser by the state), that they are
a full member there, and that they have confirmed their e-mail address. Hiatus requires that exactly
one organisation without a workspace has the address's domain, and that the address is that of one
of its active admins or owners.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from peewee import Select

from storage.admin import organisations
from storage.admin.organisations import NewOrganisation
from storage.base import texts
from storage.base.calendar_values import FeedScope
from storage.base.errors import AlreadyExists, Forbidden
from storage.base.values import Caller, Organisation, Source, User
from storage.db import rows
from storage.db.compiled import Param, any_of_keys, compiled, json_of_keys
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow, SlackHomeRow
from storage.outbox import audit, organisation_config
from storage.people import people_changes, people_rows, slack_syncs
from storage.people.people_rows import SlackProfile
from storage.workspaces import join_policy
from storage.workspaces.join_policy import country_of_timezone, employer_domain


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceUser:
    """The organisation of a Slack user's workspace, and their person in it."""

    organisation: Organisation
    user: User | None


def find(tx: Transaction, team_id: str) -> Organisation | None:
    row = tx.find(OrganisationRow, slack_team_id=team_id)
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
        changes = {"slack_team_id": team_id, "updated_at": now}
        linked = tx.update(OrganisationRow, changes, id=organisation.id, slack_team_id=None)
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


# Where the installer's time zone is in no known country.
_DEFAULT_COUNTRY: Final = "US"
_DEFAULT_TIMEZONE: Final = "UTC"
_ADMINS: Final = ("admin", "owner")


class NotLinked(Forbidden):
    """While installing the Slack app: an existing organisation may be meant, but nothing proves
    that the installer may act for it.
    """

    code = "workspace_not_linked"
    title = "This workspace was not linked to an organisation."
    cure = "Ask an operator to run `hiatus slack link`, then install the app again."
    example = ("An administrator can link it with `hiatus slack link`.",)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewInstallation:
    """What Slack returned for an installation; ``scopes`` are those granted."""

    team_id: str
    team_name: str
    enterprise_id: str | None
    bot_id: str
    bot_user_id: str
    bot_token: str
    scopes: tuple[str, ...]
    installer: SlackProfile

    def __repr__(self) -> str:
        return f"NewInstallation({self.team_id!r})"


def find_match(tx: Transaction, new: NewInstallation) -> Organisation | None:
    """The organisation whose admin the installer is; None without candidates. Raises NotLinked."""
    email = (new.installer.email or "").strip()
    domain = employer_domain(email)
    if domain is None:
        return None
    # Those that a workspace of that domain might belong to.
    candidates = tx.select(OrganisationRow, domain=domain, slack_team_id=None)
    if not candidates:
        return None
    if new.installer.is_email_confirmed:
        matching = [row for row in candidates if _is_admin(tx, row.id, email)]
        if len(matching) == 1:
            return rows.organisation(matching[0])
    raise NotLinked(
        "An organisation with addresses at {domain} already uses Hiatus. Ask one of its admins "
        "to install the app; their e-mail address must be confirmed in Slack and match the one "
        "in Hiatus. Or ask the people who run Hiatus to use `hiatus slack link`.",
        domain=domain,
    )


def _is_admin(tx: Transaction, organisation_id: str, email: str) -> bool:
    """Whether an active admin or owner of the organisation has the address."""
    user = people_rows.find_by_email(tx, organisation_id, email)
    return user is not None and user.status in ("pending", "active") and user.role in _ADMINS


def create_organisation(tx: Transaction, new: NewInstallation, *, now: datetime) -> Organisation:
    person = new.installer
    if not person.email:
        raise join_policy.NotAMember(
            "Slack doesn't show your e-mail address, and Hiatus needs one."
        )
    timezone = person.known_timezone or _DEFAULT_TIMEZONE
    first_name = texts.plain_name(person.first_name) or person.email.partition("@")[0]
    organisation, owner = organisations.create(
        tx,
        NewOrganisation(
            name=texts.plain_name(new.team_name) or new.team_id,
            country_code=country_of_timezone(person.timezone or "") or _DEFAULT_COUNTRY,
            timezone=timezone,
            owner_email=person.email,
            owner_first_name=first_name,
            # Slack requires one name only; an owner has both.
            owner_last_name=texts.plain_name(person.last_name) or first_name,
            domain=employer_domain(person.email) if person.is_email_confirmed else None,
        ),
        source="slack",
        now=now,
    )
    # Linked without a confirmed address: the organisation was created for this account.
    by = Caller.system(organisation.id, "slack")
    linked = replace(owner, slack_user_id=person.slack_user_id)
    people_changes.save(tx, owner, linked, "user.linked_to_slack", by=by, now=now)
    return organisation


# Slack reports every time the tab is opened. A person who opened it earlier is not viewing it.
VIEWED_FOR: Final = timedelta(days=7)
_NO_PART: Final = "-"
_PART_COUNT: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCursors:
    """The page of each list that the viewer sees, and whose absences are shown.

    ``scope`` None is the viewer's team, or everyone for a viewer without a department.
    """

    own: str | None = None
    waiting: str | None = None
    away: str | None = None
    scope: FeedScope | None = None

    def packed(self) -> str:
        """As the value of a button: three cursors and the scope."""
        return " ".join(
            part or _NO_PART for part in (self.own, self.waiting, self.away, self.scope)
        )

    @classmethod
    def unpacked(cls, packed: str) -> PageCursors:
        """The inverse of ``packed``; the first pages for any other value."""
        parts = [None if part == _NO_PART else part for part in packed.split(" ")]
        if len(parts) != _PART_COUNT:
            return cls()
        own, waiting, away, scope = parts
        return cls(
            own=own,
            waiting=waiting,
            away=away,
            scope="team" if scope == "team" else "org" if scope else None,
        )


def save_opened_home(tx: Transaction, cursors: PageCursors, *, by: Caller, now: datetime) -> None:
    """Save that the caller views Home, and the pages of its lists; ``home.load`` shows them."""
    key = {"organisation_id": by.organisation_id, "user_id": str(by.user_id)}
    tx.upsert(SlackHomeRow, key, cursors=cursors.packed(), opened_at=now)


def home_viewers(
    tx: Transaction, people: Iterable[tuple[str, str]], *, now: datetime
) -> set[tuple[str, str]]:
    """Those who opened Home recently, so that it has to be kept up to date.

    ``people`` are the ids of their organisation and their own.
    """
    since = now - VIEWED_FOR
    return {*tx.all(_viewers, people=json_of_keys(people), since=since)}


def find_opened_home(tx: Transaction, *, by: Caller, now: datetime) -> PageCursors | None:
    """The pages of the caller's Home in the last seven days; None if they are not viewing it."""
    row = tx.first(
        _opened_since,
        organisation_id=by.organisation_id,
        user_id=str(by.user_id),
        since=now - VIEWED_FOR,
    )
    return None if row is None else PageCursors.unpacked(row.cursors)


@compiled
def _opened_since(
    organisation_id: Param[str], user_id: Param[str], since: Param[datetime]
) -> Select:
    return SlackHomeRow.select(SlackHomeRow.cursors.alias("cursors")).where(
        SlackHomeRow.organisation_id == organisation_id,
        SlackHomeRow.user_id == user_id,
        SlackHomeRow.opened_at > since,
    )


@compiled
def _viewers(people: Param[str], since: Param[datetime]) -> Select:
    return SlackHomeRow.select(SlackHomeRow.organisation_id, SlackHomeRow.user_id).where(
        any_of_keys(SlackHomeRow, people, "user_id"), SlackHomeRow.opened_at > since
    )
