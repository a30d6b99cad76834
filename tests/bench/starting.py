"""How long ``hiatus serve`` takes to its first answer, and the memory that it then holds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from storage.base.secrets import Secrets, new_secret_key
from storage.db.engines import open_database
from storage.db.schema import migrate
from tests.bench import servers
from tests.bench.prepared import organisation
from tests.fakes.slack import LoopbackSlack

# Long enough for the jobs that run at the start.
IDLE_AFTER_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """One start on one engine; ``megabytes`` of resident memory once it is idle."""

    engine: str
    seconds: float
    cpu_seconds: float
    megabytes: float


def measure_starts(engines: Sequence[str], rounds: int, folder: Path) -> Iterator[Start]:
    """Starts with Slack, as users have it; engines take turns. The first round is not counted."""
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
            for engine, url in urls.items():
                started = time.perf_counter()
                name = f"start-{engine}-{number}"
                with servers.hiatus(url, key, folder, name, **settings) as server:
                    _answer(server.port)
                    seconds, cpu_seconds = time.perf_counter() - started, server.cpu_seconds()
                    time.sleep(IDLE_AFTER_SECONDS)
                    if number:
                        yield Start(
                            engine=engine,
                            seconds=seconds,
                            cpu_seconds=cpu_seconds,
                            megabytes=server.resident_megabytes(),
                        )


def _answer(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
