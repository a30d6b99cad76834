"""The registered listeners as a list, for tests that send something to each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from slack_bolt.async_app import AsyncApp

from bot import listeners
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from bot.listeners import unknown

# "action" is a click or a selection, "options" a search in a select menu.
Kind = Literal["command", "shortcut", "action", "options", "view", "view_closed", "event"]
Act = Callable[[Interaction], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """The name is a command, a callback id, an action id or an event's type."""

    kind: Kind
    name: str
    act: Act | None = None


class _Recorder:
    """Takes registrations in place of Bolt's app."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []

    def __getattr__(self, kind: str) -> Any:
        def registering(name: Any, **how: Any) -> Callable[[Act], None]:
            # The fallbacks have a pattern.
            if isinstance(name, str):
                return lambda act: self.listeners.append(Listener(kind=kind, name=name, act=act))  # type: ignore[arg-type]
            return lambda act: None

        return registering


def registered(command: str = "/timeoff") -> list[Listener]:
    """Every listener except the fallbacks."""
    return registered_by(lambda app: listeners.register(app, command))


def registered_by(register: Callable[[AsyncApp], None]) -> list[Listener]:
    recorder: Any = _Recorder()
    register(recorder)
    found: list[Listener] = recorder.listeners
    return found


def only(*expected: Listener) -> Callable[[AsyncApp], None]:
    """Registers these listeners and the fallbacks."""

    def register(app: AsyncApp) -> None:
        for listener in expected:
            assert listener.act is not None
            if listener.kind == "event":
                listening.on_event(app, listener.name, listener.act)
            else:
                getattr(app, listener.kind)(listener.name)(listener.act)
        unknown.register(app)

    return register
