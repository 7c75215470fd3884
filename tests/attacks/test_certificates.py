"""Certificate signing requests: users cannot choose the requester, and approving or signing requires a permission for the signer."""
import base64
import subprocess

import mesh
import pytest

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CLIENT = "kubernetes.io/kube-apiserver-client"


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("csr") / "key.pem"
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    return path


def request_pem(key, subject):
    return openssl("req", "-new", "-key", key, "-subj", subject)


def csr(name, pem, signer="example.com/signer", **spec):
    return {"metadata": {"name": name}, "spec": {"request": base64.b64encode(pem).decode(), "signerName": signer, "usages": ["client auth"], **spec}}


def as_user(name, *groups, **extra):
    headers = {"Impersonate-User": name, "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}
    if groups:
        headers["Impersonate-Group"] = groups[0]
    return headers | {f"Impersonate-Extra-{key}": value for key, value in extra.items()}


@pytest.fixture(scope="module")
def eve(server):
    """A user with all permissions for the requests, and none for signers."""
    rule = {"apiGroups": ["certificates.k8s.io"], "resources": [f"certificatesigningrequests{sub}" for sub in ("", "/approval", "/status")], "verbs": ["*"]}
    role = {"metadata": {"name": "csr-all"}, "rules": [rule]}
    binding = {"metadata": {"name": "csr-all"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "csr-all"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]}
    assert server.client("POST", f"{RBAC}/clusterroles", role).code == 201
    assert server.client("POST", f"{RBAC}/clusterrolebindings", binding).code == 201
    mesh.wait_until(lambda: server.client.get(CSRS, headers=as_user("eve")).code == 200, 5, "the role binding has an effect")

    def send(method, path, body=None, **headers):
        return server.client(method, path, body, as_user("eve") | headers)
    return send


def merge(send, path, body):
    return send("PATCH", path, body, **{"Content-Type": "application/merge-patch+json"})


def approved(reason="x"):
    return {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": reason}]}}


def certificate(key):
    return base64.b64encode(openssl("req", "-x509", "-key", key, "-subj", "/CN=eve", "-days", "1")).decode()


def test_the_requester_is_the_authenticated_user(server, key):
    """Attack: create a request whose fields name a node and system:masters as the requester, and that is already approved and signed;
    then change the requester with update, patch and apply, and through the subresources.
    Expected: the requester is the authenticated user, the request is neither approved nor signed, and later writes do not change that.
    Why: the decisions of approvers and signers depend on these fields."""
    lie = {"username": "system:node:n1", "uid": "0", "groups": ["system:masters"], "extra": {"scopes": ["all"]}}
    body = {**csr("csr-lie", request_pem(key, "/CN=jane"), **lie), "status": {**approved()["status"], "certificate": certificate(key)}}
    created = server.client("POST", CSRS, body, as_user("jane", "system:masters", scopes="a"))
    assert created.code == 201, created.body
    spec = created.json()["spec"]
    assert spec["username"] == "jane" and spec["extra"] == {"scopes": ["a"]} and "uid" not in spec
    assert spec["groups"] == ["system:masters", "system:authenticated"]
    assert created.json()["status"] == {}

    one = f"{CSRS}/csr-lie"
    for path in (one, f"{one}/status", f"{one}/approval"):
        current = server.client.get(one).json()
        answer = server.client("PUT", path, {**current, "spec": {**spec, **lie, "signerName": CLIENT}})
        assert answer.code == 200 and answer.json()["spec"] == spec, (path, answer.body)
        for kind, patch in (("merge-patch", {"spec": lie}), ("json-patch", [{"op": "add", "path": "/spec/username", "value": "root"}]),
                            ("strategic-merge-patch", {"spec": lie})):
            answer = server.client("PATCH", path, patch, {"Content-Type": f"application/{kind}+json"})
            assert answer.code == 200 and answer.json()["spec"] == spec, (path, kind, answer.body)
    apply = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", **csr("csr-applied", request_pem(key, "/CN=jane"), **lie)}
    answer = server.client("PATCH", f"{CSRS}/csr-applied?fieldManager=m&force=true", apply, {"Content-Type": "application/apply-patch+yaml"})
    assert answer.code == 201 and answer.json()["spec"]["username"] == "admin", answer.body


def test_approval_needs_a_right_on_the_signer(server, key, eve):
    """Attack: a user with all permissions for the requests, and none for signers, approves and denies them with update and patch.
    Expected: 403 from admission. With `approve` for the signer, or for all signers of its domain, it is allowed.
    Why: an approved request becomes a credential."""
    admin, one = server.client, f"{CSRS}/csr-approve"
    assert eve("POST", CSRS, csr("csr-approve", request_pem(key, "/CN=eve"))).code == 201
    current = eve("GET", one).json()
    for decision in ("Approved", "Denied"):
        body = {"status": {"conditions": [{"type": decision, "status": "True"}]}}
        for answer in (eve("PUT", f"{one}/approval", {**current, **body}), merge(eve, f"{one}/approval", body)):
            assert answer.code == 403, answer.body
            assert answer.json()["message"] == ('certificatesigningrequests.certificates.k8s.io "csr-approve" is forbidden: '
                                                'user not permitted to approve requests with signerName "example.com/signer"')
    # The signer in the body has no effect.
    assert eve("PUT", f"{one}/approval", {**current, **approved(), "spec": {**current["spec"], "signerName": "other.com/a"}}).code == 403
    # Writes of the request itself and of /status do not approve it.
    assert merge(eve, one, approved()).json()["status"] == {}
    refused = merge(eve, f"{one}/status", approved())
    assert refused.code == 422 and 'updates may not add a condition of type "Approved"' in refused.json()["message"]
    assert admin.get(one).json()["status"] == {}

    role = {"metadata": {"name": "csr-approver"}, "rules": [{"apiGroups": ["certificates.k8s.io"], "resources": ["signers"],
                                                             "resourceNames": ["example.com/*"], "verbs": ["approve"]}]}
    binding = {"metadata": {"name": "csr-approver"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "csr-approver"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]}
    assert admin("POST", f"{RBAC}/clusterroles", role).code == 201
    assert admin("POST", f"{RBAC}/clusterrolebindings", binding).code == 201
    mesh.wait_until(lambda: merge(eve, f"{one}/approval", approved()).code == 200, 5, "the permission for the signers has an effect")
    condition = admin.get(one).json()["status"]["conditions"][0]
    assert condition["type"] == "Approved" and condition["lastUpdateTime"] and condition["lastTransitionTime"]
    # A decision is final.
    denied = merge(eve, f"{one}/approval", {"status": {"conditions": [{"type": "Denied", "status": "True"}]}})
    assert denied.code == 422 and 'updates may not remove a condition of type "Approved"' in denied.json()["message"]
    both = merge(eve, f"{one}/approval", {"status": {"conditions": [condition, {"type": "Denied", "status": "True"}]}})
    assert both.code == 422 and "mutually exclusive" in both.json()["message"]
    # The permission to approve does not include the permission to sign.
    assert merge(eve, f"{one}/status", {"status": {"certificate": certificate(key)}}).code == 403


def test_signing_needs_a_right_on_the_signer(server, key, eve):
    """Attack: set the certificate through the request, /approval and /status without a permission for the signer, and replace an issued one.
    Expected: the first two writes drop it, the third gets 403. An issued certificate cannot be changed, and must be a valid certificate.
    Why: clients that wait for the certificate trust it."""
    one, issued = f"{CSRS}/csr-sign", {"status": {"certificate": certificate(key)}}
    assert eve("POST", CSRS, csr("csr-sign", request_pem(key, "/CN=eve"), signer="signing.example.com/signer")).code == 201
    assert "certificate" not in merge(eve, one, issued).json()["status"]
    refused = merge(eve, f"{one}/status", issued)
    assert refused.code == 403 and 'not permitted to sign requests with signerName "signing.example.com/signer"' in refused.json()["message"]
    assert merge(eve, f"{one}/status", {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}).code == 403

    def admin(method, path, body=None, **headers):
        return server.client(method, path, body, headers)
    garbage = merge(admin, f"{one}/status", {"status": {"certificate": base64.b64encode(b"garbage").decode()}})
    assert garbage.code == 422 and "must contain at least one CERTIFICATE PEM block" in garbage.json()["message"]
    assert merge(admin, f"{one}/status", issued).code == 200
    replaced = merge(admin, f"{one}/status", {"status": {"certificate": certificate(key)}})
    assert replaced.code == 422 and "updates may not modify existing certificate content" in replaced.json()["message"]


def test_nobody_asks_for_system_masters(server, key):
    """Attack: request a client certificate for the group system:masters, alone, among others, and hidden behind a harmless first request.
    Expected: 403 for the group, 422 for a text with two requests.
    Why: such a certificate would pass every authorization and could not be revoked."""
    for subject in ("/O=system:masters/CN=eve", "/O=devs/O=system:masters/CN=eve", "/O=devs+O=system:masters/CN=eve"):
        answer = server.client("POST", CSRS, csr("csr-masters", request_pem(key, subject), signer=CLIENT))
        assert answer.code == 403 and f"use of {CLIENT} signer with system:masters group is not allowed" in answer.json()["message"], answer.body
    two = request_pem(key, "/O=devs/CN=eve") + request_pem(key, "/O=system:masters/CN=eve")
    assert server.client("POST", CSRS, csr("csr-masters", two, signer=CLIENT)).code == 422
    assert server.client.get(f"{CSRS}/csr-masters").code == 404
    assert server.client("POST", CSRS, csr("csr-devs", request_pem(key, "/O=devs/CN=eve"), signer=CLIENT)).code == 201


def test_requests_are_validated(server, key):
    """Attack: requests with an invalid or unsigned PEM, without a signer, with unknown usages or very short lifetimes.
    Expected: 422 with the invalid field.
    Why: signers rely on this validation and do not repeat all of it."""
    good = request_pem(key, "/CN=a")
    middle = good.splitlines()[2]
    forged = good.replace(middle, middle[::-1])
    for name, body, field in (("pem", csr("csr-bad", b"hello"), "spec.request"), ("forged", csr("csr-bad", forged), "spec.request"),
                              ("signer", csr("csr-bad", good, signer="x"), "spec.signerName"),
                              ("legacy", csr("csr-bad", good, signer="kubernetes.io/legacy-unknown"), "spec.signerName"),
                              ("usage", csr("csr-bad", good, usages=["web"]), "spec.usages[0]"), ("usages", csr("csr-bad", good, usages=[]), "spec.usages"),
                              ("short", csr("csr-bad", good, expirationSeconds=599), "spec.expirationSeconds")):
        answer = server.client("POST", CSRS, body)
        assert answer.code == 422 and field in [cause["field"] for cause in answer.json()["details"]["causes"]], (name, answer.body)


def test_requests_are_found_by_signer(server, key):
    """Not an attack: signers list and watch their requests with a field selector, and kubectl shows the requester."""
    assert server.client("POST", CSRS, csr("csr-listed", request_pem(key, "/CN=a"), signer="listed.example.com/a", expirationSeconds=3600)).code == 201
    found = server.client.get(f"{CSRS}?fieldSelector=spec.signerName=listed.example.com/a").json()["items"]
    assert [item["metadata"]["name"] for item in found] == ["csr-listed"]
    table = server.client.get(f"{CSRS}/csr-listed", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}).json()
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"]
    assert table["rows"][0]["cells"][2:] == ["listed.example.com/a", "admin", "60m", "Pending"]
