"""`/me`: what the API key in use is, and for whom it acts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.operations import RequestContext, Tag, operation
from storage.base.values import SCOPES, About, ApiKey, Id, Role, record_of
from storage.db.database import Transaction
from storage.keys import api_keys
from storage.people import people_rows

ME = Tag("Me", "The API key in use, the person for whom it acts, and their organisation.", "")


class CurrentKeyRecord(TypedDict):
    """The API key in use. Writing includes reading, so `scopes` name both."""

    id: Id
    name: Annotated[str, About(example="payroll")]
    scopes: Annotated[list[str], About(enum=SCOPES)]
    variant: Annotated[int, Field(description="The shape of the response of `GET /users`.")]
    expires_at: datetime | None


class CurrentUserRecord(TypedDict):
    """The person for whom the key acts, within their role."""

    id: Id
    email: Annotated[str, About(format="email")]
    first_name: Annotated[str, About(example="Ada")]
    last_name: Annotated[str, About(example="Lovelace")]
    role: Role
    timezone: Annotated[str | None, Field(description="In Slack; null if it is not known.")]
    locale: Annotated[str | None, Field(description="In Slack, such as `en-GB`; else null.")]


class CurrentOrganisationRecord(TypedDict):
    """Their organisation."""

    id: Id
    name: Annotated[str, About(example="Acme")]
    slug: Annotated[str, About(example="acme")]
    country_code: Annotated[str, About(example="GB")]
    timezone: Annotated[str, About(example="Europe/London")]


class LinksRecord(TypedDict):
    """Where to read on."""

    user: Annotated[str, About(format="uri")]
    organisation: Annotated[str, About(format="uri")]
    documentation: Annotated[str, About(format="uri")]
    openapi: Annotated[str, About(format="uri")]


class MeRecord(TypedDict):
    """Who calls."""

    key: CurrentKeyRecord
    user: CurrentUserRecord
    organisation: CurrentOrganisationRecord
    links: LinksRecord


@operation("GET", "/me", tag=ME)
def get(tx: Transaction, context: RequestContext) -> MeRecord:
    """Read who the key acts for.

    Every key belongs to a person and acts as that person. Use it to check a key, and to greet whom
    it belongs to.
    """
    caller = context.caller
    # A request over HTTP has a key, and a key has a person.
    assert caller.key_id is not None
    assert caller.user_id is not None
    key = api_keys.get(tx, caller.key_id, by=caller)
    person = people_rows.get(tx, caller.user_id, by=caller)
    locale = people_rows.locale_of(tx, caller.organisation_id, person.id)
    organisation = context.config(tx).organisation
    base_url = context.base_url
    return {
        "key": _key(key, caller.scopes),
        "user": record_of(CurrentUserRecord, person, locale=locale),
        "organisation": record_of(CurrentOrganisationRecord, organisation),
        "links": {
            "user": f"{base_url}/api/v1/users/{person.id}",
            "organisation": f"{base_url}/api/v1/organisation",
            "documentation": f"{base_url}/docs",
            "openapi": f"{base_url}/openapi.json",
        },
    }


def _key(key: ApiKey, scopes: frozenset[str]) -> CurrentKeyRecord:
    record: CurrentKeyRecord = record_of(CurrentKeyRecord, key, scopes=sorted(scopes))
    return record


OPERATIONS = (get,)
