"""Every shell command in the documents is run as it is written.

Commands for a running service go to one demo deployment, page by page. Commands that another test
runs, or that start something that does not end, are named here with the place that runs them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

import serve
from storage.base.secrets import new_secret_key
from tests.flows.running import ROOT, START_SECONDS, Deployment, Server, free_port

# The page whose commands set up what the other pages' commands need.
SET_UP = "docs/deployment.md"
PAGES = {
    **{
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in (
            SET_UP,
            "README.md",
            "CONTRIBUTING.md",
            *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
            *(f"docs/deploy/{path.name}" for path in sorted((ROOT / "docs/deploy").glob("*.md"))),
        )
    },
    "/docs": (ROOT / "api/documentation/guide.md").read_text(encoding="utf-8"),
}

# Commands that this test cannot run, and the test that runs them instead.
ELSEWHERE = {
    "make run": "tests/flows/test_playground.py",
    "make test": ".ci/run, as make test-all",
    "make lint": ".ci/run",
    "make catalogues NEW=it": "tests/bot/test_language.py",
    "$EDITOR bot/catalogues/it.po": "nothing: it is for a person",
    "hiatus bot": "tests/flows/test_slack.py",
    "python3 -m pip wheel": "tests/flows/test_wheel.py",
    "python3 -m venv": "tests/flows/test_wheel.py",
    "/opt/hiatus/bin/pip": "tests/flows/test_wheel.py",
    "/opt/hiatus/bin/hiatus": "tests/flows/test_wheel.py",
    "uv tool install": "nothing: it needs uv",
    "pipx install": "nothing: it needs pipx",
    "python -m serve init": "tests/flows/test_procfile.py",
    "honcho": "tests/flows/test_procfile.py, without honcho",
    "hiatus backup": "test_a_backup_restores_what_was_there",
    "hiatus restore": "test_a_backup_restores_what_was_there",
    "mkdir": "test_a_backup_restores_what_was_there",
    "mv": "test_a_backup_restores_what_was_there",
    "promtool": "tests/flows/test_monitoring.py",
    "hiatus people erase": "tests/storage/test_commands.py, with an archived person",
    "journalctl": "nothing: it needs a machine with systemd",
    **dict.fromkeys(
        (
            *("$EDITOR .env", ".venv/bin/pip", "apt-get", "cd"),
            *("certbot", "chmod", "chown", "cp", "docker compose", "install", "ls", "nginx"),
            *("$RELEASE/bin/pip", "ln", "runuser", "sed", "systemctl", "umask", "useradd"),
        ),
        "nothing: they change a whole machine; tests/flows/test_deploy_files.py has what they name",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One command of a document; the expected response comes from its comment."""

    page: str
    text: str
    expected_status: int | None
    expected_header: str = ""

    @property
    def is_assignment(self) -> bool:
        return re.match(r"(export )?[A-Z_]+=\S*(\s|$|\$\()", self.text) is not None

    @property
    def program(self) -> str:
        """The first word that is not an assignment."""
        return next(
            (word for word in self.text.split() if not re.match(r"[A-Z_]+=", word)), self.text
        )


def commands_of(page: str) -> list[Command]:
    commands: list[Command] = []
    for _, block in re.findall(r"^( *)```sh\n(.*?)^\1```", PAGES[page], re.DOTALL | re.MULTILINE):
        text = ""
        for line in textwrap.dedent(block).splitlines():
            again = re.match(r"# the same line again: (\d{3})(?:, (.*))?", line)
            if again:
                commands.append(
                    replace(
                        commands[-1], expected_status=int(again[1]), expected_header=again[2] or ""
                    )
                )
            elif text or (line and not line.startswith("#")):
                text += line + "\n"
                if _is_whole(text):
                    comment = re.search(r"\s+#\s*(\d{3})?[^'\"\n]*\n$", text)
                    status = int(comment[1]) if comment and comment[1] else None
                    command = text[: comment.start()] if comment else text
                    commands.append(
                        Command(page=page, text=command.strip(), expected_status=status)
                    )
                    text = ""
        assert not text, f"{page}: a command without an end: {text}"
    return commands


