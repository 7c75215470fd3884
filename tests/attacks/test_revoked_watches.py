"""Watches that are open when their permission or credential is revoked. In kube-apiserver they continue until their timeout, for up to
an hour; here they end within 10 s, like a watch that times out."""
import base64
import json
import os
import signal
import subprocess
import time

import pytest

import mesh
from raw_requests import connect
from watching import Watch

BOUND = 10
RBAC = "/apis/rbac.authorization.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("revoked")
    with mesh.running_server(folder, users=("joe", "ann")) as server:
        mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready")
        yield server


def role(server, name, *rules):
    answer = server.client("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})
    assert answer.code in (201, 409), answer.body


def bind(server, name, role_name, subject):
    binding = {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role_name}, "subjects": [subject]}
    answer = server.client("POST", f"{RBAC}/clusterrolebindings", binding)
    assert answer.code == 201, answer.body


def unbind(server, name):
    assert server.client("DELETE", f"{RBAC}/clusterrolebindings/{name}").code == 200


def user(name):
    return {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}


def account(name):
    return {"kind": "ServiceAccount", "name": name, "namespace": "default"}


WATCH_MAPS = {"verbs": ["watch", "list"], "apiGroups": [""], "resources": ["configmaps"]}


def open_watches(client, count=1, path=MAPS):
    mesh.wait_until(lambda: client.answers(path), 5, "the permission has an effect")
    return [Watch(client, path) for _ in range(count)]


def expect_end(watches, began, what):
    """Waits until all watches end, with the end of the body like a watch that times out, and not with a broken connection."""
    mesh.wait_until(lambda: all(watch.over for watch in watches), BOUND, what)
    print(f"{what}: {time.monotonic() - began:.2f} s")
    assert [watch.error for watch in watches] == [None] * len(watches)


def touch(server, name):
    """Makes a change that every watch of ConfigMaps receives."""
    assert server.client("POST", MAPS, {"metadata": {"name": name}}).code == 201
    assert server.client("DELETE", f"{MAPS}/{name}").code == 200


def service_account_token(server, name, **spec):
    assert server.client("POST", ACCOUNTS, {"metadata": {"name": name}}).code == 201
    answer = server.client("POST", f"{ACCOUNTS}/{name}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
    assert answer.code == 201, answer.body
    return answer.json()["status"]["token"]


def test_watches_end_when_the_binding_is_deleted(server):
    """Attack: a user whose role binding is deleted keeps open watches.

    Expected: they end within 10 s and receive no later events; watches of other users continue.
    Why: otherwise a user without access could read every new object until the watch ends.
    """
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "joe", "watch-maps", user("joe"))
    bind(server, "ann", "watch-maps", user("ann"))
    joe, ann = (mesh.Client(server.url, f"{name}-token") for name in ("joe", "ann"))
    watches, other = open_watches(joe, 20), open_watches(ann)[0]
    table = Watch(joe, MAPS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})  # does not share an upstream watch
    unbind(server, "joe")
    expect_end([*watches, table], time.monotonic(), "21 watches of one user end")
    touch(server, "later")
    other.wait_for("later", "ADDED", "DELETED")
    assert not any(watch.types("later") for watch in watches)
    assert joe.get(f"{MAPS}?watch=true").code == 403
    assert not other.over
    other.close()
    unbind(server, "ann")


def long_running(server):
    """Returns the number of open watches of config maps."""
    lines = [line for line in server.client.get("/metrics").body.splitlines() if line.startswith("apiserver_longrunning_requests{") and 'resource="configmaps"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


@pytest.mark.parametrize("query", ["", "&labelSelector=!a"], ids=["shared", "selected"])
def test_watches_of_clients_that_do_not_read_end(server, query):
    """Attack: a user who expects to lose access opens watches and reads nothing, so that writes to them wait.

    Expected: they end within 10 s after the permission is gone. Why: a write may wait for its client for 90 s, and whatever is written first is sent
    when the client reads again.
    """
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "joe", "watch-maps", user("joe"))
    joe = mesh.Client(server.url, "joe-token")
    mesh.wait_until(lambda: joe.answers(MAPS), 5, "the permission has an effect")
    before = long_running(server)
    head = f"GET {MAPS}?watch=true{query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer joe-token\r\n\r\n".encode()
    sockets = [connect(server, receive_buffer=4096) for _ in range(3)]
    for socket in sockets:
        socket.sendall(head)
    large = {"metadata": {"name": "large"}, "data": {"x": "x" * 900_000}}
    assert server.client("POST", MAPS, large).code in (201, 409)
    for number in range(20):  # more than the buffers of the sockets
        assert server.client("PUT", f"{MAPS}/large", {**large, "metadata": {"name": "large", "labels": {"n": str(number)}}}).code == 200
    mesh.wait_until(lambda: long_running(server) >= before + 3, 5, "the watches are open")
    unbind(server, "joe")
    began = time.monotonic()
    mesh.wait_until(lambda: long_running(server) <= before, BOUND, "the watches have ended")
    print(f"watches that nobody reads end: {time.monotonic() - began:.2f} s")
    for socket in sockets:
        socket.close()
    server.client("DELETE", f"{MAPS}/large")


