"""The table of growth. Returns whether every limit was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from tests.bench import goals
from tests.bench.growth.filling import SMALL_PEOPLE, Sizes
from tests.bench.growth.measuring import Growth

_LINE: Final = "{:<12}{:<28}{:>10}{:>10}{:>8}  {}"


def print_growth(sizes: Sizes, measured: Sequence[Growth], check: bool) -> bool:
    """For each name the slowest operation."""
    click.echo(
        f"{sizes.people:,} people with {sizes.requests:,} requests beside {sizes.organisations:,} "
        f"organisations of {SMALL_PEOPLE} people with {sizes.small_requests} requests; "
        "medians for one caller, of processor time"
    )
    click.echo(_LINE.format("", "", "small, ms", "large, ms", "growth", ""))
    slowest: dict[tuple[str, str], Growth] = {}
    for one in sorted(measured, key=lambda one: one.large_milliseconds):
        slowest[one.engine, one.operation.name] = one
    is_met = True
    for key in dict.fromkeys((one.engine, one.operation.name) for one in measured):
        is_met &= _print_one(slowest[key], check)
    return is_met


def _print_one(one: Growth, check: bool) -> bool:
    on_loop = one.engine == goals.SQLITE and one.operation.is_short
    goal = goals.ON_EVENT_LOOP_MILLISECONDS if on_loop else goals.GROWN_MILLISECONDS
    line = _LINE.format(
        one.engine,
        one.operation.name,
        f"{one.small_milliseconds:.2f}",
        f"{one.large_milliseconds:.2f}",
        f"{one.large_milliseconds / one.small_milliseconds:.1f}",
        one.operation.details,
    ).rstrip()
    click.echo(f"{line}  {goal.verdict(one.large_milliseconds)}" if check else line)
    return not check or goal.is_met(one.large_milliseconds)
