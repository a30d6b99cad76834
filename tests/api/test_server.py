"""An address that cannot be served ends the command with a sentence, before anything starts."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import serve
from api.service import server


def served(folder: Path, *options: str) -> Result:
    env = {"DATABASE_URL": f"sqlite:///{folder}/hiatus.db"}
    return CliRunner().invoke(serve.command_line(env), ["serve", "--demo", *options])


def test_a_port_in_use_ends_serve_before_it_writes_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        done = served(tmp_path, "--port", str(port))

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"Port {port} of 127.0.0.1 is in use by another program. Stop that program, or choose "
        'another port, such as --port 9000. With make: `make run ARGS="--port 9000"`.\n'
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "sentence"),
    [
        # Of the block for documentation, RFC 5737.
        ("192.0.2.1", "192.0.2.1 is not an address of this machine. Use --host 127.0.0.1"),
        ("no-such-host.invalid", "'no-such-host.invalid' is not a host that this machine can find"),
    ],
)
def test_an_address_of_another_machine_is_refused(tmp_path: Path, host: str, sentence: str) -> None:
    done = served(tmp_path, "--host", host)

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(sentence)


def test_a_port_for_root_only_is_refused_with_a_cure() -> None:
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    assert server.why_not(refused, "127.0.0.1", 80) == (
        "This user may not listen on port 80. Choose a port from 1024 on, such as --port 8000, and "
        "let a reverse proxy listen on 80 and 443."
    )
