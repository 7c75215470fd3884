"""A server that is started with incomplete or contradictory options must not be insecure: it corrects the options as
kube-apiserver does, or it does not start."""
import json

import pytest

import mesh
import start_options
from pki import Pki

SECRETS = "/api/v1/secrets"
RESET = "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false."


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = mesh.Store(tmp_path_factory.mktemp("options") / "store")
    yield store
    store.stop()


@pytest.fixture
def start(store, tmp_path):
    """Returns start(*flags), which starts a kube-apiserver with these flags instead of --authorization-mode=RBAC, and waits until it is ready."""
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
    kube-apiserver then disables anonymous authentication, even if --anonymous-auth=true is given."""
    server = start(*flags)
    for path in (SECRETS, "/api/v1/namespaces/kube-system/configmaps", "/version", "/healthz", "/metrics", "/"):
        assert server.anonymous.get(path).code == 401, path
    assert server.anonymous("POST", "/api/v1/namespaces", {"metadata": {"name": "taken"}}).code == 401
    assert server.client.get(SECRETS).code == 200
    assert RESET in server.log.read_text()


def test_other_authorizers_leave_anonymous_requests_to_the_policy(start):
    """Not an attack: with RBAC, anonymous requests are authenticated as system:anonymous, and RBAC denies what no role allows."""
    server = start("--authorization-mode=RBAC")
    # The authorizer receives the default roles shortly after they are written.
    mesh.wait_until(lambda: server.anonymous.answers("/healthz"), 5, "anonymous health checks are allowed")
    assert server.anonymous.get(SECRETS).code == 403
    assert RESET not in server.log.read_text()


def test_configuration_without_anonymous_section_is_not_a_way_around(start, tmp_path):
    """Attack: the same with an AuthenticationConfiguration that does not mention anonymous requests.

    Expected: 401. Why: without the section, the flag decides, and the flag was reset."""
    server = start(f"--authentication-config={write_configuration(tmp_path, 'AuthenticationConfiguration')}")
    assert server.anonymous.get(SECRETS).code == 401


@pytest.fixture(scope="module")
def world(tmp_path_factory, store):
    return start_options.World(tmp_path_factory.mktemp("world"), store.url)


@pytest.mark.parametrize("row", start_options.ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_options_are_refused_or_taken_as_kube_apiserver_does(world, row):
    """Not an attack: an operator makes a mistake that would make the server less secure than intended.

    Expected: the exit code and the error of kube-apiserver v1.36, which tests/differential compares with the real binary; or the server
    starts and logs the warning of kube-apiserver. Why: an option that is silently ignored gives no protection."""
    outcome = start_options.run(world, row, mesh.BIN / "kube-apiserver")
    if row.error is None:
        assert outcome.code is None, outcome.log[-2000:]
        assert row.log is None or world.text(row.log) in outcome.log, outcome.log
    else:
        assert outcome.code == 1, outcome.log[-2000:]
        assert outcome.says(world.text(row.error)), outcome.log[-2000:]


def test_users_are_not_front_proxies_although_both_have_the_same_ca(store, tmp_path):
    """Attack: front proxies and users have the same CA. A user presents their own certificate, and sends another user, a member of
    system:masters, in the headers of a front proxy.

    Expected: the user is authenticated by the certificate. Only the certificate in --requestheader-allowed-names can send users in headers. (Without
    allowed names the server does not start, see the table above.) The log has a warning. Why: otherwise every user could act as every other user."""
    pki = Pki(tmp_path / "pki")
    server = mesh.KubeApiserver(tmp_path, store.url, f"--client-ca-file={pki.ca}", f"--requestheader-client-ca-file={pki.ca}",
                                "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                                "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-allowed-names=front-proxy").start()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    forged = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}

    def ask(name, *request, **more):
        return mesh.Client(server.url, token=None, cert=pki.issue(name, f"/CN={name}"))(*request, headers=forged, **more)

    try:
        assert "a user who obtains a client certificate with a name in --requestheader-allowed-names (front-proxy) can act as any user" in server.log.read_text()
        assert ask("ann", "GET", SECRETS).code == 403
        user = ask("ann", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review).json()["status"]["userInfo"]
        assert (user["username"], user["groups"]) == ("ann", ["system:authenticated"])
        assert ask("front-proxy", "GET", SECRETS).code == 200
    finally:
        server.stop()


def test_what_runtime_config_switches_off_is_not_served(start):
    """Attack: use an API that the operator disabled with --runtime-config.

    Expected: 404, also for the administrator, and discovery does not list it; all other APIs are served. Why: operators disable APIs to
    reduce the attack surface."""
    server = start("--authorization-mode=RBAC", "--runtime-config=batch/v1=false,apps/v1/daemonsets=false")
    for path in ("/apis/batch/v1", "/apis/batch/v1/namespaces/default/jobs", "/apis/apps/v1/namespaces/default/daemonsets"):
        assert server.client.get(path).code == 404, path
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}
    assert server.client("POST", "/apis/batch/v1/namespaces/default/jobs", job).code == 404
    assert "daemonsets" not in {resource["name"] for resource in server.client.get("/apis/apps/v1").json()["resources"]}
    for path in ("/apis/apps/v1/namespaces/default/deployments", SECRETS):
        assert server.client.get(path).code == 200, path


def test_an_empty_value_does_not_take_the_next_flag_away(start):
    """Not an attack: a template leaves the value of a flag empty, and the next flag selects the authorizer.

    Expected: RBAC decides, so an anonymous request gets 403. Why: if the next argument became the value of the empty flag, the server would
    use the default authorizer, which allows everything."""
    server = start("--authorization-policy-file=", "--authorization-mode=RBAC")
    assert server.anonymous.get(SECRETS).code == 403
    assert RESET not in server.log.read_text()
