from __future__ import annotations

import json

from tests import javascript


def test_packages_are_pinned_and_the_lock_file_names_no_host() -> None:
    package = json.loads((javascript.FOLDER / "package.json").read_text())
    locked = json.loads((javascript.FOLDER / "package-lock.json").read_text())["packages"]

    pinned = {name: locked[f"node_modules/{name}"]["version"] for name in package["dependencies"]}
    assert pinned == package["dependencies"]
    assert [name for name, entry in locked.items() if name and "integrity" not in entry] == []
    assert [name for name, entry in locked.items() if "resolved" in entry] == []


def test_a_script_sees_the_installed_packages() -> None:
    result = javascript.node("-p", "typeof require('standardwebhooks').Webhook")

    assert (result.stdout, result.stderr) == ("function\n", "")
