"""Shared by the commands: the database, the organisation, the caller, output and errors.

With ``--json`` standard output holds one object and nothing else. Exit codes: 0 done, 1 failed
with one sentence on standard error, 2 wrong usage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Final, NoReturn

import click
import orjson

from storage.admin import organisations
from storage.base import texts
from storage.base.environment import SettingsError
from storage.base.errors import (
    DatabaseUnavailable,
    DomainError,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    SchemaOutOfDate,
    SecretKeysUnusable,
)
from storage.base.settings import StorageSettings
from storage.base.values import Caller, Organisation
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.schema import check_schema
from storage.keys import stored_secrets
from storage.rules import holiday_calendar

Env = Mapping[str, str]
# Gives aware UTC datetimes.
Clock = Callable[[], datetime]

_MAX_REGIONS_NAMED: Final = 20

as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)
slug_option = click.option("--organisation", metavar="SLUG", required=True, help="Its slug.")
optional_slug_option = click.option(
    "--organisation", metavar="SLUG", help="Needed only where there are several organisations."
)


@contextmanager
def errors_on_stderr() -> Iterator[None]:
    """Turn errors that an operator can fix into a message on standard error and exit code 1."""
    try:
        yield
    except SettingsError as error:
        fail("\n".join(error.problems))
    except (DomainError, SchemaOutOfDate, SecretKeysUnusable) as error:
        fail(str(error))
    except OutcomeUnknown:
        fail(
            "The connection to the database was lost while the change was being saved. "
            "It may or may not have been saved. Check before you repeat the command."
        )
    except DatabaseUnavailable as error:
        # Drivers append lines of advice; the first line says what happened.
        fail(f"The database does not answer: {str(error).partition(chr(10))[0]}")


@contextmanager
def opened(env: Env, *, checks_keys: bool = True) -> Iterator[Database]:
    """The database that ``env`` names, closed at the end. Errors exit with 1.

    ``checks_keys``: check that the secret keys read what is in the database.
    """
    with errors_on_stderr():
        settings = StorageSettings.from_env(env)
        check_schema(settings.database_url, settings.database_timeout)
        database = open_database(
            settings.database_url, settings.secrets(), settings.database_timeout
        )
        try:
            if checks_keys:
                stored_secrets.check_keys(database)
            yield database
        finally:
            database.close()


def chosen_organisation(tx: Transaction, slug: str | None) -> Organisation:
    """The organisation of that slug, or the only one. Raises NotFound or InvalidInput."""
    if slug is not None:
        return organisations.by_slug(tx, slug)
    only = organisations.only_one(tx)
    if only is not None:
        return only
    if organisations.count(tx) == 0:
        raise NotFound("organisation, nor any other: run `hiatus init` first")
    raise InvalidInput.of(
        "organisation",
        "required",
        "There are several organisations. Choose one with --organisation.",
    )


def region_note(code: str) -> str:
    """That the country has regions with more public holidays; "" unless the code is such a one."""
    if not holiday_calendar.has_regions(code):
        return ""
    regions = [
        f"{region} ({holiday_calendar.region_name(region)})"
        for region in holiday_calendar.regions(code)
    ]
    more = len(regions) - _MAX_REGIONS_NAMED
    named = ", ".join(regions[:_MAX_REGIONS_NAMED])
    named += f" and {more} more, see GET /api/v1/countries" if more > 0 else ""
    return f"{code} counts national holidays only. Its regions have holidays of their own: {named}."


def operator(organisation: Organisation) -> Caller:
    """An operator with a shell on the server: no user of the organisation, with every right."""
    return Caller.system(organisation.id, "cli")


def print_json(value: object) -> None:
    """Print one JSON object on one line, with timestamps as REST writes them."""
    click.echo(orjson.dumps(value, option=orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC).decode())


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error, without control characters, and exit with 1."""
    click.echo(texts.printable(sentence, allowed="\n"), err=True)
    raise click.exceptions.Exit(1)
