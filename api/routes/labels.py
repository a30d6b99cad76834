"""`/labels`: labels for people."""

from __future__ import annotations

from api.http.context import RequestContext, Result, created
from api.http.fields import ABSENT, Body, Colour, Listing, Name, Paged, listing
from api.http.operations import operation
from api.routes import effects
from api.routes.users import USERS
from storage.admin import labels
from storage.admin.labels import Label
from storage.base import errors
from storage.db.database import Transaction

_RULES = ("control_character", "invalid_colour", "invalid_length", "no_visible_letter")


class LabelChanges(Body):
    name: Name = ABSENT
    colour: Colour = ABSENT


class NewLabel(LabelChanges):
    name: Name
    colour: Colour


@operation("GET", "/labels", tag=USERS, scope="users:read")
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[Label]:
    """List labels.

    The organisation's labels for people, in order of creation.
    """
    return listing(labels.page(tx, query.page, by=context.caller))


@operation("GET", "/labels/{id}", tag=USERS, scope="users:read", kind="label", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> Label:
    """Read a label.

    Any label of the organisation.
    """
    return labels.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/labels",
    tag=USERS,
    scope="users:write",
    role="admin",
    status=201,
    resource=get,
    refusals=(errors.NameTaken, labels.TooManyLabels),
    rules=_RULES,
    example={"name": "First aider", "colour": "#2e86de"},
)
def create(tx: Transaction, context: RequestContext, body: NewLabel) -> Result[Label]:
    """Create a label.

    Names are unique, ignoring case. An organisation has at most 50 labels.
    """
    label = labels.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/labels/{label.id}", label)


@operation(
    "PATCH",
    "/labels/{id}",
    tag=USERS,
    scope="users:write",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(errors.NameTaken,),
    rules=_RULES,
    example={"colour": "#10ac84"},
)
def update(tx: Transaction, context: RequestContext, body: LabelChanges) -> Label:
    """Change a label.

    Omitted fields stay unchanged.
    """
    return labels.update(tx, context.id, body.sent(), by=context.caller, now=context.now)


@operation(
    "DELETE",
    "/labels/{id}",
    tag=USERS,
    scope="users:write",
    role="admin",
    status=204,
    resource=get,
    dry_run=effects.shown,
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a label.

    Its name can be used again.
    """
    labels.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
