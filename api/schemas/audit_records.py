"""Entries of the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, get_args

from typing_extensions import TypedDict

from storage.base.event_values import AuditAction, AuditEntry
from storage.base.records import About, Id
from storage.base.values import (
    Source,
)


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


def audit_entry(value: AuditEntry) -> AuditRecord:
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
