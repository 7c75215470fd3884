"""Envoy calls authn-authz directly (ext_authz) and rejects requests before they reach the aggregator."""
import json
import os
import subprocess

import pytest

import mesh
from pki import Pki
from test_up import APIMESH, find_envoy


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    folder = tmp_path_factory.mktemp("up") / "mesh"
    port = mesh.free_port()
    tokens = folder.parent / "tokens.csv"
    tokens.write_text("joe-token,joe,1\nadmin-token,admin,2,system:masters\n")
    run = subprocess.run([str(APIMESH), "up", "--detach", "--dir", str(folder), "--port", str(port), "--front-proxy", "envoy", "--envoy-ext-authz", "--",
                          f"--token-auth-file={tokens}"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    yield folder, f"https://127.0.0.1:{port}"
    subprocess.run([str(APIMESH), "down", "--dir", str(folder)], check=True, timeout=60, capture_output=True)


def last_access(folder, path):
    lines = [json.loads(line) for line in (folder / "logs/envoy-access.log").read_text().splitlines()]
    return next((line for line in lines if line["path"] == path), None)  # Envoy writes the access log after the response


def test_the_configuration_asks(up):
    folder, _ = up
    filters = json.loads((folder / "envoy.json").read_text())["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]["http_filters"]
    assert [f["name"] for f in filters] == ["ext_authz", "router"]


def test_refused_at_the_door(up):
    folder, url = up
    answer = mesh.Client(url, "wrong").get("/api/v1/pods?who=stranger")
    assert answer.code == 401 and answer.json()["reason"] == "Unauthorized"
    answer = mesh.Client(url, "joe-token").get("/api/v1/pods?who=joe")
    assert answer.code == 403
    assert answer.json()["message"] == 'pods is forbidden: User "joe" cannot list resource "pods" in API group "" at the cluster scope'
    for path in ("/api/v1/pods?who=stranger", "/api/v1/pods?who=joe"):
        entry = mesh.wait_until(lambda: last_access(folder, path), 20, "the access log is written")
        assert "UAEX" in entry["flags"], entry  # the flag of Envoy for requests that external authorization denied
        assert not entry["auditID"], "the request reached the aggregator"


def test_let_in(up):
    folder, url = up
    assert mesh.Client(url, "admin-token").get("/api/v1/pods?who=admin").code == 200
    pki = folder / "pki"
    by_certificate = mesh.Client(url, None, cert=(pki / "admin.crt", pki / "admin.key"))
    assert by_certificate.get("/api/v1/pods").code == 200
    assert mesh.Client(url, None).get("/healthz").code == 200
    stranger = Pki(folder.parent / "stranger").issue("eve", "/O=system:masters/CN=eve")
    assert mesh.Client(url, None, cert=stranger).get("/api/v1/pods").code == 401


def test_impersonation_is_left_to_the_aggregator(up):
    _, url = up
    as_joe = {"Impersonate-User": "joe"}
    assert mesh.Client(url, "admin-token")("GET", "/api/v1/pods", headers=as_joe).code == 403
    assert mesh.Client(url, "joe-token")("GET", "/api/v1/pods", headers={"Impersonate-User": "admin", "Impersonate-Group": "system:masters"}).code == 403


def test_envoy_goes_on_without_authn_authz(up):
    """The aggregator always makes the final decision. Without authn-authz, Envoy lets requests pass, and the aggregator can respond with 503."""
    folder, url = up
    status = json.loads(subprocess.run([str(APIMESH), "status", "--json", "--dir", str(folder)], capture_output=True, text=True, timeout=60).stdout)
    pid = next(p["pid"] for p in status["processes"] if p["name"] == "authn-authz")
    os.kill(pid, 9)
    client = mesh.Client(url, "admin-token")
    codes = set()
    mesh.wait_until(lambda: codes.add(code := client.get("/api/v1/pods").code) or code == 200, 5, "all requests succeed again")
    assert codes <= {200, 503}, codes
