"""`/users/{id}/data` and `/users/{id}/erase`: what is kept about a person, and its removal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Body, Word
from api.http.operations import RequestContext, operation
from api.routes.users import USERS
from storage.admin import data_export, erasure
from storage.admin.effects import Effects
from storage.admin.personal_data import Erasure
from storage.base import errors
from storage.base.values import Id
from storage.db.database import Transaction
from storage.outbox.organisation_config import OrganisationConfig


class Confirmation(Body):
    confirm: Annotated[Word, Field(description="The person's e-mail address.")]


class PersonalDataRecord(TypedDict):
    """Everything that is kept about a person. The fields of rows are those of the database."""

    user_id: Id
    exported_at: datetime
    about: Annotated[
        dict[str, list[dict[str, object]]],
        Field(
            examples=[{"slack_profile": [{"locale": "en-GB"}]}],
            description="Rows about the person, by kind: `user`, `leave_requests`, `amendments`, "
            "`time_credits`, `allowance_adjustments`, `api_keys`, `calendar_feeds`, "
            "`slack_profile`, `notifications`, `webhook_events`, `audit_entries` and others.",
        ),
    ]
    done: Annotated[
        dict[str, list[dict[str, object]]],
        Field(
            examples=[{"leave_decided": []}],
            description="What the person did for others, or with Hiatus, and when: "
            "`leave_decided`, `leave_covered`, `actions` and others. Other people's notes are not "
            "in it.",
        ),
    ]
    cut: Annotated[
        list[str],
        Field(
            examples=[[]],
            description="Lists of which only the newest 10,000 rows are shown; usually none.",
        ),
    ]


class ErasureEffectsRecord(TypedDict):
    """What erasing the person would do. Nothing was changed."""

    dry_run: Literal[True]
    erasure: Erasure


def _shown(config: OrganisationConfig, changes: Effects) -> ErasureEffectsRecord:
    assert changes.erasure is not None
    return {"dry_run": True, "erasure": changes.erasure}


@operation(
    "GET",
    "/users/{id}/data",
    tag=USERS,
    kind="user",
    shows_secret=True,
    refusals=(errors.InsufficientRole,),
)
def export(tx: Transaction, context: RequestContext) -> PersonalDataRecord:
    """Export a person's data.

    For the person, admins and owners. Secrets are left out; other people appear as ids.
    """
    data = data_export.export(tx, context.id, by=context.caller, now=context.now)
    return {
        "user_id": data.user_id,
        "exported_at": data.exported_at,
        "about": data.about,
        "done": data.done,
        "cut": list(data.cut),
    }


@operation(
    "POST",
    "/users/{id}/erase",
    tag=USERS,
    kind="user",
    role="owner",
    dry_run=_shown,
    refusals=(erasure.NotArchived,),
    rules=("does_not_match",),
    example={"confirm": "ada@example.com"},
)
def erase(tx: Transaction, context: RequestContext, body: Confirmation) -> Erasure:
    """Erase a person.

    Removes everything that identifies an archived person: name, address, Slack account, notes,
    reasons, audit details, feeds and keys. Leave and balances stay under the id, without texts:
    they are pseudonymous, not anonymous. Cannot be undone. Webhooks get `user.erased`. A second
    time changes nothing. `remains` says what else there is to do, such as with backups.
    """
    return erasure.erase(
        tx,
        context.id,
        confirm=body.confirm,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


OPERATIONS = (export, erase)
