"""The files of docs/deploy name commands, settings, paths and times that Hiatus has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import serve
from api.http.fields import MAX_BODY_BYTES
from api.service.server import DRAIN_SECONDS, FINISH_SECONDS
from storage.base.environment import Environment
from storage.base.settings import StorageSettings
from tests.flows.running import ROOT

FOLDER = ROOT / "docs" / "deploy"
SYSTEMD = FOLDER / "systemd"
SERVICES = ("hiatus@.service", "hiatus-bot.service", "hiatus-backup.service")
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
# Of compose.yaml itself, and of systemd's and PostgreSQL's own.
NOT_SETTINGS = {"SITE", "UPSTREAMS", "POSTGRES_USER", "POSTGRES_PASSWORD"}
STOP_SECONDS = DRAIN_SECONDS + FINISH_SECONDS


def unit(name: str) -> dict[str, list[str]]:
    """The values of each option of a unit."""
    options: dict[str, list[str]] = {}
    for line in (SYSTEMD / name).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\w+)=(.*)", line):
            options.setdefault(match[1], []).append(match[2])
    return options


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each place, and the arguments of ``hiatus`` there."""
    for name in SERVICES:
        for option in ("ExecStartPre", "ExecStart"):
            for line in unit(name).get(option, ()):
                for arguments in re.findall(r"/opt/hiatus/bin/hiatus ([^']*)", line):
                    yield name, shlex.split(arguments.replace("%i", "8000"))
    for name, service in COMPOSE["services"].items():
        if service["image"] == "hiatus" and "command" in service:
            yield f"compose.yaml: {name}", service["command"]
    [command] = re.findall(r"^CMD \[(.*)\]$", text_of("Containerfile"), re.MULTILINE)
    yield "Containerfile", re.findall(r'"([^"]*)"', command)
    for page in ("systemd.md", "containers.md"):
        blocks = re.findall(r"^```sh\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
        for block in blocks:
            text = re.sub(r"\$\([^)]*\)", "today", block.replace("\\\n", " "))
            for line in re.findall(r"^(?:docker .*? web-1 )?hiatus (.*)$", text, re.MULTILINE):
                yield page, shlex.split(line)


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("place", "arguments"), [*commands()])
def test_every_command_exists_with_its_options(place: str, arguments: list[str]) -> None:
    command: Any = serve.command_line({})
    while hasattr(command, "commands"):
        command, arguments = command.commands[arguments[0]], arguments[1:]

    # Raises for an unknown option and for one that is missing.
    command.make_context(place, arguments)


def test_every_kind_of_file_names_commands() -> None:
    places = {place.partition(":")[0] for place, _ in commands()}

    assert places == {*SERVICES, "compose.yaml", "Containerfile", "systemd.md", "containers.md"}


def test_hiatus_has_time_to_stop() -> None:
    for name in ("hiatus@.service", "hiatus-bot.service"):
        assert int(unit(name)["TimeoutStopSec"][0]) > STOP_SECONDS
    for name in ("web-1", "web-2", "bot"):
        assert int(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


def test_every_setting_exists() -> None:
    named = {
        name
        for file in ("systemd/hiatus.env", "env.example")
        for name in re.findall(r"^(\w+)=", text_of(file), re.MULTILINE)
    }
    for service in COMPOSE["services"].values():
        named |= set(service.get("environment", ()))
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    unknown = {name for name in named if f"| `{name.removesuffix('_FILE')}`" not in page}

    assert unknown - NOT_SETTINGS == set()
    assert {"DATABASE_URL", "BASE_URL", "HIATUS_SECRET_KEYS", "HIATUS_SECRET_KEYS_FILE"} <= named


def test_the_services_are_hardened_alike() -> None:
    hardening = {
        name: (SYSTEMD / name).read_text(encoding="utf-8").partition("UMask=")[2].partition("[")[0]
        for name in SERVICES
    }

    assert len({text.strip() for text in hardening.values()}) == 1
    assert "ProtectSystem=strict" in hardening["hiatus@.service"]


def test_the_image_contains_every_package() -> None:
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text_of("Containerfile"), re.MULTILINE)
    names = {name for line in copied for name in line.split()}

    assert {"api", "bot", "playground", "storage", "serve.py", "requirements.txt"} <= names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_compose_names_files_and_services_that_exist() -> None:
    services = COMPOSE["services"]
    build = services["web-1"]["build"]
    context = FOLDER / build["context"]
    caddyfile = services["proxy"]["volumes"][0].partition(":")[0]

    assert context.resolve() == ROOT
    assert (context / build["dockerfile"]).is_file()
    assert (FOLDER / caddyfile).is_file()
    for upstream in services["proxy"]["environment"]["UPSTREAMS"].split():
        assert upstream.removesuffix(":8000") in services
    for service in services.values():
        assert {*service.get("depends_on", ())} <= {*services}


