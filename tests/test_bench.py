"""The benchmark: its arithmetic, and that every kind of its load succeeds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from storage.base.secrets import new_secret_key
from tests.bench import budget, report, servers
from tests.bench.budget import Bound
from tests.bench.filled import QUICK_SIZES, fill_database
from tests.bench.load import Outcome
from tests.bench.mix import MIX, Mixed, measure_mix, schedule
from tests.bench.ratios import BARE, SCENARIOS, Measurement


def measurement(server: str, per_second: float, scenario: str = "list") -> Measurement:
    return Measurement(
        scenario=scenario,
        server=server,
        outcome=Outcome(
            responses=int(per_second),
            seconds=1.0,
            p50_milliseconds=1.0,
            p99_milliseconds=2.0,
            cpu_share=0.1,
            unexpected={},
            first_unexpected="",
        ),
        cpu_milliseconds=0.1,
    )


def a_mix(**milliseconds: list[float]) -> Mixed:
    return Mixed(
        engine="sqlite",
        milliseconds={kind: [1.0] for kind in MIX} | milliseconds,
        failures=[],
        megabytes=(100.0, 110.0),
        server_cores=0.2,
    )


def test_a_cost_may_reach_its_bound_and_a_ratio_must() -> None:
    assert Bound(value=100.0).is_met(100.0)
    assert Bound(value=100.0).verdict(101.0) == "OVER 100"
    assert Bound(value=0.07, is_ratio=True).is_met(0.07)
    assert Bound(value=0.07, is_ratio=True).verdict(0.06) == "UNDER 0.07"


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (0.99, 20), (1.0, 20)])
def test_a_percentile_is_a_measured_value(share: float, value: float) -> None:
    assert report.percentile([float(number) for number in range(1, 21)], share) == value


def test_one_second_of_the_mix_has_every_kind_evenly_spread() -> None:
    kinds = schedule()

    assert Counter(kinds) == MIX
    assert kinds.index("create") < 25 < len(kinds) - kinds[::-1].index("create")


def test_the_mix_is_within_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert report.print_mix(a_mix())
    assert "OVER" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "milliseconds", "verdict"),
    [
        ("preview", [51.0], "OVER 50"),
        ("list, unusual filters", [1.0] * 40 + [251.0], "OVER 250"),
    ],
)
def test_a_slow_kind_of_request_is_over_the_budget(
    kind: str, milliseconds: list[float], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not report.print_mix(a_mix(**{kind: milliseconds}))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "OVER" in line]
    assert line.startswith(f"{kind} ")
    assert line.endswith(verdict)


def test_95_percent_of_what_people_wait_for_is_judged_for_all_kinds_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow_home = [1.0] * 38 + [101.0] * 3
    others = [1.0] * 20

    assert report.print_mix(a_mix(**{"Slack: Home": slow_home, "list": others}))
    shown = capsys.readouterr().out
    assert "ok  (95 % over 100)" in line_of(shown, "Slack: Home")
    assert line_of(shown, "awaited by people").endswith("  ok")

    # Programs fetch feeds.
    feeds = {"feed": others, "feed, unchanged": others}
    assert not report.print_mix(a_mix(**{"Slack: Home": slow_home}, **feeds))
    assert line_of(capsys.readouterr().out, "awaited by people").endswith("OVER 100")


def line_of(shown: str, kind: str) -> str:
    (line,) = [line for line in shown.splitlines() if line.startswith(f"{kind} ")]
    return line


def test_ratios_are_medians_of_the_ratios_of_each_round(capsys: pytest.CaptureFixture[str]) -> None:
    # The machine was slow in the second round, and fast in the third.
    bare = [measurement(BARE, rate) for rate in (10_000, 1_000, 20_000)]
    own = [measurement("sqlite", rate) for rate in (2_000, 250, 2_000)]
    others = [
        measurement(server, 1_000, scenario)
        for scenario in SCENARIOS
        if scenario != "list"
        for server in (BARE, "sqlite")
    ]

    assert report.print_ratios(["sqlite"], [*bare, *own, *others])

    assert "0.200" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("engine", budget.ENGINES)
def test_every_request_of_the_mix_succeeds(engine: str, tmp_path: Path) -> None:
    with (
        servers.receiver(tmp_path) as receiver,
        servers.empty_database(engine, tmp_path, "mix") as url,
    ):
        address = f"http://127.0.0.1:{receiver.port}/"
        filled = fill_database(url, new_secret_key(), QUICK_SIZES, address)
        mixed = measure_mix(engine, filled, 6.0, tmp_path)

    assert mixed.failures == []
    assert all(mixed.milliseconds[kind] for kind in MIX)
