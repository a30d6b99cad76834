"""Erases an archived person: what identifies them goes, what others count with stays.

The row of the person stays with its id, and so do leave and balances. That is pseudonymous data,
not anonymous data: docs/privacy.md says so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import Select

from storage.admin import leave_texts, personal_data
from storage.admin.effects import EffectsRecorder
from storage.admin.personal_data import SECTIONS, Erasure, Remains
from storage.base import texts
from storage.base.errors import Conflict, InvalidInput, Sentence
from storage.base.values import Caller, User, user_summary
from storage.db import locks, rows
from storage.db.compiled import NOT_NULL, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    AuditRow,
    LeaveRequestRow,
    SlackInstallationRow,
    SlackMessageRow,
    UserRow,
)
from storage.keys import idempotency
from storage.outbox import (
    audit,
    notification_outbox,
    organisation_config,
    time_credit_outbox,
    webhook_outbox,
)
from storage.people import people_rows
from storage.rules import roles

# The reserved domain cannot receive mail (RFC 2606).
_ERASED_EMAIL: Final = "{id}@erased.invalid"


class NotArchived(Conflict):
    """Only archived people can be erased: everyone else still uses Hiatus."""

    code = "not_archived"
    title = "The user is not archived."
    cure = "Archive the person first (`DELETE /users/{id}`)."
    sentence = Sentence("Only archived people can be erased. Archive this person first.")


_REMAINS: Final = (
    Remains(
        where="backups",
        what_to_do="Backups made before now still contain the person. Let them expire, and after "
        "restoring one of them erase the person again.",
    ),
    Remains(
        where="slack",
        what_to_do="Slack keeps messages in direct messages and channels by the retention "
        "settings of the workspace. Hiatus rewrites the cards that approvers have, and not the "
        "replies below them.",
    ),
    Remains(
        where="receivers",
        what_to_do="Systems that read the API, webhooks, calendars or exports have their own "
        "copies. Webhooks that subscribe to user.erased are told.",
    ),
    Remains(
        where="logs",
        what_to_do="Logs have ids and addresses of the network, and no names; delete them by "
        "your own schedule.",
    ),
)
_FILES: Final = {
    "sqlite": Remains(
        where="database_files",
        what_to_do="Hiatus empties the write-ahead log beside the database file after the "
        "erasure. If a long read prevents that, the log holds earlier pages until later.",
    ),
    "postgresql": Remains(
        where="database_files",
        what_to_do="PostgreSQL's files hold dead rows until vacuum removes them, and archived "
        "write-ahead logs hold them for as long as you keep these.",
    ),
}


class UserErased(Conflict):
    """The person was erased, so there is no one to restore."""

    code = "user_erased"
    title = "The user was erased."
    cure = "Create a new user."
    sentence = Sentence("This person was erased and cannot be restored. Create a new user.")


def erase(
    tx: Transaction,
    user_id: str,
    *,
    confirm: str,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Erasure:
    """Erase an archived person; ``confirm`` is their address. A second time changes nothing.

    Raises InsufficientRole (owners only), NotFound, NotArchived, or InvalidInput ``does_not_match``
    at ``/confirm``; then nothing has changed.
    """
    roles.check_role(by.role, "owner")
    locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    erased_at = erased_on(tx, by.organisation_id, user_id)
    if erased_at is None:
        erasure = _erase(tx, user, confirm, by=by, now=now)
    else:
        erasure = _result(tx, user.id, erased_at)
    if recorder is not None:
        recorder.effects = replace(recorder.effects, erasure=erasure)
    return erasure


def erased_on(tx: Transaction, organisation_id: str, user_id: str) -> datetime | None:
    """When the person was erased; None if they were not."""
    row = tx.find(UserRow, organisation_id=organisation_id, id=user_id, erased_at=NOT_NULL)
    return None if row is None else rows.instant(row.erased_at)


def _erase(tx: Transaction, user: User, confirm: str, *, by: Caller, now: datetime) -> Erasure:
    if user.status != "archived":
        raise NotArchived
    if texts.email_key(confirm.strip()) != texts.email_key(user.email):
        raise InvalidInput.of(
            "confirm", "does_not_match", "Enter the e-mail address of the person to erase."
        )
    organisation_id = by.organisation_id
    # A decision on this leave that is being written meanwhile ends first, with its audit entry.
    tx.select(LeaveRequestRow, locks.ROW, organisation_id=organisation_id, user_id=user.id)
    ids = personal_data.ids_of(tx, organisation_id, user)
    erased = replace(
        user,
        email=_ERASED_EMAIL.format(id=user.id),
        first_name=personal_data.ERASED_FIRST_NAME,
        last_name=personal_data.ERASED_LAST_NAME,
    )
    config = organisation_config.of_organisation(tx, organisation_id)
    cards: list[tuple[str, str]] = []
    credit_cards: list[tuple[str, str]] = []
    if config.is_in_slack:
        cards = _cards(tx, organisation_id, user.id, ids["leave"])
        of_credits = time_credit_outbox.cards_of(tx, organisation_id, ids["credits"])
        credit_cards = [each for each in of_credits if each[1] != user.id]
    leave_texts.remove(
        tx, organisation_id, leave_ids=ids["leave"], credit_ids=ids["credits"], now=now
    )
    about = [*ids["leave"], *ids["credits"]]
    events = leave_texts.rewrite_events(tx, organisation_id, about, {"user": user_summary(erased)})
    removed = audited = 0
    for name, section in SECTIONS.items():
        where = {"organisation_id": organisation_id, section.column: ids[section.key]}
        if section.left is None:
            removed += tx.delete(section.table, **where)
        elif section.left:
            count = tx.update(section.table, dict(section.left), **where)
            audited = count if name == "audit_entries" else audited
    _forget_installer(tx, organisation_id, user)
    # Any of them may have the person in it.
    idempotency.delete_answers(tx, organisation_id)
    _write(tx, erased, by=by, now=now)
    webhook_outbox.enqueue_user_erased(tx, user.id, user.version + 1, config=config, now=now)
    notification_outbox.rewrite_cards(tx, organisation_id, cards, now=now)
    time_credit_outbox.rewrite_cards(tx, organisation_id, credit_cards, now=now)
    tx.empty_log()
    return _result(
        tx,
        user.id,
        now,
        leave_requests=len(ids["leave"]),
        audit_entries=audited,
        webhook_events=events,
        slack_cards=len(cards) + len(credit_cards),
        removed_rows=removed,
    )


def _write(tx: Transaction, erased: User, *, by: Caller, now: datetime) -> None:
    organisation_id = by.organisation_id
    changes = {
        "email": erased.email,
        "email_key": texts.email_key(erased.email),
        "erased_at": now,
        "updated_at": now,
        "version": erased.version + 1,
    }
    tx.update(UserRow, changes, organisation_id=organisation_id, id=erased.id)
    after = {"erased_at": now}
    audit.record(tx, "user.erased", "user", erased.id, by=by, now=now, after=after)
    organisation_config.count_feed_change(tx, organisation_id, erased.id)
    organisation_config.raise_feed_sequence(tx, organisation_id, now=now)


def _cards(
    tx: Transaction, organisation_id: str, user_id: str, leave_ids: list[str]
) -> list[tuple[str, str]]:
    """Request and recipient of the messages in Slack that show the person's leave to others."""
    posted = tx.select(SlackMessageRow, organisation_id=organisation_id, leave_request_id=leave_ids)
    return [(row.leave_request_id, row.user_id) for row in posted if row.user_id != user_id]