def test_the_proxies_fit_to_the_limits_of_hiatus() -> None:
    nginx, caddy = text_of("nginx.conf"), text_of("Caddyfile")
    patterns = {
        "response": (r"proxy_read_timeout (\d+)s;", r"response_header_timeout (\d+)s"),
        "body": (r"client_max_body_size (\d+)m;", r"max_size (\d+)MiB"),
    }
    limits = {
        name: [int(re.findall(of_nginx, nginx)[0]), int(re.findall(of_caddy, caddy)[0])]
        for name, (of_nginx, of_caddy) in patterns.items()
    }

    settings = StorageSettings.read(Environment({}), creates_key=False)
    assert min(limits["response"]) > settings.database_timeout
    # Slack's requests may have four times as much as others.
    assert min(limits["body"]) << 20 >= 4 * MAX_BODY_BYTES


def test_the_proxies_reuse_no_connection() -> None:
    assert "proxy_set_header Connection close;" in text_of("nginx.conf")
    assert "keepalive off" in text_of("Caddyfile")


def test_every_file_that_a_command_of_a_page_names_exists() -> None:
    for page in FOLDER.glob("*.md"):
        for name in re.findall(r"\bdocs/deploy/[\w./@-]+", page.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), (page.name, name)


def test_every_unit_that_a_page_names_exists() -> None:
    units = {path.name.partition(".")[0].partition("@")[0] for path in SYSTEMD.glob("hiatus*.*")}
    named = {
        (page.name, unit)
        for page in (ROOT / "docs").rglob("*.md")
        for line in re.findall(r"systemctl (.*)", page.read_text(encoding="utf-8"))
        for unit in re.findall(r"\bhiatus[\w@.-]*", line)
    }

    assert ("disk-full.md", "hiatus@8000") in named
    unknown = {
        (page, unit)
        for page, unit in named
        if unit == "hiatus" or re.split(r"[@.]", unit)[0] not in units
    }
    assert unknown == set()


def test_every_process_has_a_memory_limit() -> None:
    for name in SERVICES:
        assert (unit(name)["MemoryHigh"], unit(name)["MemoryMax"]) == (["448M"], ["512M"])
    for name, service in COMPOSE["services"].items():
        hiatus = service["image"] == "hiatus"
        assert service["mem_limit"] == "512m" if hiatus else "mem_limit" in service, name


def test_an_exported_setting_wins_over_that_of_the_services(tmp_path: Path) -> None:
    settings = tmp_path / "hiatus.env"
    settings.write_text("DATABASE_URL='postgresql:///hiatus?host=/run'\nLOG_FORMAT=console\n")
    script = (SYSTEMD / "hiatus").read_text(encoding="utf-8")
    script = script.replace("/etc/hiatus/hiatus.env", str(settings))
    script = script.replace("runuser --user hiatus -- /opt/hiatus/bin/hiatus", "printenv")
    exported = {"PATH": os.environ["PATH"], "DATABASE_URL": "sqlite:////copy/a b.db"}

    def printed(env: dict[str, str]) -> str:
        command = ["sh", "-c", script, "hiatus", "DATABASE_URL", "LOG_FORMAT"]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert printed(exported) == "sqlite:////copy/a b.db\nconsole\n"
    assert printed({"PATH": exported["PATH"]}) == "postgresql:///hiatus?host=/run\nconsole\n"


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze, of systemd, is not installed"
)
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for path in SYSTEMD.glob("hiatus*.*"):
        if path.suffix in (".service", ".timer"):
            text = path.read_text(encoding="utf-8").replace(
                "/opt/hiatus/bin/hiatus", sys.executable
            )
            (tmp_path / path.name).write_text(text)
    names = ["hiatus@8000.service", "hiatus-bot.service", "hiatus-backup.timer"]

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *names],
        cwd=tmp_path,
        env={"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        check=False,
    )

    about_ours = [line for line in done.stderr.splitlines() if "hiatus" in line]
    assert (done.returncode, about_ours) == (0, [])
