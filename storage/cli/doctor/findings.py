"""A check of the installation, what it found, and the command that prints it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

import click

State = Literal["ok", "warning", "failed"]

CHECK_SECONDS: Final = 10.0
_COLOURS: Final[dict[State, str]] = {"ok": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line: what was looked at and, unless it is ok, what to do. It contains no secret."""

    state: State
    subject: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Looks at one part of the installation within ``seconds``; it may raise."""

    subject: str
    look: Callable[[], Sequence[Finding]]
    seconds: float = CHECK_SECONDS


def ok(subject: str, text: str) -> list[Finding]:
    return [Finding(state="ok", subject=subject, text=text)]


def warning(subject: str, text: str) -> list[Finding]:
    return [Finding(state="warning", subject=subject, text=text)]


def failed(subject: str, text: str) -> list[Finding]:
    return [Finding(state="failed", subject=subject, text=text)]


def by_limits(value: float, *, warns_over: float, fails_over: float) -> State:
    """The state of a value that is worse the higher it is."""
    return "failed" if value > fails_over else "warning" if value > warns_over else "ok"


def clock_finding(other: str, difference: timedelta) -> list[Finding]:
    """What the difference between this machine's clock and another one means.

    Leases and the signatures of webhooks and of Slack compare times of different machines.
    """
    seconds = abs(difference.total_seconds())
    state = by_limits(seconds, warns_over=5, fails_over=60)
    if state == "ok":
        return ok("clock", f"agrees with that of {other}")
    direction = "ahead of" if difference > timedelta() else "behind"
    text = f"{seconds:,.0f} s {direction} that of {other}: synchronise both with NTP"
    return [Finding(state=state, subject="clock", text=text)]


def leads_to_this_machine(url: str) -> bool:
    """Whether only programs on this machine reach the URL."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def run(checks: Sequence[Check]) -> Iterator[Finding]:
    """What the checks find, in their order. They run at the same time.

    A check that does not end in its time is a failure; its thread ends with the process.
    """
    for running in [_Running(check) for check in checks]:
        yield from running.findings()


class _Running:
    """One check on a thread of its own: no time-out ends a call to a file system that hangs."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._findings: Sequence[Finding] | None = None
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def findings(self) -> Sequence[Finding]:
        self._thread.join(self._check.seconds)
        if self._findings is None:
            text = (
                f"no result within {self._check.seconds:g} s: check that the database, the name "
                "server and the disk answer"
            )
            return failed(self._check.subject, text)
        return self._findings

    def _look(self) -> None:
        try:
            self._findings = self._check.look()
        except Exception as error:  # noqa: BLE001  # the other checks are still printed
            # Without its message, which could contain a secret.
            text = f"could not be checked: {type(error).__name__}"
            self._findings = failed(self._check.subject, text)


def settings_check(
    problems: Sequence[str], *contradictions: Callable[[], Sequence[Finding]]
) -> Check:
    """Malformed settings, and valid ones that contradict each other."""

    def look() -> Sequence[Finding]:
        found = [finding for problem in problems for finding in failed("settings", problem)]
        for contradiction in contradictions:
            found += contradiction()
        return found or ok("settings", "are valid and consistent")

    return Check(subject="settings", look=look)


def command(checks: Callable[[], Sequence[Check]]) -> click.Command:
    """``hiatus doctor`` with these checks."""

    @click.command()
    def doctor() -> None:
        """Check settings, databases, disk, clock, Redis, Slack and BASE_URL; changes nothing."""
        states = set()
        for finding in run(checks()):
            states.add(finding.state)
            # Padded before it is coloured, because colour codes would count towards the width.
            state = click.style(f"{finding.state:<8}", fg=_COLOURS[finding.state])
            click.echo(f"{state} {finding.subject:<12} {finding.text}")
        if "failed" in states:
            raise click.exceptions.Exit(1)

    return doctor
