"""The runbooks' scripts do what their pages say."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from storage.db.schema import migrate
from tests.flows.days import free_monday
from tests.flows.running import ROOT, Deployment
from tests.flows.test_main_job import hire, unpaid

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "docs" / "operations" / "copy_leave.py"


def approved_notes(client: httpx.Client) -> dict[str, str]:
    """By note: whose leave is approved."""
    page = client.get("/api/v1/leave-requests?status=approved&limit=100").raise_for_status().json()
    return {request["note"]: request["user_id"] for request in page["data"]}


def test_leave_that_only_a_restored_copy_has_is_copied_once(
    sqlite_url: str, tmp_path: Path
) -> None:
    copied_url = f"sqlite:///{tmp_path}/copy.db"
    here = Deployment(sqlite_url)
    migrate(sqlite_url)
    owner_key = here.init()["api_key"]
    monday = f"{free_monday()}"
    with ExitStack() as stack:
        server = stack.enter_context(here.serving())
        owner = server.client(owner_key)
        people = {}
        for name in ("Ada", "Grace"):
            hire(owner, name)
            words = ("--email", f"{name.lower()}@example.com", "--name", "test", "--json")
            people[name] = server.client(here.command("keys", "create", *words)["api_key"])
        requests = {}
        for name, person in people.items():
            leave = {"leave_type_id": unpaid(owner), "start_date": monday, "end_date": monday}
            response = person.post("/api/v1/leave-requests", json=leave | {"note": name})
            requests[name] = response.json()["id"]
            owner.post(f"/api/v1/approvals/{requests[name]}/approve").raise_for_status()
        before = approved_notes(owner)
        archive = tmp_path / "backup.tar"
        here.command("backup", str(archive))
        for person, name in ((people["Ada"], "Ada"),):
            person.post(f"/api/v1/leave-requests/{requests[name]}/cancel").raise_for_status()
        assert approved_notes(owner).keys() == {"Grace"}

        copy = Deployment(copied_url, **{**here.env, "DATABASE_URL": copied_url})
        copy.command("restore", str(archive))
        beside = stack.enter_context(copy.serving(HIATUS_SCHEDULER="off"))
        hiatus = tmp_path / "bin" / "hiatus"
        hiatus.parent.mkdir()
        hiatus.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/serve.py "$@"\n')
        hiatus.chmod(0o755)
        command = [sys.executable, str(SCRIPT), beside.url, server.url, "acme"]
        path = f"{hiatus.parent}{os.pathsep}{os.environ['PATH']}"
        env = {**here.env, "PATH": path, "OWNER_KEY": owner_key}
        first, again = (
            subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
            for _ in range(2)
        )

        assert approved_notes(owner) == before
    assert (first.returncode, first.stdout.count(" is now ")) == (0, 1), first
    assert first.stdout.startswith(requests["Ada"])
    # The copied leave has another id, so the second run tries it again, and the rules refuse it.
    assert "was not copied: This overlaps" in again.stdout, again
