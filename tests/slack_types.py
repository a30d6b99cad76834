"""Checks what the app sends to Slack against @slack/types, Slack's own TypeScript definitions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests import javascript
from tests.fakes.slack import LoopbackSlack

# The package has no type of the answer to a search.
# Source: docs.slack.dev/reference/block-kit/block-elements/select-menu-element.
_DECLARATIONS = """
import type {
  HomeView, KnownBlock, ModalView, PlainTextElement, PlainTextOption
} from "@slack/types";
type Options =
  | { options: PlainTextOption[] }
  | { option_groups: { label: PlainTextElement; options: PlainTextOption[] }[] };
"""
_TYPES = javascript.FOLDER / "node_modules" / "@slack" / "types"


def problems_of(slack: LoopbackSlack, folder: Path) -> list[str]:
    """The compiler's errors about all that the app sent to this Slack, as ``problems``."""
    messages = ("chat.postMessage", "chat.update", "chat.postEphemeral")
    bodies = [call.arguments for method in messages for call in slack.calls(method)]
    bodies += [post.body for post in slack.response_posts]
    answers = [answer.body for answer in slack.answers if isinstance(answer.body, dict)]
    changes = ("views.open", "views.push", "views.update", "views.publish")
    views = [call.arguments["view"] for method in changes for call in slack.calls(method)]
    return problems(
        folder,
        messages=[body["blocks"] for body in bodies if body.get("blocks")],
        views=views + [answer["view"] for answer in answers if "view" in answer],
        options=[answer for answer in answers if answer.keys() & {"options", "option_groups"}],
    )


def problems(
    folder: Path,
    *,
    messages: Iterable[list[dict[str, Any]]],
    views: Iterable[dict[str, Any]],
    options: Iterable[dict[str, Any]] = (),
) -> list[str]:
    """The compiler's errors about the blocks of messages, views and the answers to searches.

    Each payload is a constant of its own, so that the compiler also refuses unknown members. The
    ``folder`` is empty.
    """
    typed: list[tuple[str, object]] = [("KnownBlock[]", blocks) for blocks in messages]
    typed += [({"home": "HomeView", "modal": "ModalView"}[view["type"]], view) for view in views]
    typed += [("Options", answer) for answer in options]
    different = dict.fromkeys((kind, json.dumps(payload)) for kind, payload in typed)
    lines = [
        f"export const payload{number}: {kind} = {payload};"
        for number, (kind, payload) in enumerate(different)
    ]
    (folder / "payloads.ts").write_text("\n".join([*lines, _DECLARATIONS]))
    settings = {
        "strict": True,
        "noEmit": True,
        "module": "esnext",
        "moduleResolution": "bundler",
        "types": [],
        "paths": {"@slack/types": [str(_TYPES)]},
    }
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": settings, "files": ["payloads.ts"]})
    )
    result = javascript.node("node_modules/typescript/bin/tsc", "--project", str(folder))
    # A line that begins with a space explains the error above it.
    return [line for line in result.stdout.splitlines() if not line.startswith(" ")]
