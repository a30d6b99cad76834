"""`/audit`: the audit log."""

from __future__ import annotations

from api.http.context import RequestContext
from api.http.operations import Tag, operation
from api.schemas import audit_records
from api.schemas.audit_records import AuditRecord
from api.schemas.lists import Listing, listing
from api.schemas.queries import ListOfAuditEntries
from storage.db.database import Transaction
from storage.events import audit

AUDIT = Tag("Audit", "Every change: what, when, by whom and from where.")


@operation("GET", "/audit", tag=AUDIT, scope="audit:read", role="admin", rules=("to_before_from",))
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
    return listing(page, audit_records.audit_entry)


OPERATIONS = (page,)