def _forget_installer(tx: Transaction, organisation_id: str, user: User) -> None:
    """The person may have installed the app in Slack."""
    if user.slack_user_id is None:
        return
    tx.update(
        SlackInstallationRow,
        {"installed_by": None},
        organisation_id=organisation_id,
        installed_by=user.slack_user_id,
    )
    entries = tx.all(
        _installations, organisation_id=organisation_id, like=f'%"{user.slack_user_id}"%'
    )
    leave_texts.write_changes(
        tx,
        organisation_id,
        {row.id: row.changes for row in entries},
        {"installed_by": {"before": None, "after": None}},
    )


@compiled
def _installations(organisation_id: Param[str], like: Param[str]) -> Select:
    return AuditRow.select(AuditRow.id, AuditRow.changes).where(
        AuditRow.organisation_id == organisation_id,
        AuditRow.action.in_(
            (
                "slack_installation.created",
                "slack_installation.renewed",
                "slack_installation.replaced",
            )
        ),
        AuditRow.changes**like,
    )


def _result(
    tx: Transaction,
    user_id: str,
    erased_at: datetime,
    *,
    leave_requests: int = 0,
    audit_entries: int = 0,
    webhook_events: int = 0,
    slack_cards: int = 0,
    removed_rows: int = 0,
) -> Erasure:
    return Erasure(
        user_id=user_id,
        erased_at=erased_at,
        leave_requests=leave_requests,
        audit_entries=audit_entries,
        webhook_events=webhook_events,
        slack_cards=slack_cards,
        removed_rows=removed_rows,
        remains=(_REMAINS[0], _FILES[tx.engine], *_REMAINS[1:]),
    )
