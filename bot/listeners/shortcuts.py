"""Global shortcuts."""

from __future__ import annotations

from typing import Final

from bot import ids
from bot.listeners import request_form
from bot.listening import Listener

LISTENERS: Final = (Listener("shortcut", ids.REQUEST_SHORTCUT, request_form.open_form),)
