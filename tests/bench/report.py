"""The benchmark's tables. Each function returns whether the budget was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import click

from tests.bench import budget
from tests.bench.budget import Bound
from tests.bench.deliveries import BARE_CLIENT
from tests.bench.mix import Mixed
from tests.bench.ratios import BARE, SCENARIOS, Measurement
from tests.bench.starting import Start

_MIX_LINE = "{:<24}{:>7}{:>10}{:>10}{:>10}{:>10}  {}"
_AWAITED = "awaited by people"
_RATIO_LINE = "{:<11}{:<12}{:>11}{:>9}{:>9}{:>9}{:>13}  {}"


def percentile(in_order: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    return in_order[max(0, -int(-len(in_order) * share // 1) - 1)]


def print_mix(mixed: Mixed) -> bool:
    click.echo(f"\nA mix of requests on {mixed.engine}: {mixed.server_cores:.0%} of a core")
    click.echo(_MIX_LINE.format("milliseconds", "number", "50 %", "95 %", "99 %", "most", ""))
    is_met = True
    for kind, milliseconds in mixed.milliseconds.items():
        bounds: list[tuple[Bound, float]] = []
        if kind in budget.INTERACTIVE:
            bounds = [(budget.INTERACTIVE_MEDIAN, percentile(milliseconds, 0.5))]
        if kind == budget.UNUSUAL:
            bounds = [(budget.UNUSUAL_AT_MOST, milliseconds[-1])]
        _print_kind(kind, milliseconds, bounds)
        is_met &= _all_met(bounds)
    awaited = sorted(
        each
        for kind, milliseconds in mixed.milliseconds.items()
        if kind not in budget.FETCHED_BY_PROGRAMS
        for each in milliseconds
    )
    bounds = [(budget.MOST_REQUESTS, percentile(awaited, 0.95))]
    _print_kind(_AWAITED, awaited, bounds)
    is_met &= _all_met(bounds)
    before, after = mixed.megabytes
    bounds = [(budget.MIXED_MEGABYTES, after)]
    click.echo(f"{before:.0f} MB resident before, {after:.0f} MB after  {_verdict(bounds)}")
    if mixed.failures:
        click.echo(f"{len(mixed.failures)} failed, the first one: {mixed.failures[0]}")
    return is_met and _all_met(bounds) and not mixed.failures


def _print_kind(
    kind: str, in_order: Sequence[float], bounds: Sequence[tuple[Bound, float]]
) -> None:
    p50, p95, p99 = (percentile(in_order, share) for share in (0.5, 0.95, 0.99))
    verdict = _verdict(bounds)
    # Shown for each kind, and judged for all of them together.
    if kind != _AWAITED and not budget.MOST_REQUESTS.is_met(p95):
        verdict = f"{verdict}  (95 % over {budget.MOST_REQUESTS.value:g})".lstrip()
    figures = [f"{figure:.1f}" for figure in (p50, p95, p99, in_order[-1])]
    click.echo(_MIX_LINE.format(kind, len(in_order), *figures, verdict))


def print_statements(counts: Mapping[str, Mapping[str, int]]) -> bool:
    """``counts`` by engine and use case."""
    click.echo(f"\n{'statements':<30}" + "".join(f"{engine:>12}" for engine in counts))
    is_met = True
    for use_case in next(iter(counts.values())):
        of_engines = [of_engine[use_case] for of_engine in counts.values()]
        bound = budget.STATEMENTS.get(use_case)
        bounds = [(bound, float(count)) for count in of_engines] if bound else []
        figures = "".join(f"{count:>12}" for count in of_engines)
        click.echo(f"{use_case:<30}{figures}  {_verdict(bounds)}")
        is_met &= _all_met(bounds)
    return is_met


def print_ratios(engines: Sequence[str], measured: Sequence[Measurement]) -> bool:
    click.echo()
    click.echo(
        _RATIO_LINE.format("", "", "requests/s", "p50 ms", "p99 ms", "ratio", "CPU ms each", "")
    )
    is_met = True
    for scenario in SCENARIOS:
        bare = _of(measured, scenario, BARE)
        for server in (BARE, *engines):
            own = _of(measured, scenario, server)
            outcomes = [measurement.outcome for measurement in own]
            # Each ratio is of a single round: a busy machine slows both of its sides.
            ratio = median(
                mine.outcome.per_second / theirs.outcome.per_second
                for mine, theirs in zip(own, bare, strict=True)
            )
            bound = budget.RATIOS.get((scenario, server))
            bounds = [(bound, ratio)] if bound else []
            click.echo(
                _RATIO_LINE.format(
                    scenario,
                    server,
                    f"{median(outcome.per_second for outcome in outcomes):,.0f}",
                    f"{median(outcome.p50_milliseconds for outcome in outcomes):.1f}",
                    f"{median(outcome.p99_milliseconds for outcome in outcomes):.1f}",
                    f"{ratio:.3f}",
                    f"{median(measurement.cpu_milliseconds for measurement in own):.2f}",
                    _verdict(bounds),
                )
            )
            is_met &= _all_met(bounds)
    return is_met


def _of(measured: Sequence[Measurement], scenario: str, server: str) -> list[Measurement]:
    return [each for each in measured if (each.scenario, each.server) == (scenario, server)]


def print_deliveries(engines: Sequence[str], rounds: Sequence[Mapping[str, float]]) -> bool:
    """``rounds`` as ``deliveries.measure`` yields them."""
    click.echo(f"\n{'webhooks':<15}{'deliveries/s':>14}{f'of {BARE_CLIENT}':>19}")
    is_met = True
    for client in (BARE_CLIENT, *engines):
        ratio = median(per_second[client] / per_second[BARE_CLIENT] for per_second in rounds)
        per_second = median(of_round[client] for of_round in rounds)
        bounds = [(budget.DELIVERIES, ratio)] if client in engines else []
        click.echo(f"{client:<15}{per_second:>14,.0f}{ratio:>19.2f}  {_verdict(bounds)}")
        is_met &= _all_met(bounds)
    return is_met


def print_starts(measured: Sequence[Start]) -> bool:
    click.echo()
    is_met = True
    for server in dict.fromkeys(start.server for start in measured):
        own = [start for start in measured if start.server == server]
        seconds = median(start.seconds for start in own)
        megabytes = median(start.megabytes for start in own)
        bounds = [(budget.START_SECONDS, seconds), (budget.IDLE_MEGABYTES, megabytes)]
        click.echo(
            f"start on {server:<12}{seconds:>6.2f} s to the first response, "
            f"{median(start.cpu_seconds for start in own):.2f} s of CPU, "
            f"{megabytes:.0f} MB resident when idle  {_verdict(bounds)}"
        )
        is_met &= _all_met(bounds)
    return is_met


def _verdict(bounds: Sequence[tuple[Bound, float]]) -> str:
    missed = [bound.verdict(figure) for bound, figure in bounds if not bound.is_met(figure)]
    return ", ".join(missed) if missed else "ok" if bounds else ""


def _all_met(bounds: Sequence[tuple[Bound, float]]) -> bool:
    return all(bound.is_met(figure) for bound, figure in bounds)
