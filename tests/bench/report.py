"""The benchmark's tables. Each function returns whether every floor was met."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import click

from tests.bench import deliveries, goals
from tests.bench.big_feed import EVENTS, BigFeed
from tests.bench.goals import Goal
from tests.bench.measuring import BARE, Measurement
from tests.bench.soak import Soak
from tests.bench.starting import Start

_LINE = "{:<11}{:<12}{:>11}{:>9}{:>9}{:>9}{:>13}"


def print_ratios(
    scenarios: Sequence[str], engines: Sequence[str], measured: Sequence[Measurement], check: bool
) -> bool:
    click.echo(_LINE.format("", "", "requests/s", "p50 ms", "p99 ms", "ratio", "CPU ms each"))
    is_met = True
    for scenario in scenarios:
        for server in (BARE, *engines):
            is_met &= _print_ratio(scenario, server, measured, check)
    share = max(
        measurement.outcome.cpu_share for measurement in measured if measurement.server == BARE
    )
    click.echo(f"The load took at most {share:.0%} of a core against the bare routes.")
    return is_met


def _print_ratio(scenario: str, server: str, measured: Sequence[Measurement], check: bool) -> bool:
    own = [
        measurement
        for measurement in measured
        if (measurement.scenario, measurement.server) == (scenario, server)
    ]
    bare = [
        measurement
        for measurement in measured
        if (measurement.scenario, measurement.server) == (scenario, BARE)
    ]
    outcomes = [measurement.outcome for measurement in own]
    # Each ratio is of a single round: a busy machine slows both of its sides.
    ratio = median(
        mine.outcome.per_second / theirs.outcome.per_second
        for mine, theirs in zip(own, bare, strict=True)
    )
    line = _LINE.format(
        scenario,
        server,
        f"{median(outcome.per_second for outcome in outcomes):,.0f}",
        f"{median(outcome.p50_milliseconds for outcome in outcomes):.1f}",
        f"{median(outcome.p99_milliseconds for outcome in outcomes):.1f}",
        f"{ratio:.3f}",
        f"{median(measurement.cpu_milliseconds for measurement in own):.3f}",
    )
    return _print_checked(line, ratio, goals.RATIOS.get((scenario, server)), check)


def print_deliveries(
    engines: Sequence[str], rounds: Sequence[dict[str, float]], check: bool
) -> bool:
    """``rounds`` as ``deliveries.measure`` yields them."""
    bare = deliveries.BARE_CLIENT
    click.echo(f"{'':<15}{'deliveries/s':>14}{f'of {bare}':>19}")
    is_met = True
    for client in (bare, *engines):
        # Each ratio is of a single round, as above.
        ratio = median(per_second[client] / per_second[bare] for per_second in rounds)
        line = f"{client:<15}{median(per_second[client] for per_second in rounds):>14,.0f}"
        line += f"{ratio:>19.2f}"
        goal = goals.DELIVERIES if client in engines else None
        is_met &= _print_checked(line, ratio, goal, check)
    return is_met


def print_big_feed(engine: str, measured: Sequence[BigFeed], check: bool) -> bool:
    ratio = median(feed.warm_milliseconds / feed.cold_milliseconds for feed in measured)
    line = (
        f"A feed of {EVENTS:,} events on {engine}: "
        f"cold {median(feed.cold_milliseconds for feed in measured):,.0f} ms, "
        f"warm {median(feed.warm_milliseconds for feed in measured):.1f} ms "
        f"({median(feed.warm_cpu_milliseconds for feed in measured):.1f} ms of CPU), "
        f"unchanged {median(feed.unchanged_milliseconds for feed in measured):.1f} ms; "
        f"warm to cold {ratio:.4f}"
    )
    return _print_checked(line, ratio, goals.WARM_BIG_FEED, check)


def print_start(server: str, measured: Sequence[Start], check: bool) -> bool:
    own = [start for start in measured if start.server == server]
    seconds = median(start.seconds for start in own)
    cpu_seconds = median(start.cpu_seconds for start in own)
    bare_cpu_seconds = median(start.cpu_seconds for start in measured if start.server == BARE)
    line = (
        f"start      {server:<12}{seconds:>8.2f} s to the first response, "
        f"{cpu_seconds:.2f} s of CPU"
    )
    if bare_cpu_seconds and server != BARE:
        line += f", {cpu_seconds / bare_cpu_seconds:.1f} times bare"
    return _print_checked(line, seconds, None if server == BARE else goals.START_SECONDS, check)


def print_memory(server: str, measured: Sequence[Start], check: bool) -> bool:
    megabytes = median(start.megabytes for start in measured if start.server == server)
    line = f"memory     {server:<12}{megabytes:>8.0f} MB resident when idle"
    goal = None if server == BARE else goals.IDLE_MEGABYTES
    return _print_checked(line, megabytes, goal, check)


def print_soak(soak: Soak, check: bool) -> bool:
    click.echo(
        f"soak       {soak.engine:<12}{sum(soak.requests.values()):,} requests in "
        f"{soak.seconds / 60:.0f} minutes: "
        + ", ".join(f"{count:,} {kind}" for kind, count in sorted(soak.requests.items()))
    )
    line = (
        f"           {'':<12}{soak.start:.0f} MB resident at the start, {soak.peak:.0f} at most, "
        f"{soak.end:.0f} at the end, {soak.per_hour:+.1f} an hour in the second half"
    )
    return _print_checked(line, soak.end, goals.SOAKED_MEGABYTES, check)


def _print_checked(line: str, value: float, goal: Goal | None, check: bool) -> bool:
    if not check or goal is None:
        click.echo(line)
        return True
    click.echo(f"{line}  {goal.verdict(value)}")
    return goal.is_met(value)
