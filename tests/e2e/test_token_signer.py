"""Service-account tokens that an external signer signs: rotation of its keys, and a signer that is absent, hangs, or answers nonsense. The same steps run
with the real kube-apiserver and the same signer."""
import base64
import json
import os
import re
import shutil
import signal

import pytest

import mesh
from token_signer import TokenSigner, server_with

REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
USER = "system:serviceaccount:default:robot"


def request_token(server, query="", **spec):
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return server.client("POST", f"{ACCOUNTS}/robot/token{query}", body)


def token_of(server, **spec):
    answer = request_token(server, **spec)
    assert answer.code == 201, answer.body
    return answer.json()["status"]["token"]


def part(token, index):
    text = token.split(".")[index]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def user_of(server, token):
    """Returns the name of the user, or the code of the answer."""
    answer = mesh.Client(server.url, token=token)("POST", REVIEWS, REVIEW)
    return answer.json()["status"]["userInfo"]["username"] if answer.code == 201 else answer.code


def published(server):
    answer = server.client.get("/openid/v1/jwks")
    assert answer.code == 200, answer.body
    return {key["kid"]: key for key in answer.json()["keys"]
}

def metric(server, name, **labels):
    shown = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    series = f"{name}{{{shown}}}" if shown else name
    found = re.search(rf"^{re.escape(series)} (\S+)$", server.client.get("/metrics").body, re.M)
    return float(found[1]) if found else None


class World:
    def __init__(self, folder, etcd_path):
        self.folder, self.servers = folder, []
        self.etcd = mesh.Store(folder / "etcd", binary=etcd_path)
        self.signer = TokenSigner(folder / "signer")

    def start(self, *extra, name="ours", binary=None, wait=True):
        server = server_with(self.signer, self.folder / name, self.etcd.url, *extra, binary=binary)
        self.servers.append(server)
        return server.start(wait=wait)

    def stop(self):
        for server in self.servers:
            server.stop(signal.SIGKILL if "reference" in str(server.folder) else signal.SIGTERM)
        self.signer.stop()
        self.etcd.stop()


@pytest.fixture
def world(tmp_path, etcd_path):
    world = World(tmp_path, etcd_path)
    yield world
    world.stop()


def start_with_robot(world, **settings):
    world.signer.set(**settings)
    world.signer.add_key("k1", "rsa")
    world.signer.start()
    server = world.start()
    assert server.client("POST", ACCOUNTS, {"metadata": {"name": "robot"}}).code == 201
    return server


def check_tokens_and_rotation(server, signer):
    first = token_of(server)
    assert part(first, 0) == {"alg": "RS256", "kid": "k1", "typ": "JWT"}
    assert user_of(server, first) == USER
    # The lifetime is limited by that of the signer.
    answer = request_token(server, expirationSeconds=86400)
    assert "requested expiration of 86400 seconds shortened to 7200 seconds" in answer.headers["Warning"], answer.headers
    claims = part(answer.json()["status"]["token"], 1)
    assert claims["exp"] - claims["iat"] == 7200 and claims["iss"] == "https://kubernetes.default.svc"
    assert list(published(server)) == ["k1"]

    # A new key signs at once; its first token is valid at once, because the keys are fetched for it.
    signer.add_key("k2")
    second = token_of(server)
    assert part(second, 0)["kid"] == "k2" and user_of(server, second) == USER and user_of(server, first) == USER
    mesh.wait_until(lambda: set(published(server)) == {"k1", "k2"}, 20, "both keys are published")
    assert published(server)["k2"]["kty"] == "EC" and published(server)["k2"]["alg"] == "ES256"
    algorithms = server.client.get("/.well-known/openid-configuration").json()["id_token_signing_alg_values_supported"]
    assert algorithms == ["ES256", "RS256"]

    # A key that only verifies is not published; a hidden key must not sign.
    signer.hide("k1", "k3")
    signer.add_key("k3")
    refused = request_token(server)
    assert refused.code == 500 and refused.json()["message"] == (
        "Internal error occurred: failed to generate token: while validating header: "
        "key used for signing JWT (kid: k3) is excluded from OIDC discovery docs"), refused.body
    assert set(published(server)) == {"k2"} and user_of(server, first) == USER
    signer.hide()
    signer.remove_key("k3")


def check_metrics(server):
    prefix = "apiserver_externaljwt_"
    assert metric(server, prefix + "fetch_keys_request_total", code="OK") >= 3
    assert metric(server, prefix + "sign_request_total", code="OK") == 3
    assert metric(server, prefix + "sign_request_total", code="unknown-non-grpc") == 1
    assert metric(server, prefix + "fetch_keys_data_timestamp") == 1.7e9
    assert metric(server, prefix + "fetch_keys_success_timestamp") > 1.7e9
    assert metric(server, prefix + "request_duration_seconds_count", code="OK", method="/v1.ExternalJWTSigner/Sign") == 4
    assert metric(server, prefix + "request_duration_seconds_count", code="OK", method="/v1.ExternalJWTSigner/FetchKeys") >= 3
    assert metric(server, prefix + "request_duration_seconds_count", code="OK", method="/v1.ExternalJWTSigner/Metadata") >= 1


