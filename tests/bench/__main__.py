"""The command: measures the chosen parts on the chosen engines and compares them with the budget.

Exits with 1 after unexpected responses, and with ``--check`` if a figure is over the budget.
"""

from __future__ import annotations

import os
import platform
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

import click

from storage.base.secrets import new_secret_key
from tests.bench import budget, deliveries, report, servers, statements
from tests.bench.filled import QUICK_SIZES, SIZES, fill_database
from tests.bench.load import UnexpectedResponse
from tests.bench.mix import measure_mix
from tests.bench.ratios import measure_ratios
from tests.bench.starting import measure_starts

PARTS: Final = ("mix", "statements", "ratios", "deliveries", "start")


@click.command()
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="Only this; may repeat.")
@click.option("--engine", multiple=True, type=click.Choice(budget.ENGINES), help="Only this.")
@click.option("--quick", is_flag=True, help="Less exact and with little data, in two minutes.")
@click.option("--check", is_flag=True, help="Fail if a figure is over the budget.")
@click.option("--minutes", default=1.0, show_default=True, help="Length of the mix.")
def bench(
    only: tuple[str, ...], engine: tuple[str, ...], quick: bool, check: bool, minutes: float
) -> None:
    """Measure Hiatus as people and programs use it, and compare it with the budget."""
    engines = engine or budget.ENGINES
    click.echo(_machine())
    with tempfile.TemporaryDirectory(prefix="hiatus-bench-") as folder:
        try:
            is_met = [
                _measure(part, engines, quick, minutes, Path(folder)) for part in only or PARTS
            ]
        except UnexpectedResponse as error:
            click.echo(str(error), err=True)
            raise click.exceptions.Exit(1) from error
    if check and not all(is_met):
        raise click.exceptions.Exit(1)


def _measure(
    part: str, engines: tuple[str, ...], quick: bool, minutes: float, folder: Path
) -> bool:
    rounds = 3 if quick else 5
    match part:
        case "mix":
            seconds = minutes * (10 if quick else 60)
            # Every engine is measured, also after the first one missed the budget.
            is_met = [_measure_mix(engine, quick, seconds, folder) for engine in engines]
            return all(is_met)
        case "statements":
            counts = {name: statements.counts(name, folder) for name in engines}
            return report.print_statements(counts)
        case "ratios":
            measured = list(measure_ratios(engines, rounds, 0.5 if quick else 2.0, folder))
            return report.print_ratios(engines, measured)
        case "deliveries":
            amount = 1_000 if quick else 4_000
            delivered = list(deliveries.measure(engines, rounds, amount, folder))
            return report.print_deliveries(engines, delivered)
        case _:
            return report.print_starts(list(measure_starts(engines, rounds, folder)))


def _measure_mix(engine: str, quick: bool, seconds: float, folder: Path) -> bool:
    with (
        servers.receiver(folder) as receiver,
        servers.empty_database(engine, folder, "mix") as url,
    ):
        address = f"http://127.0.0.1:{receiver.port}/"
        filled = fill_database(url, new_secret_key(), QUICK_SIZES if quick else SIZES, address)
        return report.print_mix(measure_mix(engine, filled, seconds, folder))


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
