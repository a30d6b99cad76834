"""How somebody of a linked Slack workspace becomes one of the organisation's people."""

from __future__ import annotations

from datetime import datetime

from storage import fields, locks, people_rows, reference
from storage.database import Transaction
from storage.errors import Forbidden, InvalidInput
from storage.values import Caller, User


class NotAMember(Forbidden):
    """The Slack user is nobody of the organisation, or may not act for it any more."""

    code = "not_a_member"
    title = "You are not a member of this organisation."


def join_from_slack(
    tx: Transaction,
    organisation_id: str,
    *,
    slack_user_id: str,
    email: str | None,
    first_name: str,
    last_name: str,
    timezone: str | None,
    avatar_url: str | None,
    now: datetime,
) -> User:
    """The active person behind a full member of the workspace, made where there is none.

    Matched by Slack id, else by e-mail without case, which stores the Slack id; pending turns
    active. Guests, bots and strangers are the caller's to keep out. Raises NotAMember when the
    person is archived or deactivated, or unknown and the organisation lets nobody join.
    Source: contract 10.
    """
    known = people_rows.find_by_slack_id(tx, organisation_id, slack_user_id)
    if known is not None and known.status == "active":
        return known
    # Slack sends the same first word several times at once; only one may make the person.
    locks.organisation(tx, organisation_id)
    by = Caller(organisation_id, None, "owner", frozenset(), "slack")
    known = people_rows.find_by_slack_id(tx, organisation_id, slack_user_id)
    if known is None and email:
        known = people_rows.find_by_email(tx, organisation_id, email.strip())
    known = known and people_rows.find(tx, organisation_id, known.id, is_held=True)
    if known is not None:
        return _recognised(tx, known, slack_user_id, timezone, avatar_url, by=by, now=now)
    if not reference.of_organisation(tx, organisation_id).organisation.slack_members_join:
        raise NotAMember("Ask an admin of your organisation to add you.")
    return _joined(
        tx,
        slack_user_id,
        email,
        (first_name, last_name),
        timezone,
        avatar_url,
        by=by,
        now=now,
    )


def _recognised(
    tx: Transaction,
    user: User,
    slack_user_id: str,
    timezone: str | None,
    avatar_url: str | None,
    *,
    by: Caller,
    now: datetime,
) -> User:
    if user.status in ("archived", "deactivated"):
        raise NotAMember("Your account is switched off; ask an admin of your organisation.")
    after = user._replace(
        slack_user_id=slack_user_id,
        status="active",
        timezone=user.timezone or _timezone(timezone),
        avatar_url=avatar_url or user.avatar_url,
    )
    if after == user:
        return user
    # Being recognised is for him who was active before, being activated for him who was not.
    action = "user.activated" if user.status == "pending" else "user.linked_to_slack"
    return people_rows.save(tx, user, after, action, by=by, now=now)


def _joined(
    tx: Transaction,
    slack_user_id: str,
    email: str | None,
    names: tuple[str, str],
    timezone: str | None,
    avatar_url: str | None,
    *,
    by: Caller,
    now: datetime,
) -> User:
    try:
        address = fields.email(email, "email")
    except InvalidInput as error:
        raise NotAMember("Slack shows no e-mail address of yours; ask an admin.") from error
    values = {
        "email": address,
        # Slack asks for one name only: the last may be empty, the first never is.
        "first_name": fields.plain_name(names[0]) or address.partition("@")[0],
        "last_name": fields.plain_name(names[1]),
        "timezone": _timezone(timezone),
        "avatar_url": avatar_url,
        "slack_user_id": slack_user_id,
    }
    return people_rows.add(tx, values, "active", by=by, now=now)


def _timezone(name: str | None) -> str | None:
    """The zone where it is known: one that is not keeps nobody out."""
    return name if name is not None and fields.is_timezone(name) else None
