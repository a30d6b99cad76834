"""nginx and Caddy with the files of docs/deploy, for tests; from the system's packages.

Only addresses, paths and the certificate are replaced in the files.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.flows.running import ROOT, free_port

NAME: Final = "leave.example.com"
# Debian installs nginx where only root looks for programs.
PROGRAMS: Final = {
    name: shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    for name in ("nginx", "caddy")
}

# Earlier ones cannot send a body to a second process (docs/proxy.md).
CADDY_THAT_REPEATS: Final = (2, 11, 2)

_START_SECONDS: Final = 30
_STOP_SECONDS: Final = 30
_NGINX: Final = """
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/hiatus.conf;
}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proxy:
    """A running proxy. ``tls`` trusts its certificate, which is for 127.0.0.1 as well."""

    http_port: int
    https_port: int
    tls: ssl.SSLContext
    folder: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.https_port}"

    def client(self, api_key: str = "", *, local_address: str = "127.0.0.1") -> httpx.Client:
        """A client that sends the key, from an address of this machine."""
        return httpx.Client(
            transport=httpx.HTTPTransport(verify=self.tls, local_address=local_address),
            base_url=self.url,
            headers={"Host": NAME} | ({"Authorization": f"Bearer {api_key}"} if api_key else {}),
            timeout=60,
        )

    def logged(self) -> str:
        """Every log that the proxy has written, and its output."""
        return "".join(
            path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log"))
        )


@contextmanager
def running(name: str, folder: Path, upstream_ports: Sequence[int]) -> Iterator[Proxy]:
    """``nginx`` or ``caddy`` in front of servers on 127.0.0.1, with its files in ``folder``."""
    proxy = Proxy(
        http_port=free_port(), https_port=free_port(), tls=_certificate(folder), folder=folder
    )
    command = _COMMANDS[name](proxy, upstream_ports)
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                # Where Caddy keeps its state.
                "HOME": str(folder),
                "SITE": NAME,
                "UPSTREAMS": " ".join(f"127.0.0.1:{port}" for port in upstream_ports),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        _wait_until_it_answers(proxy, process)
        yield proxy
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)


def _nginx(proxy: Proxy, upstream_ports: Sequence[int]) -> list[str]:
    folder = proxy.folder
    documented = (ROOT / "docs/deploy/nginx.conf").read_text(encoding="utf-8")
    [server] = re.findall(r"^    (server 127\.0\.0\.1:8000.*)$", documented, re.MULTILINE)
    servers = "\n".join(server.replace("8000", str(port)) for port in upstream_ports)
    text = _replaced(
        documented,
        {
            server: servers,
            "listen 80;": f"listen 127.0.0.1:{proxy.http_port};",
            "listen [::]:80;": "",
            "listen 443 ssl;": f"listen 127.0.0.1:{proxy.https_port} ssl;",
            "listen [::]:443 ssl;": "",
            f"/etc/letsencrypt/live/{NAME}/fullchain.pem": f"{folder}/certificate.pem",
            f"/etc/letsencrypt/live/{NAME}/privkey.pem": f"{folder}/key.pem",
            "/var/log/nginx/": f"{folder}/",
        },
    )
    (folder / "hiatus.conf").write_text(text)
    user = pwd.getpwuid(os.getuid()).pw_name
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, user=user))
    return [_program("nginx"), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]


def _caddy(proxy: Proxy, upstream_ports: Sequence[int]) -> list[str]:
    folder = proxy.folder
    documented = (ROOT / "docs/deploy/Caddyfile").read_text(encoding="utf-8")
    ports = f"http_port {proxy.http_port}\n\thttps_port {proxy.https_port}"
    text = _replaced(
        documented,
        {
            # No port for administration, and no certificate of an authority on the internet.
            "\n{\n": f"\n{{\n\tadmin off\n\t{ports}\n\tdefault_bind 127.0.0.1\n",
            "\n\tlog\n": f"\n\tlog\n\ttls {folder}/certificate.pem {folder}/key.pem\n",
        },
    )
    (folder / "Caddyfile").write_text(text)
    return [_program("caddy"), "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


_COMMANDS: Final[dict[str, Callable[[Proxy, Sequence[int]], list[str]]]] = {
    "nginx": _nginx,
    "caddy": _caddy,
}


def caddy_version() -> tuple[int, ...]:
    """As in "2.6.2" from Debian, or "v2.11.4 h1:…"."""
    printed = subprocess.run(
        [_program("caddy"), "version"], capture_output=True, text=True, check=True
    ).stdout
    return tuple(int(part) for part in re.findall(r"\d+", printed.split()[0])[:3])


def _program(name: str) -> str:
    program = PROGRAMS[name]
    assert program is not None
    return program


def _replaced(text: str, values: dict[str, str]) -> str:
    for old, new in values.items():
        assert old in text, f"the documented file has no {old!r}"
        text = text.replace(old, new)
    return text


def _certificate(folder: Path) -> ssl.SSLContext:
    """Write a certificate and its key; a context that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName(NAME), x509.IPAddress(ip_address("127.0.0.1"))]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "certificate.pem").write_bytes(pem)
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return ssl.create_default_context(cadata=pem.decode())


def _wait_until_it_answers(proxy: Proxy, process: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + _START_SECONDS
    # A path that needs no upstream.
    while process.poll() is None and time.monotonic() < ends_at:
        with suppress(httpx.TransportError), proxy.client() as http:
            http.get("/metrics")
            return
        time.sleep(0.05)
    process.kill()
    raise RuntimeError(f"the proxy does not start:\n{proxy.logged()}")
