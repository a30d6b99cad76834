"""How long ``hiatus serve`` takes to its first response, and its memory when it is idle.

The bare Starlette application is started in turn with it: the ratio of their processor times
depends little on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from storage.base.secrets import Secrets, new_secret_key
from storage.db.engines import open_database
from storage.db.schema import migrate
from tests.bench import servers
from tests.bench.bare import Ready
from tests.bench.prepared import organisation
from tests.bench.ratios import BARE
from tests.fakes.slack import LoopbackSlack

# Long enough for the jobs that run at the start.
IDLE_AFTER_SECONDS = 2.0
_HEALTHZ: Final = Ready(
    method="GET", path="/healthz", status=200, content_type="text/plain", body=""
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """One start; ``megabytes`` of resident memory once it is idle.

    ``server`` is an engine or BARE.
    """

    server: str
    seconds: float
    cpu_seconds: float
    megabytes: float


def measure_starts(engines: Sequence[str], rounds: int, folder: Path) -> Iterator[Start]:
    """Starts with Slack, as users have it; servers take turns. The first round is not counted."""
    with ExitStack() as stack:
        slack = stack.enter_context(LoopbackSlack())
        settings = {
            "HIATUS_SLACK_SIGNING_SECRET": slack.signing_secret,
            "HIATUS_SLACK_BOT_TOKEN": slack.token,
            "HIATUS_SLACK_API_URL": slack.api_url,
            "HIATUS_SCHEDULER": "on",
        }
        key = new_secret_key()
        urls = {}
        for engine in engines:
            urls[engine] = stack.enter_context(servers.empty_database(engine, folder, "start"))
            migrate(urls[engine])
            with closing(open_database(urls[engine], Secrets([key]))) as database:
                database.write_now(organisation, 0, 1)
        for number in range(rounds + 1):
            starting = {BARE: servers.bare([_HEALTHZ], folder)} | {
                engine: servers.hiatus(url, key, folder, f"start-{engine}-{number}", **settings)
                for engine, url in urls.items()
            }
            for name, server in starting.items():
                start = _measure(name, server)
                if number:
                    yield start


def _measure(name: str, starting: AbstractContextManager[servers.Server]) -> Start:
    started = time.perf_counter()
    with starting as server:
        _check_health(server.port)
        seconds, cpu_seconds = time.perf_counter() - started, server.cpu_seconds()
        time.sleep(IDLE_AFTER_SECONDS)
        return Start(
            server=name,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            megabytes=server.resident_megabytes(),
        )


def _check_health(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
