"""A form about leave that was sent and refused: each refusal is shown once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.base import payloads
from bot.base.block_kit import View
from bot.interaction import errors
from bot.interaction.interaction import Interaction
from bot.views import request_values
from storage.base.errors import DomainError


async def show(
    interaction: Interaction,
    refusal: DomainError,
    render: Callable[[], Awaitable[View]],
    *,
    is_own: bool = True,
) -> None:
    """Show the refusal at its field, or the form again if an alert in it says the same.

    ``render`` makes that form, whose alerts are now errors.
    """
    view = interaction.body["view"]
    inputs = payloads.inputs(view)
    if interaction.is_answered or not inputs:
        raise refusal  # Shown elsewhere: the form is acknowledged, or its fields are unknown.
    unseen = errors.inline(refusal, inputs, shown=request_values.shown_alerts(view), is_own=is_own)
    if unseen:
        await interaction.ack(response_action="errors", errors=unseen)
    else:
        await interaction.ack(response_action="update", view=await render())
