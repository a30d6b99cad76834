"""schemathesis over the whole document, against a real server on a fresh demo organisation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import httpx

from storage.base.secrets import Secrets
from storage.db.engines import open_database
from storage.db.schema import migrate
from storage.operations import demo
from storage.operations.demo import DemoOrganisation
from tests.flows.running import Deployment

CONFIG = Path(__file__).with_name("schemathesis.toml")

Whose = Literal["owner", "member"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """The result of schemathesis; ``code`` is 0 if every check passed."""

    code: int
    output: str
    key_still_works: bool


@contextmanager
def served(database_url: str) -> Iterator[tuple[str, DemoOrganisation]]:
    """A server's URL and its demo organisation, without deliveries and without rate limits."""
    deployment = Deployment(
        database_url, HIATUS_SCHEDULER="off", HIATUS_RATE_LIMIT="1000000000/minute"
    )
    migrate(database_url)
    database = open_database(database_url, Secrets(deployment.env["HIATUS_SECRET_KEYS"].split(",")))
    try:
        organisation = database.write_now(demo.ensure, now=datetime.now(UTC).replace(microsecond=0))
    finally:
        database.close()
    assert organisation is not None
    with deployment.serving() as server:
        yield server.url, organisation


def fuzz(url: str, api_key: str, examples: int, *options: str, folder: Path) -> Finished:
    """Run all phases with that key. ``folder`` is for schemathesis's files."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", str(CONFIG), "run", f"{url}/openapi.json"),
            *("--header", f"Authorization: Bearer {api_key}"),
            *("--max-examples", str(examples), "--continue-on-failure", "--no-color", *options),
        ],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    mine = httpx.get(
        f"{url}/api/v1/organisation", headers={"Authorization": f"Bearer {api_key}"}, timeout=20
    )
    return Finished(
        code=done.returncode, output=done.stdout.decode(), key_still_works=mine.status_code == 200
    )


def key_of(organisation: DemoOrganisation, whose: Whose) -> str:
    return organisation.api_key if whose == "owner" else organisation.member_api_key
