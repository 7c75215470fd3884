"""Stolen certificates of the mesh: each gives access only to the listeners that its process needs."""
import socket
import ssl
import struct

import pytest

import mesh
import pki
from test_tcp_mesh import TcpMesh

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">I", 0)[1:] + b"\x04\x00" + struct.pack(">I", 0)
# The processes that call each server in normal operation.
CALLERS = {
    "core-api": {"aggregator", "authn-authz", "extensions-api"},
    "extensions-api": {"aggregator", "core-api"},
    "authn-authz": {"aggregator", "core-api", "extensions-api", "envoy"},
}
PROCESSES = ("aggregator", "core-api", "extensions-api", "authn-authz", "envoy")


@pytest.fixture(scope="module")
def tcp_mesh(tmp_path_factory):
    running = TcpMesh(tmp_path_factory.mktemp("mesh"))
    mesh.wait_until(lambda: running.client.answers("/readyz"), 30, "the mesh is ready")
    issue_console_certificate(running.folder / "pki")
    yield running
    running.stop()


def issue_console_certificate(folder):
    """`apimesh pki` makes no certificate for the web console. This one is what an attacker would have if it did."""
    (folder / "console").mkdir()
    key, request, extensions = (folder / "console" / name for name in ("mesh.key", "mesh.csr", "mesh.ext"))
    pki.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=console")
    extensions.write_text("extendedKeyUsage=clientAuth,serverAuth\nsubjectAltName=URI:spiffe://apimesh/console\n")
    pki.openssl("x509", "-req", "-in", request, "-CA", folder / "mesh-ca.crt", "-CAkey", folder / "mesh-ca.key", "-CAcreateserial", "-days", "1",
                "-out", folder / "console" / "mesh.crt", "-extfile", extensions)


def context_of(tcp_mesh, process, authority="mesh"):
    context = ssl._create_unverified_context()
    folder = tcp_mesh.folder / "pki" / process
    context.load_cert_chain(folder / f"{authority}.crt", folder / f"{authority}.key")
    return context


def answers(port, context, protocol, hello):
    """Returns whether the server sends anything after the handshake and `hello`."""
    context.set_alpn_protocols([protocol])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as plain, context.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(hello)
            return len(secure.recv(9)) > 0
    except OSError:
        return False


@pytest.mark.parametrize("server", CALLERS)
@pytest.mark.parametrize("process", (*PROCESSES, "console"))
def test_a_process_answers_only_its_callers(tcp_mesh, server, process):
    """Attack: use the certificate of one process to call another, as any user.
    Expected: the handshake fails unless that process calls the other in normal operation.
    Why: the request contains the user, so a caller of the Delegate service can act as any user."""
    got = answers(tcp_mesh.ports[server], context_of(tcp_mesh, process), "h2", PREFACE)
    assert got == (process in CALLERS[server])


@pytest.mark.parametrize("process", (*PROCESSES, "console"))
def test_only_envoy_reaches_the_front_proxy_port(tcp_mesh, process):
    """Attack: another process of the mesh sends a client certificate in a header to the listener for the front proxy.
    Expected: only the certificate of Envoy is accepted. Why: this listener trusts x-forwarded-client-cert."""
    hello = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    got = answers(tcp_mesh.ports["aggregator"], context_of(tcp_mesh, process), "http/1.1", hello)
    assert got == (process == "envoy")


@pytest.mark.parametrize("process", (*PROCESSES, "console"))
def test_no_certificate_of_the_mesh_opens_the_store(tcp_mesh, process):
    """Attack: use a certificate of the mesh to read every Secret from the store.
    Expected: the store rejects it. Why: the store has its own CA, which issues client certificates only for API servers."""
    assert not answers(tcp_mesh.ports["store"], context_of(tcp_mesh, process), "h2", PREFACE)


def test_the_stores_own_clients_are_let_in(tcp_mesh):
    """The counterpart of the test above: a client certificate of the store is accepted."""
    assert answers(tcp_mesh.ports["store"], context_of(tcp_mesh, "core-api", "etcd"), "h2", PREFACE)


def test_folders_hold_only_what_their_process_needs(tcp_mesh):
    """Attack: take over a container and use its mounted keys elsewhere.
    Expected: it has only its own keys, no key of a CA, and only core-api has the signing key of tokens."""
    root = tcp_mesh.folder / "pki"
    keys = {process: {path.name for path in (root / process).glob("*.key")} for process in (*PROCESSES, "store")}
    assert keys == {
        "aggregator": {"mesh.key", "etcd.key", "apiserver.key", "front-proxy-client.key"},
        "core-api": {"mesh.key", "etcd.key", "sa.key"},
        "extensions-api": {"mesh.key", "etcd.key"},
        "authn-authz": {"mesh.key"},
        "envoy": {"mesh.key", "apiserver.key"},
        "store": {"etcd.key"},
    }
    for path in root.rglob("*.key"):
        assert path.stat().st_mode & 0o077 == 0, path
