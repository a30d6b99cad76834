"""The command: measures the chosen scenarios and prints tables.

Exits with 1 after an unexpected response, and with ``--check`` if a floor is missed.
"""

from __future__ import annotations

import os
import platform
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from tests.bench import deliveries, goals, report
from tests.bench.big_feed import measure_big_feed
from tests.bench.commits import COMMITS_PER_SECOND
from tests.bench.growth.filling import Sizes
from tests.bench.growth.measuring import measure_growth
from tests.bench.growth.table import print_growth
from tests.bench.load import UnexpectedResponse
from tests.bench.measuring import BARE, CONNECTIONS, SCENARIOS, measure
from tests.bench.prepared import PEOPLE
from tests.bench.soak import measure_soak
from tests.bench.starting import measure_starts

NAMES: Final = (
    *("list", "preview", "create", "approve", "feed-304", "feed", "big-feed"),
    *("deliveries", "start", "memory", "growth", "soak"),
)
ENGINES: Final = (goals.SQLITE, goals.POSTGRESQL)


@click.command()
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Only this; may repeat.")
@click.option("--engine", multiple=True, type=click.Choice(ENGINES), help="Only this; may repeat.")
@click.option("--quick", is_flag=True, help="Less exact, in two minutes.")
@click.option("--check", is_flag=True, help="Compare with floors and targets.")
@click.option("--people", default=2_000, show_default=True, help="Growth: in the organisation.")
@click.option("--requests", default=50_000, show_default=True, help="Growth: of these people.")
@click.option("--organisations", default=200, show_default=True, help="Growth: small ones.")
@click.option("--small-requests", default=200, show_default=True, help="Growth: of each of these.")
@click.option("--minutes", default=1.0, show_default=True, help="Soak: how long, each engine.")
@click.option("--rate", default=20.0, show_default=True, help="Soak: requests a second.")
def bench(
    only: tuple[str, ...],
    engine: tuple[str, ...],
    quick: bool,
    check: bool,
    people: int,
    requests: int,
    organisations: int,
    small_requests: int,
    minutes: float,
    rate: float,
) -> None:
    """Measure Hiatus against bare Starlette routes, and its webhooks against bare loops."""
    names = [name for name in NAMES if not only or name in only]
    engines = [name for name in ENGINES if not engine or name in engine]
    click.echo(_machine())
    with tempfile.TemporaryDirectory(prefix="hiatus-bench-") as folder:
        try:
            is_met = _measure(names, engines, quick, check, Path(folder))
            if "growth" in names:
                sizes = Sizes(
                    people=people,
                    requests=requests,
                    organisations=organisations,
                    small_requests=small_requests,
                )
                grown = list(measure_growth(engines, sizes, Path(folder)))
                is_met &= print_growth(sizes, grown, check)
            for name in engines if "soak" in names else ():
                soaked = measure_soak(name, minutes * 60, rate, Path(folder))
                is_met &= report.print_soak(soaked, check)
        except UnexpectedResponse as error:
            click.echo(str(error), err=True)
            raise click.exceptions.Exit(1) from error
    if not is_met:
        raise click.exceptions.Exit(1)


def _measure(
    names: Sequence[str], engines: Sequence[str], quick: bool, check: bool, folder: Path
) -> bool:
    """Returns whether every floor was met."""
    is_met = True
    rounds, seconds = (3, 0.5) if quick else (5, 2.0)
    starts = list(measure_starts(engines, rounds, folder)) if {"start", "memory"} & {*names} else []
    for name, print_line in (("start", report.print_start), ("memory", report.print_memory)):
        for server in (BARE, *engines) if name in names else ():
            is_met &= print_line(server, starts, check)
    if "deliveries" in names:
        amount = 1_000 if quick else 4_000
        click.echo(
            f"webhooks, {deliveries.IN_FLIGHT} in flight, medians of {rounds} rounds of {amount:,}"
        )
        delivered = list(deliveries.measure(engines, rounds, amount, folder))
        is_met &= report.print_deliveries(engines, delivered, check)
    scenarios = [name for name in names if name in SCENARIOS]
    if "approve" in scenarios and "create" not in scenarios:
        scenarios.insert(scenarios.index("approve"), "create")
    if scenarios:
        click.echo(
            f"{CONNECTIONS} connections, {PEOPLE} people, medians of {rounds} interleaved rounds "
            f"of {seconds} s, {COMMITS_PER_SECOND} commits/s by another client on each engine"
        )
        measured = list(measure(scenarios, engines, rounds, seconds, folder))
        is_met &= report.print_ratios(scenarios, engines, measured, check)
    if "big-feed" in names:
        big_feeds = list(measure_big_feed(engines, 1 if quick else rounds, folder))
        for engine in engines:
            of_engine = [feed for feed in big_feeds if feed.engine == engine]
            is_met &= report.print_big_feed(engine, of_engine, check)
    return is_met


def _machine() -> str:
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = "with" if "--enable-optimizations" in flags else "without"
    return (
        f"CPython {platform.python_version()} built {optimised} profile-guided optimisation "
        f"({platform.python_compiler()}), {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release()} {platform.machine()}"
    )


if __name__ == "__main__":
    bench()
