"""Installations by OAuth: a workspace is linked to an organisation, its token stored or removed.

A new workspace is linked only with proof from both sides. Slack vouches that the installer may
install in the workspace (the code from its consent page, bound to the browser by the state), that
they are a full member there, and that they have confirmed their e-mail address. Hiatus requires
that exactly one organisation without a workspace has the address's domain, and that the address is
that of one of its active admins or owners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from cryptography.fernet import InvalidToken
from peewee import Delete, Select, Update

from storage.admin import organisations
from storage.admin.organisation_defaults import country_of_timezone, employer_domain
from storage.admin.organisations import NewOrganisation
from storage.base import fields, texts
from storage.base.errors import AlreadyExists, Forbidden
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, Organisation
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow, SlackInstallationRow, UserRow
from storage.directory import people_changes, slack_locales
from storage.directory.slack_matching import SlackProfile
from storage.events import audit, organisation_config
from storage.notifications import notifications
from storage.slack import join_policy, reinstallation, slack_workspaces

Kind = Literal["created", "linked", "renewed"]

# Where the installer's time zone tells no country.
_DEFAULT_COUNTRY: Final = "US"
_DEFAULT_ZONE: Final = "UTC"


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
class NewInstallation:
    """What Slack returned for an installation; ``scopes`` were granted."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """The workspace's organisation, and how it came by it."""

    organisation: Organisation
    kind: Kind


class NotLinked(Forbidden):
    """An organisation may be meant, and there is no proof that the installer speaks for it."""

    code = "workspace_not_linked"
    title = "This workspace was not linked to an organisation."


class TokenUnreadable(Exception):
    """No key of this deployment decrypts the workspace's token; the operator has to restore it."""


def find(tx: Transaction, team_id: str) -> Installation | None:
    """The workspace's installation; None without one. Raises TokenUnreadable."""
    row = tx.first(_installation, team_id=team_id)
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


def install(tx: Transaction, new: NewInstallation, *, now: datetime) -> Installed:
    """Keep the installation, for the workspace's organisation or a new one; again renews the token.

    The installer of a workspace that is new here becomes one of the organisation's people: its
    owner where it is made. Raises NotLinked, join_policy.NotAMember, or AlreadyExists when the
    organisation gets another workspace at the same moment; then nothing has changed.
    """
    # Two installations of one workspace would each see a part of what the other one writes.
    locks.workspace(tx, new.team_id)
    found = slack_workspaces.find(tx, new.team_id)
    if found is not None:
        _save(tx, found.id, new, now=now)
        return Installed(organisation=found, kind="renewed")
    matching = _matching(tx, new)
    organisation = matching or _create(tx, new, now=now)
    slack_workspaces.link(tx, organisation, new.team_id, source="slack", now=now)
    _save(tx, organisation.id, new, now=now)
    _join(tx, organisation.id, new.installer, now=now)
    return Installed(organisation=organisation, kind="linked" if matching else "created")


def uninstall(tx: Transaction, team_id: str, *, at: datetime, now: datetime) -> bool:
    """Forget the token of what was installed before ``at``; whether there was such a thing.

    The organisation keeps its data and its workspace: installing again goes on where this ended.
    """
    ended = tx.first(_end, team_id=team_id, at=at, now=now)
    if ended is None:
        return False
    organisation_id, installation_id = ended
    _record(tx, "slack_installation.ended", organisation_id, installation_id, now, {})
    notifications.give_up(tx, organisation_id, now=now)
    return True


def link_by_token(tx: Transaction, team_id: str, *, now: datetime) -> Organisation | None:
    """As ``slack_workspaces.link_only_organisation``, for the workspace of the settings' token.

    What was installed there by OAuth, and ended, stands in its way no longer.
    """
    organisation = slack_workspaces.link_only_organisation(tx, team_id, now=now)
    if organisation is None:
        return None
    row = tx.first(_any_of_team, organisation_id=organisation.id, team_id=team_id)
    if row is not None and row.uninstalled_at is not None:
        installation_id, uninstalled_at = row
        tx.change(_forget, organisation_id=organisation.id, installation_id=installation_id)
        details = {"team_id": team_id}
        _record(tx, "slack_installation.replaced", organisation.id, installation_id, now, details)
        since = rows.instant(uninstalled_at)
        reinstallation.show_missed(tx, organisation.id, since=since, now=now)
    return organisation


def _matching(tx: Transaction, new: NewInstallation) -> Organisation | None:
    """The organisation that the installer speaks for. Raises NotLinked when that is not proven."""
    email = (new.installer.email or "").strip()
    domain = employer_domain(email)
    if domain is None:
        return None
    candidates = tx.all(_of_domain, domain=domain)
    if not candidates:
        return None
    if new.installer.is_email_confirmed:
        matching = tx.all(_administered, domain=domain, email_key=email.casefold())
        if len(matching) == 1:
            return rows.organisation(matching[0])
    raise NotLinked(
        "An organisation with addresses at {domain} already uses Hiatus. Ask one of its admins "
        "to install the app; their e-mail address must be confirmed in Slack and match the one "
        "in Hiatus. Or ask the people who run Hiatus to use `hiatus slack link`.",
        domain=domain,
    )