def check_bad_answers(server, signer):
    signer.set(refresh=60, sign="garbage")
    answer = request_token(server)
    assert answer.code == 500 and "failed to generate token: while validating header: " in answer.json()["message"], answer.body
    signer.set(refresh=60, sign="wrong-type")
    answer = request_token(server)
    assert answer.code == 500 and answer.json()["message"] == "Internal error occurred: failed to generate token: while validating header: bad type", answer.body
    assert answer.json()["reason"] == "InternalError"
    signer.set(refresh=60)
    assert request_token(server).code == 201


def test_tokens_and_rotation(world):
    server = start_with_robot(world, refresh=60)
    check_tokens_and_rotation(server, world.signer)
    check_metrics(server)
    check_bad_answers(server, world.signer)


@pytest.mark.skipif(REFERENCE is None, reason="no real kube-apiserver: run ./apimesh test, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
def test_the_real_kube_apiserver_with_the_same_signer(world):
    ours = start_with_robot(world, refresh=60)
    theirs = world.start(name="reference", binary=REFERENCE)
    check_tokens_and_rotation(theirs, world.signer)
    check_metrics(theirs)
    check_bad_answers(theirs, world.signer)
    # Each accepts the tokens of the other, and the documents are the same after both have fetched a new key.
    world.signer.add_key("k4")
    assert user_of(ours, token_of(theirs)) == USER and user_of(theirs, token_of(ours)) == USER
    mesh.wait_until(lambda: published(ours) == published(theirs), 20, "the key sets are the same")
    assert ours.client.get("/openid/v1/jwks").body == theirs.client.get("/openid/v1/jwks").body


def test_a_removed_key_and_a_signer_that_fails(world):
    signer = world.signer
    server = start_with_robot(world, refresh=1)
    first = token_of(server)
    assert user_of(server, first) == USER
    signer.add_key("k2")
    second = token_of(server)
    signer.remove_key("k1")
    mesh.wait_until(lambda: user_of(server, first) == 401, 20, "tokens of the removed key are refused")
    assert user_of(server, second) == USER

    # Answers to FetchKeys that are not valid change nothing.
    for how in ("garbage", "none"):
        failures = metric(server, "apiserver_externaljwt_fetch_keys_request_total", code="unknown-non-grpc") or 0
        signer.set(refresh=1, fetch=how)
        mesh.wait_until(lambda: (metric(server, "apiserver_externaljwt_fetch_keys_request_total", code="unknown-non-grpc") or 0) > failures
                        or user_of(server, f"{second[:-3]}AAA") == 401, 20, "the keys are fetched")
        assert user_of(server, second) == USER and "k2" in published(server)
    signer.set(refresh=1)
    mesh.wait_until(lambda: set(published(server)) == {"k2"}, 20, "the removed key is no longer published")

    # A signer that hangs: the request ends at its deadline. One that is gone: known keys still verify.
    signer.set(refresh=1, sign="hang")
    answer = request_token(server, "?timeout=1s")
    assert answer.code in (500, 504) and answer.json()["status"] == "Failure", answer.body
    signer.set(refresh=1)
    signer.stop()
    assert user_of(server, second) == USER
    answer = request_token(server, "?timeout=1s")
    assert answer.code in (500, 504) and answer.json()["status"] == "Failure", answer.body
    signer.start()
    mesh.wait_until(lambda: request_token(server).code == 201, 20, "tokens are issued after the restart of the signer")


@pytest.mark.parametrize("settings, flags, error", [
    ({"fetch": "none"}, [], "while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: "
                            "while fetching token verification keys: found no keys"),
    ({}, ["--service-account-max-token-expiration=3h"], "service-account-max-token-expiration cannot be set longer than the token expiration supported by "
                                                        "service-account-signing-endpoint: 3h0m0s > 2h0m0s"),
    ({}, ["--service-account-key-file={key}"], "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with "
                                               "`--service-account-signing-endpoint` (They are mutually exclusive)"),
], ids=["no-keys", "long-expiration", "key-file"])
@pytest.mark.parametrize("binary", ["ours", "reference"])
def test_what_is_refused_at_the_start(world, binary, settings, flags, error):
    if binary == "reference" and REFERENCE is None:
        pytest.skip("no real kube-apiserver")
    world.signer.set(**settings)
    world.signer.add_key("k1")
    world.signer.start()
    server = server_with(world.signer, world.folder / binary, world.etcd.url, binary=REFERENCE if binary == "reference" else None)
    server.arguments += [flag.format(key=world.signer.folder / "k1.key") for flag in flags]
    world.servers.append(server)
    server.start(wait=False)
    assert server.process.wait(30 * mesh.SLOWDOWN) == 1, server.log.read_text()[-2000:]
    assert error in server.log.read_text(), server.log.read_text()[-2000:]
