"""The wheel in an environment of its own has everything that `hiatus` needs at run time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import httpx
import pytest

from api.base.version import VERSION
from tests import swagger_ui
from tests.flows.running import ROOT, START_SECONDS, free_port

pytestmark = pytest.mark.slow

# As the container build gives it.
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_SOURCES = (
    "api",
    "bot",
    "playground",
    "storage",
    "serve.py",
    "pyproject.toml",
    "LICENSE",
    "NOTICE",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the sources, because the build writes beside them."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    for name in _SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, sources)
    _run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(folder), str(sources)),
        env={**os.environ, "HIATUS_COMMIT": _COMMIT},
    )
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def hiatus(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The installed command. Its environment borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = str(folder / "bin/python")
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", str(wheel))
    [site_packages] = folder.glob("lib/*/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return str(folder / "bin/hiatus")


def test_the_wheel_has_the_files_beside_the_modules(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    beside = {
        str(path.relative_to(ROOT))
        for package in ("api", "bot", "playground", "storage")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert beside - names == set()
    assert {f"api/website/static/swagger-ui/{name}" for name in swagger_ui.FILES} <= names
    licences = {f"hiatus-{VERSION}.dist-info/licenses/{name}" for name in ("LICENSE", "NOTICE")}
    assert licences <= names


def test_the_installed_command_migrates_and_serves(hiatus: str, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = {"PATH": os.defpath, "DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db", "BASE_URL": url}

    assert (
        _run(hiatus, "--version", env=env, cwd=tmp_path) == f"hiatus {VERSION} (commit {_COMMIT})\n"
    )
    assert "Applied 0100_version_1_0_0." in _run(hiatus, "migrate", env=env, cwd=tmp_path)

    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [hiatus, "serve", "--demo", "--port", str(port)],
            cwd=tmp_path,
            env=env,
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_ready(url)
        pages = [
            httpx.get(f"{url}{path}").status_code
            for path in ("/", "/privacy", "/docs", "/openapi.json", "/docs/errors", "/playground")
        ]
    finally:
        server.terminate()
        server.wait(START_SECONDS)
    assert pages == [200] * 6, (tmp_path / "log").read_text()


def _run(*command: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(url)