def _create(tx: Transaction, new: NewInstallation, *, now: datetime) -> Organisation:
    person = new.installer
    if not person.email:
        raise join_policy.NotAMember("Slack shows no e-mail address of yours; Hiatus needs one.")
    zone = person.timezone or ""
    first_name = texts.plain_name(person.first_name) or person.email.partition("@")[0]
    organisation, owner = organisations.create(
        tx,
        NewOrganisation(
            name=texts.plain_name(new.team_name) or new.team_id,
            country_code=country_of_timezone(zone) or _DEFAULT_COUNTRY,
            timezone=zone if fields.is_timezone(zone) else _DEFAULT_ZONE,
            owner_email=person.email,
            owner_first_name=first_name,
            # Slack asks for one name only; an owner has both.
            owner_last_name=texts.plain_name(person.last_name) or first_name,
            domain=employer_domain(person.email) if person.is_email_confirmed else None,
        ),
        source="slack",
        now=now,
    )
    # Made for this account, whether or not Slack has confirmed its address.
    by = Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="slack",
    )
    linked = replace(owner, slack_user_id=person.slack_user_id)
    people_changes.save(tx, owner, linked, "user.linked_to_slack", by=by, now=now)
    return organisation


def _join(tx: Transaction, organisation_id: str, person: SlackProfile, *, now: datetime) -> None:
    user = join_policy.join_from_slack(tx, organisation_id, person, now=now)
    slack_locales.keep(
        tx,
        organisation_id,
        user.id,
        person.locale,
        now=now,
        slack_updated_at=person.updated_at,
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
    row = tx.first(_any_of_team, organisation_id=organisation_id, team_id=new.team_id)
    installation_id = new_id(now) if row is None else row.id
    if row is None:
        _insert(tx, organisation_id, installation_id, new.team_id, columns)
    else:
        place = {"organisation_id": organisation_id, "id": installation_id}
        tx.update(SlackInstallationRow, columns, **place)
    uninstalled_at = None if row is None else row.uninstalled_at
    action: AuditAction = (
        "slack_installation.created" if row is None else "slack_installation.renewed"
    )
    details = {"team_id": new.team_id, "scopes": list(new.scopes)}
    details["installed_by"] = new.installer.slack_user_id
    _record(tx, action, organisation_id, installation_id, now, details)
    if row is None or uninstalled_at is not None:
        since = rows.instant_or_none(uninstalled_at)
        reinstallation.show_missed(tx, organisation_id, since=since, now=now)


def _insert(
    tx: Transaction,
    organisation_id: str,
    installation_id: str,
    team_id: str,
    columns: dict[str, object],
) -> None:
    place = {"organisation_id": organisation_id, "id": installation_id, "team_id": team_id}
    try:
        tx.insert(SlackInstallationRow, **place, **columns)
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
    by = Caller(
        organisation_id=organisation_id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="slack",
    )
    subject = ("slack_installation", installation_id)
    audit.record(tx, action, *subject, by=by, now=now, after=after)
    organisation_config.changed(tx, organisation_id)


@compiled
def _installation(team_id: Param[str]) -> Select:
    row = SlackInstallationRow
    columns: Sequence[Expr] = (
        row.organisation_id,
        row.team_id,
        row.enterprise_id,
        row.bot_id,
        row.bot_user_id,
        row.bot_token_encrypted,
        row.installed_at,
    )
    return row.select(*columns).where(row.team_id == team_id, row.uninstalled_at.is_null())


@compiled
def _end(team_id: Param[str], at: Param[datetime], now: Param[datetime]) -> Update:
    row = SlackInstallationRow
    return (
        row.update({row.bot_token_encrypted: "", row.uninstalled_at: now})
        .where(row.team_id == team_id, row.uninstalled_at.is_null(), row.installed_at <= at)
        .returning(row.organisation_id, row.id)
    )


@compiled_per_engine
def _any_of_team(engine: Engine, organisation_id: Param[str], team_id: Param[str]) -> Select:
    """Held: what ends it at the same moment is over before, or comes after."""
    row = SlackInstallationRow
    query = row.select(row.id, row.uninstalled_at).where(
        row.organisation_id == organisation_id, row.team_id == team_id
    )
    return locks.locked(query, engine)


@compiled
def _forget(organisation_id: Param[str], installation_id: Param[str]) -> Delete:
    row = SlackInstallationRow
    return row.delete().where(row.organisation_id == organisation_id, row.id == installation_id)


@compiled
def _of_domain(domain: Param[str]) -> Select:
    """The organisations that a workspace of that domain might belong to; two say enough."""
    row = OrganisationRow
    return row.select(row.id).where(row.domain == domain, row.slack_team_id.is_null()).limit(2)


@compiled
def _administered(domain: Param[str], email_key: Param[str]) -> Select:
    """The organisations among them that the owner of the address runs."""
    row = OrganisationRow
    return (
        row.select(*rows.ORGANISATION)
        .join(UserRow, on=(UserRow.organisation_id == row.id))
        .where(
            row.domain == domain,
            row.slack_team_id.is_null(),
            UserRow.email_key == email_key,
            UserRow.role.in_(("admin", "owner")),
            UserRow.status.in_(("pending", "active")),
        )
        .limit(2)
    )