def _is_whole(text: str) -> bool:
    if text.endswith("\\\n"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def is_elsewhere(command: Command) -> bool:
    text = " ".join(command.text.split())
    return any(text == prefix or text.startswith(prefix + " ") for prefix in ELSEWHERE)


def test_every_page_with_commands_is_covered() -> None:
    programs = {
        command.program
        for page in PAGES
        for command in commands_of(page)
        if not command.is_assignment and not is_elsewhere(command)
    }

    assert programs <= {"curl", "hiatus"}, "add how to run the new command to this file"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`hiatus serve --demo`; nothing is sent to the receivers that documents name."""
    path = tmp_path_factory.mktemp("documents") / "hiatus.db"
    deployment = Deployment(
        f"sqlite:///{path}", HIATUS_SCHEDULER="off", HIATUS_WEBHOOK_ALLOW_PRIVATE="on"
    )
    with deployment.serving("--demo") as server:
        yield server


class Shell:
    """A shell at the demo deployment: variables persist, placeholders become real ids."""

    def __init__(self, server: Server) -> None:
        self._url = server.url
        keys = re.findall(r"hiatus_sk_live_\w+", server.printed())
        self._owner_key, self._member_key = keys[0], keys[1]
        self._owner = server.client(self._owner_key)
        self._assignments = ""

    def assign(self, command: Command) -> None:
        name = command.text.removeprefix("export ").partition("=")[0]
        script = f'{self._filled_in(command.text)}\nprintf %s "${name}"'
        value = self._run(script).stdout
        assert value, f"{name} is empty"
        self._assignments += f"{name}={shlex.quote(value)}\n"

    def curl(self, command: Command) -> None:
        done = self._run(self._filled_in(command.text))
        status = int(done.stderr.strip().splitlines()[-1])
        if command.expected_status is None:
            assert 200 <= status < 300, (command, done.stdout)
        else:
            assert status == command.expected_status, (command, done.stdout)
        assert command.expected_header.lower() in done.stdout.lower(), (command, done.stdout)

    def _run(self, script: str) -> subprocess.CompletedProcess[str]:
        reported = 'curl() { command curl -w "%{stderr}%{http_code}\\n" "$@"; }\n'
        return subprocess.run(
            ["bash", "-c", reported + self._assignments + script],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def _filled_in(self, text: str) -> str:
        for address in ("http://127.0.0.1:8000", "https://hiatus.example.com", "{base_url}"):
            text = text.replace(address, self._url)
        key = self._member_key if text.startswith("MEMBER=") else self._owner_key
        text = re.sub(r"hiatus_sk_live_(…|\.\.\.)", key, text)
        values: dict[str, Callable[[], Any]] = {
            "<annual allowance id>": lambda: self._get("allowances")["data"][0]["id"],
            "<new allowance id>": lambda: self._get("allowances")["data"][-1]["id"],
            "<department id>": lambda: self._get("departments")["data"][0]["id"],
            "<leave type id>": lambda: self._get("leave-types")["data"][0]["id"],
            "<request id>": self._pending_request,
            "<user id>": self._user_id,
            "<archived user id>": self._archived_user_id,
            "<set id>": lambda: self._get("organisation/public-holiday-sets")["data"][0]["id"],
            "<webhook id>": lambda: self._get("webhooks")["data"][0]["id"],
            "<token>": lambda: self._get("calendar-feeds/token")["token"],
            "<next_cursor>": lambda: self._get("leave-requests?status=approved&limit=2")[
                "pagination"
            ]["next_cursor"],
        }
        for name, value in values.items():
            if name in text:
                text = text.replace(name, value())
        assert "<" not in re.sub(r"<<|<\(", "", text), f"an unknown placeholder: {text}"
        return text

    def _get(self, path: str) -> Any:
        response = self._owner.get(f"/api/v1/{path}")
        assert response.status_code == 200, response.text
        return response.json()

    def _user_id(self, email: str = "amir@acme.example") -> str:
        [user_id] = [user["id"] for user in self._get("users") if user["email"] == email]
        return str(user_id)

    def _archived_user_id(self) -> str:
        person = {"email": "bo@acme.example", "first_name": "Bo", "last_name": "Lind"}
        user = self._owner.post("/api/v1/users", json=person).json()
        assert self._owner.delete(f"/api/v1/users/{user['id']}").status_code == 200
        return str(user["id"])

    def _pending_request(self) -> str:
        """The newest one that the owner may decide on."""
        owner_id = self._user_id("olivia@acme.example")
        pending = self._get("leave-requests?status=pending&limit=100")["data"]
        return str(next(request["id"] for request in pending if request["user_id"] != owner_id))


CALLING = [
    page
    for page in PAGES
    if any(command.program == "curl" for command in commands_of(page) if not is_elsewhere(command))
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl, as the documents do")
@pytest.mark.parametrize("page", CALLING)
def test_the_calls_of_a_page_work_as_they_are_written(page: str, demo: Server) -> None:
    shell = Shell(demo)
    ran = 0

    for command in commands_of(page):
        if is_elsewhere(command):
            continue
        if command.is_assignment and command.program != "hiatus":
            shell.assign(command)
        elif command.program == "curl":
            shell.curl(command)
            ran += 1

    assert ran


@pytest.mark.slow
def test_hiatus_commands_work_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people = "email,first_name,last_name\nbo@example.com,Bo,Lind\n"
    (tmp_path / "people.csv").write_text(people)
    leave = "email,leave_type,start_date\nbo@example.com,annual,2027-03-01\n"
    (tmp_path / "leave.csv").write_text(leave)
    env = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db",
        "HIATUS_SECRET_KEYS": new_secret_key(),
    }
    ran = []
    for text, where in _hiatus_commands().items():
        words = shlex.split(text.replace("\\\n", " "))
        arguments = words[words.index("hiatus") + 1 :]
        if arguments[0] == "serve":
            _starts_and_stops([sys.executable, str(ROOT / "serve.py"), *arguments], env, tmp_path)
        else:
            done = CliRunner().invoke(serve.command_line(env), arguments)
            assert done.exit_code == 0, (text, where, done.output)
        ran.append(arguments[0])

    assert {"migrate", "init", "serve", "keys", "slack"} <= set(ran)


def _hiatus_commands() -> dict[str, str]:
    """Each different command, in the order of the pages, with the first page that has it."""
    commands: dict[str, str] = {}
    for page in PAGES:
        for command in commands_of(page):
            if command.program == "hiatus" and not is_elsewhere(command):
                commands.setdefault(command.text, page)
    return commands


_NEW_KEY = ("keys", "create", "--email", "olive@example.com", "--name")


@pytest.mark.slow
def test_a_backup_restores_what_was_there(tmp_path: Path) -> None:
    files, backups = tmp_path / "hiatus", tmp_path / "backups"
    files.mkdir()
    backups.mkdir()
    deployment = Deployment(f"sqlite:///{files}/hiatus.db", HIATUS_SCHEDULER="off")
    # The page's key file, beside the database.
    del deployment.env["HIATUS_SECRET_KEYS"]
    save, restore = _backup_scripts(files, backups)
    deployment.command("migrate")
    deployment.init()

    # While the server runs, so that the newest changes are not in the file itself yet.
    with deployment.serving():
        deployment.command(*_NEW_KEY, "saved")
        _run_script(save, deployment)
        saved = deployment.command("keys", "list", "--json")
        deployment.command(*_NEW_KEY, "lost")
    _run_script(restore, deployment)

    assert deployment.command("keys", "list", "--json") == saved
    with deployment.serving() as server:
        assert httpx.get(f"{server.url}/readyz").status_code == 200


def _backup_scripts(files: Path, backups: Path) -> tuple[str, str]:
    """The page's commands that back up and restore an SQLite database, with other folders."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGES["docs/backup.md"], re.DOTALL | re.MULTILINE)
    save, restore = (
        block.replace("/var/lib/hiatus", str(files))
        .replace("/var/backups", str(backups))
        # Midnight may come between the two.
        .replace("$(date +%F)", "2026-12-07")
        for block in blocks
    )
    return save, restore


def _run_script(script: str, deployment: Deployment) -> None:
    hiatus = f'hiatus() {{ {sys.executable} {ROOT}/serve.py "$@"; }}\n'
    subprocess.run(["bash", "-ec", hiatus + script], env=deployment.env, check=True, timeout=60)


def _starts_and_stops(command: list[str], env: dict[str, str], folder: Path) -> None:
    port = free_port()
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        else:
            pytest.fail(f"{command} did not become ready")
    finally:
        process.terminate()
        _, logged = process.communicate(timeout=90)
    assert process.returncode == 0, logged


@pytest.mark.parametrize("prefix", ELSEWHERE)
def test_a_command_that_is_run_elsewhere_is_still_in_a_document(prefix: str) -> None:
    documented = [" ".join(c.text.split()) for page in PAGES for c in commands_of(page)]

    assert any(text == prefix or text.startswith(prefix + " ") for text in documented)
