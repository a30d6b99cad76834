"""The commit that `hiatus --version`, metrics and backups name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import serve
from api.base.metrics import Metrics
from api.base.version import UNKNOWN, VERSION, commit, commit_of_checkout

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="makes a repository")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "One")
    return folder


def git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    done = subprocess.run(
        ["git", "-C", str(folder), *person, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@needs_git
def test_the_commit_of_a_checkout_is_its_head(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    assert commit_of_checkout(checkout) == head

    git(checkout, "pack-refs", "--all")
    assert commit_of_checkout(checkout) == head

    git(checkout, "checkout", "--quiet", "--detach")
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "Two")
    assert commit_of_checkout(checkout) == git(checkout, "rev-parse", "HEAD") != head


@needs_git
def test_a_worktree_has_a_commit_of_its_own(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    git(tmp_path / "tree", "commit", "--quiet", "--allow-empty", "--message", "Two")

    head = git(tmp_path / "tree", "rev-parse", "HEAD")

    assert commit_of_checkout(tmp_path / "tree") == head != commit_of_checkout(checkout)


def test_a_folder_without_git_has_no_commit(tmp_path: Path) -> None:
    assert commit_of_checkout(tmp_path) == UNKNOWN


def test_the_version_and_its_commit_are_printed_and_in_the_metrics() -> None:
    printed = CliRunner().invoke(serve.command_line({}), ["--version"]).output
    exposed = Metrics().exposition(None).decode()

    assert re.fullmatch(r"[0-9a-f]{40,64}|unknown", commit())
    assert printed == f"hiatus {VERSION} (commit {commit()})\n"
    assert f'hiatus_build_info{{commit="{commit()}",python=' in exposed
