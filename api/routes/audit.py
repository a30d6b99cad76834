"""`/audit`: the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, get_args

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Day, LastDay, Listing, Paged, Uuid, listing_of
from api.http.operations import RequestContext, Tag, operation
from storage.base.event_values import AuditAction, AuditEntry
from storage.base.values import About, Id, Source
from storage.db.database import Transaction
from storage.outbox import audit

AUDIT = Tag("Audit", "Every change: what, when, by whom and from where.", "audit")


class ListOfAuditEntries(Paged):
    action: Annotated[AuditAction | None, Field(description="Only changes of this kind.")] = None
    actor_id: Annotated[Uuid | None, Field(description="Only changes made by this person.")] = None
    subject_id: Annotated[
        Uuid | None, Field(description="Only changes to the object with this id.")
    ] = None
    first_day: Annotated[
        Day | None, Field(alias="from", description="From this day on, in UTC.")
    ] = None
    last_day: Annotated[
        LastDay, Field(alias="to", description="Up to the end of this day, in UTC.")
    ] = None


class ChangeRecord(TypedDict):
    """One field before and after."""

    before: object
    after: object


class ActorRecord(TypedDict):
    """Who made the change; `id` is null for the system itself."""

    type: Annotated[str, About(enum=("user", "system"))]
    id: Id | None


class SubjectRecord(TypedDict):
    """The object that was changed."""

    type: Annotated[str, About(example="leave_request")]
    id: Id


class AuditRecord(TypedDict):
    """One audited change."""

    id: Id
    action: Annotated[str, About(enum=get_args(AuditAction))]
    timestamp: datetime
    actor: ActorRecord
    source: Source
    subject: SubjectRecord
    changes: Annotated[
        dict[str, ChangeRecord],
        About(example={"status": {"before": "pending", "after": "approved"}}),
    ]
    request_id: str | None


def _audit_record(value: AuditEntry) -> AuditRecord:
    return {
        "id": value.id,
        "action": value.action,
        "timestamp": value.timestamp,
        "actor": {"type": "user" if value.actor_id else "system", "id": value.actor_id},
        "source": value.source,
        "subject": {"type": value.subject_type, "id": value.subject_id},
        "changes": value.changes,  # type: ignore[typeddict-item]  # stored in this very shape
        "request_id": value.request_id,
    }


@operation("GET", "/audit", tag=AUDIT, role="admin", rules=("to_before_from",))
def page(
    tx: Transaction, context: RequestContext, query: ListOfAuditEntries
) -> Listing[AuditRecord]:
    """List audit entries.

    Newest first.
    """
    page = audit.entries(
        tx,
        query.page,
        by=context.caller,
        action=query.action,
        actor_id=query.actor_id,
        subject_id=query.subject_id,
        first_day=query.first_day,
        last_day=query.last_day,
    )
    return listing_of(page, _audit_record)


OPERATIONS = (page,)
