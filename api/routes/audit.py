"""`/audit`: what was changed, by whom."""

from __future__ import annotations

from typing import Any

from api.answers import Listing, listing
from api.operations import Call, Operation
from api.queries import ListOfAuditEntries
from storage import audit, errors, records
from storage.database import Transaction
from storage.records import AuditRecord


def page(tx: Transaction, call: Call) -> Any:
    query: ListOfAuditEntries = call.query
    found = audit.entries(
        tx,
        query.page,
        by=call.caller,
        action=query.action,
        actor_id=query.actor_id,
        subject_id=query.subject_id,
        first_day=query.first_day,
        last_day=query.last_day,
    )
    return listing(found, records.audit_entry)


OPERATIONS = (
    Operation(
        method="GET",
        path="/audit",
        summary="List changes",
        description="Newest first.",
        handler=page,
        tag="Audit",
        scope="audit:read",
        role="admin",
        query=ListOfAuditEntries,
        result=Listing[AuditRecord],
        refusals=(errors.UnusableCursor,),
    ),
)
