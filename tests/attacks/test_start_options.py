"""A server that is started with incomplete or contradictory options must not be open to attackers: it corrects the options as
kube-apiserver does, or it refuses to start."""
import json

import pytest

import mesh

SECRETS = "/api/v1/secrets"
RESET = "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false."


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = mesh.Store(tmp_path_factory.mktemp("options") / "store")
    yield store
    store.stop()


@pytest.fixture
def start(store, tmp_path):
    """start(*flags): a kube-apiserver that has these flags instead of --authorization-mode=RBAC and is ready."""
    started = []

    def start(*flags):
        server = mesh.KubeApiserver(tmp_path / f"server{len(started)}", store.url, *flags)
        server.arguments.remove("--authorization-mode=RBAC")
        server.start(wait=False)
        started.append(server)
        mesh.wait_until(lambda: server.client.answers("/readyz") or server.process.poll() is not None, 30, "kube-apiserver is ready")
        assert server.process.poll() is None, server.log.read_text()[-3000:]
        return server

    yield start
    for server in started:
        server.stop()


def write_configuration(folder, kind, **fields):
    path = folder / f"{kind}.yaml"
    path.write_text(json.dumps({"apiVersion": "apiserver.config.k8s.io/v1", "kind": kind, **fields}))
    return path


@pytest.mark.parametrize("flags", [
    [],
    ["--anonymous-auth=true"],
    ["--authorization-mode=AlwaysAllow"],
    ["--authorization-mode=RBAC,AlwaysAllow"],
], ids=lambda flags: " ".join(flags) or "no flags")
def test_everything_is_allowed_but_nobody_is_anonymous(start, flags):
    """Attack: read all secrets without credentials from a server whose authorizer is AlwaysAllow, which is the default.

    Expected: 401, also for health checks, and a warning in the log. Why: with AlwaysAllow, authentication is the only protection;
    kube-apiserver switches anonymous authentication off then, even if --anonymous-auth=true is given."""
    server = start(*flags)
    for path in (SECRETS, "/api/v1/namespaces/kube-system/configmaps", "/version", "/healthz", "/metrics", "/"):
        assert server.anonymous.get(path).code == 401, path
    assert server.anonymous("POST", "/api/v1/namespaces", {"metadata": {"name": "taken"}}).code == 401
    assert server.client.get(SECRETS).code == 200
    assert RESET in server.log.read_text()


def test_other_authorizers_leave_anonymous_requests_to_the_policy(start):
    """The opposite check: with RBAC, anonymous requests are authenticated as system:anonymous, and RBAC forbids what no role allows."""
    server = start("--authorization-mode=RBAC")
    assert server.anonymous.get("/healthz").code == 200
    assert server.anonymous.get(SECRETS).code == 403
    assert RESET not in server.log.read_text()


def test_configuration_without_anonymous_section_is_not_a_way_around(start, tmp_path):
    """Attack: the same with an AuthenticationConfiguration that does not mention anonymous requests.

    Expected: 401. Why: without the section, the flag decides, and the flag was reset."""
    server = start(f"--authentication-config={write_configuration(tmp_path, 'AuthenticationConfiguration')}")
    assert server.anonymous.get(SECRETS).code == 401
