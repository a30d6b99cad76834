"""Checks what the app sends to Slack against @slack/types, Slack's own TypeScript definitions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests import javascript

_TYPES = javascript.FOLDER / "node_modules" / "@slack" / "types"


def problems(
    folder: Path, *, messages: Iterable[list[dict[str, Any]]], views: Iterable[dict[str, Any]]
) -> list[str]:
    """The compiler's errors about the blocks of messages and about views; ``folder`` is empty.

    Each payload is a constant of its own, so that the compiler also refuses unknown members.
    """
    lines = ['import type { HomeView, KnownBlock, ModalView } from "@slack/types";']
    for number, blocks in enumerate(messages):
        lines.append(f"export const message{number}: KnownBlock[] = {json.dumps(blocks)};")
    for number, view in enumerate(views):
        kind = {"home": "HomeView", "modal": "ModalView"}[view["type"]]
        lines.append(f"export const view{number}: {kind} = {json.dumps(view)};")
    (folder / "payloads.ts").write_text("\n".join(lines))
    options = {
        "strict": True,
        "noEmit": True,
        "module": "esnext",
        "moduleResolution": "bundler",
        "types": [],
        "paths": {"@slack/types": [str(_TYPES)]},
    }
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "files": ["payloads.ts"]})
    )
    result = javascript.node("node_modules/typescript/bin/tsc", "--project", str(folder))
    # A line that begins with a space explains the error above it.
    return [line for line in result.stdout.splitlines() if not line.startswith(" ")]
