"""The command: choose, measure, print a table. Exits with 1 after an unexpected answer."""

from __future__ import annotations

import os
import platform
import sysconfig
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from tests.bench import deliveries
from tests.bench.big_feed import EVENTS, BigFeed, measure_big_feed
from tests.bench.measuring import (
    BARE,
    CONNECTIONS,
    Measurement,
    UnexpectedAnswer,
    measure,
)


class ScenarioName(StrEnum):
    LIST = "list"
    CREATE = "create"
    APPROVE = "approve"
    FEED_304 = "feed-304"
    FEED = "feed"
    BIG_FEED = "big-feed"
    DELIVERIES = "deliveries"


class Engine(StrEnum):
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


# Ratios to the bare route that Hiatus means to reach.
TARGETS = {
    ("list", "sqlite"): 0.18,
    ("list", "postgresql"): 0.10,
    ("create", "sqlite"): 0.15,
    ("create", "postgresql"): 0.08,
    ("feed-304", "sqlite"): 0.30,
    ("feed-304", "postgresql"): 0.30,
}
# Of the time of a cold one.
WARM_BIG_FEED = 0.05
_LINE = "{:<11}{:<12}{:>11}{:>9}{:>9}{:>9}{:>13}"


def bench(
    only: Annotated[list[ScenarioName] | None, typer.Option(help="Only this; may repeat.")] = None,
    engine: Annotated[list[Engine] | None, typer.Option(help="Only this; may repeat.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less exact, under a minute.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Say which targets are met.")] = False,
) -> None:
    """Measure Hiatus against bare Starlette routes, and its webhooks against bare loops."""
    names = [one.value for one in ScenarioName if not only or one in only]
    has_big_feed = ScenarioName.BIG_FEED in names
    has_deliveries = ScenarioName.DELIVERIES in names
    apart = (ScenarioName.BIG_FEED, ScenarioName.DELIVERIES)
    names = [name for name in names if name not in apart]
    if "approve" in names and "create" not in names:
        names.insert(names.index("approve"), "create")
    engines = [one.value for one in Engine if not engine or one in engine]
    rounds, seconds = (3, 0.5) if quick else (5, 2.0)
    typer.echo(_machine())
    if has_deliveries:
        _deliveries(engines, quick, check)
    if not names and not has_big_feed:
        return
    typer.echo(
        f"{CONNECTIONS} connections, medians of {rounds} interleaved rounds of {seconds} s each"
    )
    with tempfile.TemporaryDirectory(prefix="hiatus-bench-") as folder:
        try:
            found = list(measure(names, engines, rounds, seconds, Path(folder))) if names else []
            big_feeds = (
                list(measure_big_feed(engines, rounds, Path(folder))) if has_big_feed else []
            )
        except UnexpectedAnswer as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
    typer.echo(_LINE.format("", "", "requests/s", "p50 ms", "p99 ms", "ratio", "CPU ms each"))
    for name in names:
        for server in (BARE, *engines):
            _print_line(name, server, found, check)
    if found:
        share = max(one.outcome.cpu_share for one in found if one.server == BARE)
        typer.echo(f"The load took at most {share:.0%} of a core against the bare routes.")
    for engine_name in engines if big_feeds else ():
        _print_big_feed(engine_name, [one for one in big_feeds if one.engine == engine_name], check)


def _deliveries(engines: Sequence[str], quick: bool, check: bool) -> None:
    rounds, amount = (3, 1_500) if quick else (5, 4_000)
    typer.echo(
        f"webhooks, {deliveries.IN_FLIGHT} in flight, medians of {rounds} rounds of {amount:,} each"
    )
    with tempfile.TemporaryDirectory(prefix="hiatus-bench-") as folder:
        found = list(deliveries.measure(engines, rounds, amount, Path(folder)))
    columns = "".join(f"{f'of {way}':>19}" for way in deliveries.BARE_WAYS)
    typer.echo(f"{'':<15}{'deliveries/s':>14}{columns}")
    for way in (*deliveries.BARE_WAYS, *engines):
        line = f"{way:<15}{median(one[way] for one in found):>14,.0f}"
        for bare in deliveries.BARE_WAYS:
            # Of the same round each, as below.
            ratio = median(one[way] / one[bare] for one in found)
            line += f"{ratio:>19.2f}"
            target = deliveries.TARGETS[bare]
            if check and way in engines and ratio < target:
                line += f" misses {target}"
        typer.echo(line)


def _print_big_feed(engine: str, found: Sequence[BigFeed], check: bool) -> None:
    ratio = median(one.warm_milliseconds / one.cold_milliseconds for one in found)
    line = (
        f"A feed of {EVENTS:,} events on {engine}: "
        f"cold {median(one.cold_milliseconds for one in found):,.0f} ms, "
        f"warm {median(one.warm_milliseconds for one in found):.1f} ms "
        f"({median(one.warm_cpu_milliseconds for one in found):.1f} ms of CPU), "
        f"unchanged {median(one.unchanged_milliseconds for one in found):.1f} ms; "
        f"warm to cold {ratio:.4f}"
    )
    if check:
        line += f"  {'reaches' if ratio < WARM_BIG_FEED else 'misses'} {WARM_BIG_FEED}"
    typer.echo(line)


def _print_line(scenario: str, server: str, found: Sequence[Measurement], check: bool) -> None:
    own = [one for one in found if (one.scenario, one.server) == (scenario, server)]
    bare = [one for one in found if (one.scenario, one.server) == (scenario, BARE)]
    outcomes = [one.outcome for one in own]
    # Of the same round each, so that what slows the whole machine counts on both sides.
    ratio = median(
        mine.outcome.per_second / theirs.outcome.per_second
        for mine, theirs in zip(own, bare, strict=True)
    )
    line = _LINE.format(
        scenario,
        server,
        f"{median(one.per_second for one in outcomes):,.0f}",
        f"{median(one.p50_milliseconds for one in outcomes):.1f}",
        f"{median(one.p99_milliseconds for one in outcomes):.1f}",
        f"{ratio:.3f}",
        f"{median(one.cpu_milliseconds for one in own):.3f}",
    )
    target = TARGETS.get((scenario, server))
    if check and target is not None:
        line += f"  {'reaches' if ratio >= target else 'misses'} {target:.2f}"
    typer.echo(line)


def _machine() -> str:
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = "with" if "--enable-optimizations" in flags else "without"
    return (
        f"CPython {platform.python_version()} built {optimised} profile-guided optimisation "
        f"({platform.python_compiler()}), {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release()} {platform.machine()}"
    )


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(bench)
    app()
