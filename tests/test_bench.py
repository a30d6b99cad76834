"""The benchmark's arithmetic of floors and targets, and its background commits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage.base.secrets import Secrets
from storage.db.engines import open_database
from tests import outside
from tests.bench import report
from tests.bench.commits import COMMITS_PER_SECOND, committing
from tests.bench.goals import AtLeast, AtMost
from tests.bench.growth.filling import Sizes, fill
from tests.bench.growth.measuring import Growth, place
from tests.bench.growth.operations import Operation, operations
from tests.bench.growth.table import print_growth
from tests.bench.load import Outcome, UnexpectedResponse
from tests.bench.measuring import BARE, Measurement
from tests.bench.soak import MIX, Soak, measure_soak
from tests.builders import NOW

SIZES = Sizes(people=60, requests=500, organisations=2)


def measurement(server: str, per_second: float) -> Measurement:
    return Measurement(
        scenario="list",
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


@pytest.mark.parametrize(
    ("value", "is_met", "verdict"),
    [
        (0.11, False, "BELOW THE FLOOR 0.12"),
        (0.12, True, "above the floor 0.12, misses the target 0.25"),
        (0.25, True, "above the floor 0.12, reaches the target 0.25"),
    ],
)
def test_a_ratio_is_compared_with_its_floor_and_target(
    value: float, is_met: bool, verdict: str
) -> None:
    goal = AtLeast(floor=0.12, target=0.25)

    assert (goal.is_met(value), goal.verdict(value)) == (is_met, verdict)


def test_a_cost_must_be_below_its_limit() -> None:
    assert AtMost(limit=1.0).is_met(0.99)
    assert not AtMost(limit=1.0).is_met(1.0)


def test_ratios_are_medians_of_the_ratios_of_each_round(capsys: pytest.CaptureFixture[str]) -> None:
    # The machine was slow in the second round, and fast in the third.
    bare = [measurement(BARE, rate) for rate in (10_000, 1_000, 20_000)]
    own = [measurement("sqlite", rate) for rate in (2_000, 250, 2_000)]

    is_met = report.print_ratios(["list"], ["sqlite"], [*bare, *own], check=True)

    assert is_met
    assert "0.200" in capsys.readouterr().out


def test_a_missed_floor_fails_the_check_alone(capsys: pytest.CaptureFixture[str]) -> None:
    measured = [measurement(BARE, 10_000), measurement("sqlite", 1_000)]

    assert not report.print_ratios(["list"], ["sqlite"], measured, check=True)
    assert "BELOW THE FLOOR" in capsys.readouterr().out
    assert report.print_ratios(["list"], ["sqlite"], measured, check=False)


class Creations:
    """A server on 127.0.0.1 that accepts a connection and sends each request the same response."""

    def __init__(self, status: str) -> None:
        self._answer = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.count = 0
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            while connection.recv(4_096):
                self.count += 1
                connection.sendall(self._answer)

    def close(self) -> None:
        self._listening.close()
        self._thread.join()


def wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def endless() -> Iterator[str]:
    while True:
        yield "POST / HTTP/1.1\r\n\r\n"


def test_background_commits_have_a_bounded_rate() -> None:
    server = Creations("201 Created")
    started = time.monotonic()

    with committing(server.port, endless()):
        wait_until(lambda: server.count > 0)
        time.sleep(0.3)
    server.close()

    seconds = time.monotonic() - started
    assert 1 <= server.count <= seconds * COMMITS_PER_SECOND + 1


@pytest.mark.parametrize(
    ("status", "creations"), [("409 Conflict", endless()), ("201 Created", iter(()))]
)
def test_commits_that_fail_or_run_out_fail_the_measurement(
    status: str, creations: Iterator[str]
) -> None:
    server = Creations(status)

    with pytest.raises(UnexpectedResponse), committing(server.port, creations):
        wait_until(lambda: not any(thread.name == "commits" for thread in threading.enumerate()))
    server.close()


def test_every_operation_of_growth_runs_in_a_filled_database(database_url: str) -> None:
    secrets = Secrets.generate()
    filled = fill(database_url, secrets, SIZES, NOW)
    counts = outside.rows(
        database_url,
        "SELECT count(*), (SELECT count(*) FROM audit_entries WHERE source = 'api'), "
        "sum(CASE status WHEN 'pending' THEN 1 ELSE 0 END) FROM leave_requests",
    )

    with closing(open_database(database_url, secrets)) as database:
        for organisation in filled:
            measured = place(database, organisation, NOW)
            for operation in operations():
                operation.run(measured, 0)

    ((requests, audit_entries, pending),) = counts
    assert (requests, audit_entries) == (900, 1_800)
    assert 0 < pending < 90


def growth(name: str, details: str, milliseconds: float, *, is_short: bool = True) -> Growth:
    operation = Operation(
        name=name, run=lambda place, number: None, details=details, is_short=is_short
    )
    return Growth(
        engine="sqlite",
        operation=operation,
        small_milliseconds=0.5,
        large_milliseconds=milliseconds,
    )


def test_the_slowest_of_each_operation_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    measured = [growth("list", "by day", 1), growth("list", "by type", 4), growth("form", "", 2)]

    assert print_growth(SIZES, measured, check=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:]] == ["list", "form"]
    assert "8.0  by type" in lines[2]


@pytest.mark.parametrize(
    ("is_short", "milliseconds", "is_met"),
    [(True, 4.9, True), (True, 5.1, False), (False, 24.9, True), (False, 25.1, False)],
)
def test_an_operation_on_the_event_loop_has_a_lower_limit(
    is_short: bool, milliseconds: float, is_met: bool
) -> None:
    measured = [growth("list", "", milliseconds, is_short=is_short)]

    assert print_growth(SIZES, measured, check=True) is is_met
    assert print_growth(SIZES, measured, check=False)


@pytest.mark.parametrize(("end", "is_met"), [(159.0, True), (160.0, False)])
def test_a_soak_is_judged_by_its_memory_at_the_end(
    end: float, is_met: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    soak = Soak(
        engine="sqlite",
        seconds=3_600.0,
        requests={"list": 1_000, "create": 500},
        start=120.0,
        peak=170.0,
        end=end,
        per_hour=0.5,
    )

    assert report.print_soak(soak, check=True) == is_met

    shown = capsys.readouterr().out
    assert "1,500 requests in 60 minutes: 500 create, 1,000 list" in shown
    assert f"120 MB resident at the start, 170 at most, {end:.0f} at the end" in shown
    assert ("below the limit 160" in shown) == is_met


@pytest.mark.slow
def test_a_soak_sends_the_whole_mix_and_sees_only_expected_responses(tmp_path: Path) -> None:
    soak = measure_soak("sqlite", seconds=8.0, rate=10.0, folder=tmp_path)

    assert set(soak.requests) == {*MIX}
    assert 50.0 < soak.start <= soak.peak
