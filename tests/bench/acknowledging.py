"""Slack's acknowledgements while the database is busy: ``python -m tests.bench.acknowledging``.

A running ``hiatus serve`` takes creations over REST from 32 connections and, one at a time, signed
payloads from Slack over HTTP for every listener in turn.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click
import psycopg

from bot.listeners import registered
from storage.base.secrets import new_secret_key
from tests.bench import prepared as preparing
from tests.bench import servers
from tests.bench.goals import POSTGRESQL, SQLITE
from tests.bench.load import Load, Outcome, run_apart
from tests.bench.measuring import CONNECTIONS, MAX_PER_SECOND
from tests.bot.anything import Subject, send_all
from tests.fakes.slack import LoopbackSlack

TARGET_SECONDS = 1.0
PERSON = "UPERSON"
_WARM_UP_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Acknowledged:
    """Seconds to the acknowledgement by kind of payload, and the REST load meanwhile."""

    by_kind: dict[str, list[float]]
    load: Outcome


def measure(url: str, seconds: float, folder: Path) -> Acknowledged:
    """Fill the empty database, serve it, and measure for ``seconds``."""
    key = new_secret_key()
    with ExitStack() as stack:
        slack = stack.enter_context(LoopbackSlack())
        ready = stack.enter_context(preparing.prepared(url, key))
        ready.link(slack.team_id)
        if url.startswith("postgresql:"):
            # As autovacuum does within a minute of so many changes.
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ANALYZE")
        slack.add_person(PERSON, "person.1@example.com", "Person Number")
        settings = {
            "HIATUS_SLACK_SIGNING_SECRET": slack.signing_secret,
            "HIATUS_SLACK_BOT_TOKEN": slack.token,
            "HIATUS_SLACK_API_URL": slack.api_url,
        }
        server = stack.enter_context(servers.hiatus(url, key, folder, "slack", **settings))
        slack.app_url = f"http://127.0.0.1:{server.port}"
        slack.command(PERSON, "/timeoff")
        return _under_load(server.port, slack, ready, seconds)


def _under_load(
    port: int, slack: LoopbackSlack, ready: preparing.Prepared, seconds: float
) -> Acknowledged:
    requests = ready.create(int(MAX_PER_SECOND * seconds))
    load = Load(
        port=port,
        connections=CONNECTIONS,
        seconds=_WARM_UP_SECONDS + seconds,
        requests=requests,
        is_once=True,
        status=201,
    )
    outcomes: list[Outcome] = []
    loading = threading.Thread(target=lambda: outcomes.append(run_apart(load)))
    loading.start()
    # Until the load's process runs.
    time.sleep(_WARM_UP_SECONDS)
    by_kind: dict[str, list[float]] = defaultdict(list)
    # An unknown id: every click takes the time to find that out.
    subject = Subject("01980000-0000-7000-8000-000000000000", "x", "DT1XPERSON", "1.1")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for listener in registered("/timeoff"):
            # These would remove the workspace.
            if listener.name not in ("app_uninstalled", "tokens_revoked"):
                responses = send_all(slack, listener, PERSON, subject)
                by_kind[listener.kind] += [response.elapsed_seconds for response in responses]
    loading.join()
    return Acknowledged(by_kind=by_kind, load=outcomes[0])


def percentile(seconds: list[float], share: float) -> float:
    """The time within which that share was acknowledged."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@click.command()
@click.option("--seconds", default=15.0, show_default=True, help="How long to measure each engine.")
def main(seconds: float) -> None:
    """Measure both engines; exits with 1 if a 99th percentile is one second or more."""
    missed = False
    for engine in (SQLITE, POSTGRESQL):
        with (
            tempfile.TemporaryDirectory(prefix="hiatus-bench-") as folder,
            servers.empty_database(engine, Path(folder), "hiatus") as url,
        ):
            measured = measure(url, seconds, Path(folder))
        click.echo(f"{engine}: {measured.load.per_second:,.0f} creations/s meanwhile")
        for kind, latencies in sorted(measured.by_kind.items()):
            p50, p99 = percentile(latencies, 0.5), percentile(latencies, 0.99)
            click.echo(
                f"  {kind:<12}{len(latencies):>7,}  p50 {p50 * 1000:>6.1f} ms  "
                f"p99 {p99 * 1000:>6.1f} ms"
            )
            missed |= p99 >= TARGET_SECONDS
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
