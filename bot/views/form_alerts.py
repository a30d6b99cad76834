"""Why a form about leave cannot be sent yet, as alerts at the fields at fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.payloads import ShownView
from bot.blocks import layout
from bot.blocks.layout import AlertLevel
from bot.views.request_values import Problems

_MAX_PROBLEMS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Alerts:
    """``problems`` by field; ``is_sent``: Send was pressed in spite of them."""

    problems: Problems
    is_sent: bool = False

    def at(self, field: str) -> list[Block]:
        """The alerts below a field, or of the whole form."""
        level: AlertLevel = "error" if self.is_sent else "warning"
        problems = self.problems.get(field, ())[:_MAX_PROBLEMS]
        return [
            layout.alert(problem, f"{ids.ALERT}{field}.{index}", level)
            for index, problem in enumerate(problems)
        ]


NO_ALERTS: Final = Alerts(problems={})


def shown(view: ShownView) -> set[str]:
    """The sentences in the alerts of a form."""
    return {
        block.get("text", {}).get("text", "")
        for block in view.get("blocks", ())
        if block.get("block_id", "").startswith(ids.ALERT)
    }