def test_watches_end_when_the_right_to_impersonate_is_gone(server):
    """Attack: a user watches with impersonation, and loses the permission to impersonate.

    Expected: the watch ends, although the impersonated user may still watch.
    """
    role(server, "be-ann", {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["ann"]})
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "be-ann", "be-ann", user("joe"))
    bind(server, "ann", "watch-maps", user("ann"))
    as_ann = mesh.Client(server.url, "joe-token")
    mesh.wait_until(lambda: as_ann("GET", MAPS, headers={"Impersonate-User": "ann"}).code == 200, 5, "joe may impersonate ann")
    watch = Watch(as_ann, MAPS, headers={"Impersonate-User": "ann"})
    unbind(server, "be-ann")
    expect_end([watch], time.monotonic(), "an impersonated watch ends")
    unbind(server, "ann")


def test_watches_end_with_the_service_account(server):
    """Attack: keep a watch open with the token of a service account that was deleted."""
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "robot", "watch-maps", account("robot"))
    robot = mesh.Client(server.url, service_account_token(server, "robot"))
    watches = open_watches(robot, 3)
    assert server.client("DELETE", f"{ACCOUNTS}/robot").code == 200
    expect_end(watches, time.monotonic(), "the watches of a deleted service account end")
    assert robot.get(f"{MAPS}?watch=true").code == 401
    unbind(server, "robot")


def test_watches_end_with_the_pod_that_the_token_is_bound_to(server):
    """Attack: keep a watch open with the token of a pod that was deleted."""
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "podded", "watch-maps", account("podded"))
    assert server.client("POST", ACCOUNTS, {"metadata": {"name": "podded"}}).code == 201
    pod = server.client("POST", "/api/v1/namespaces/default/pods",
                        {"metadata": {"name": "podded"}, "spec": {"serviceAccountName": "podded", "containers": [{"name": "c", "image": "i"}]}}).json()
    spec = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "podded", "uid": pod["metadata"]["uid"]}}
    answer = server.client("POST", f"{ACCOUNTS}/podded/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
    watches = open_watches(mesh.Client(server.url, answer.json()["status"]["token"]))
    assert server.client("DELETE", "/api/v1/namespaces/default/pods/podded?gracePeriodSeconds=0").code == 200
    expect_end(watches, time.monotonic(), "the watch of a deleted pod ends")
    unbind(server, "podded")


def signed(claims, token, key):
    """Returns the token with other claims, signed with the same key."""
    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    text = token.split(".")[0].encode() + b"." + encode(json.dumps(claims).encode())
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(key)], input=text, capture_output=True, check=True).stdout
    return (text + b"." + encode(signature)).decode()


def test_watches_end_with_the_token(server):
    """Attack: open a watch with a token that expires before the watch ends."""
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "brief", "watch-maps", account("brief"))
    token = service_account_token(server, "brief")
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    refused = int(time.time()) + 4 * mesh.SLOWDOWN
    claims["exp"] = refused - 60  # a token is accepted for one more minute, because clocks differ
    brief = mesh.Client(server.url, signed(claims, token, server.folder / "sa.key"))
    watches = open_watches(brief)
    assert not watches[0].over
    mesh.wait_until(lambda: brief.get(MAPS).code == 401, refused + BOUND - time.time(), "the token has expired")
    expect_end(watches, time.monotonic(), "the watch of an expired token ends")
    unbind(server, "brief")


def test_watches_survive_a_restart_of_authn_authz(server):
    """Not an attack: authn-authz is killed and restarted. While its state is not loaded, it denies nearly all requests. This must not end
    open watches; otherwise all clients would reconnect at the same time after every restart."""
    role(server, "watch-maps", WATCH_MAPS)
    bind(server, "joe", "watch-maps", user("joe"))
    joe = mesh.Client(server.url, "joe-token")
    watch = open_watches(joe)[0]
    victim = server.children()["authn-authz"]
    os.kill(victim, signal.SIGKILL)
    mesh.wait_until(lambda: server.children().get("authn-authz", victim) != victim, 5, "authn-authz is restarted")
    mesh.wait_until(lambda: joe.answers(MAPS) and server.client.answers("/readyz"), 5, "the server is ready again")
    time.sleep(6)  # longer than the interval after which open requests are authorized again
    touch(server, "after-restart")
    watch.wait_for("after-restart", "ADDED", "DELETED")
    assert not watch.over
    unbind(server, "joe")
    expect_end([watch], time.monotonic(), "the watch ends when its permission is gone after the restart")
