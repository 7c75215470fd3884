"""Attacks with the credential of a node that try to get the tokens of service accounts or the certificates of other nodes."""
import base64
import subprocess
import time

import pytest

import mesh
from node_cluster import NODES, grant, made, node_cluster, refused


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with node_cluster(tmp_path_factory.mktemp("nodes")) as cluster:
        yield cluster


def token_request(pod_object, audiences=("vault",), **reference):
    bound = {"apiVersion": "v1", "kind": "Pod", "name": pod_object["metadata"]["name"], "uid": pod_object["metadata"]["uid"]} | reference
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": list(audiences), "boundObjectRef": bound}}


def test_tokens_of_service_accounts(cluster):
    """Attack: request tokens that no pod on this node needs: not bound, bound to a pod of another node, to another uid, or for another audience.
    Expected: 403. Why: a token gives all permissions of the service account."""
    path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
    mine, other = cluster.pods["mine"], cluster.pods["other"]
    begin = 'serviceaccounts "robot" is forbidden: '
    refused(cluster.n1("POST", path, {"spec": {"audiences": ["vault"]}}), begin + "node requested token not bound to a pod")
    refused(cluster.n1("POST", path, token_request(mine, kind="Secret")), begin + "node requested token not bound to a pod")
    refused(cluster.n1("POST", path, token_request(mine, uid="")), begin + "node requested token with a pod binding without a uid")
    refused(cluster.n1("POST", path, token_request(mine, uid="x")), begin + "the UID in the bound object reference (x) does not match the UID in record. "
            "The object might have been deleted and then recreated")
    refused(cluster.n1("POST", path, token_request(other)), begin + "node requested token bound to a pod scheduled on a different node")
    refused(cluster.n1("POST", path, token_request(mine, name="none")), 'pod "none" not found', 404)
    refused(cluster.n1("POST", path, token_request(mine, ("vault", "bank"))), begin + "node may only request 0 or 1 audiences")
    for audience in (("bank",), ()):
        answer = cluster.n1("POST", path, token_request(mine, audience))
        # The claim of the pod has no volume yet, and the CSI driver of the volume could require this audience.
        text = audience[0] if audience else ""
        refused(answer, begin + f'error validating audience "{text}": persistentvolume "" not found')
    assert made(cluster.n1("POST", path, token_request(mine)))["status"]["token"]


def test_audiences_that_rbac_allows(cluster):
    """Not an attack: a node gets tokens for audiences that RBAC allows with the verb request-serviceaccounts-token-audience, and for no others."""
    path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
    other = cluster.pods["other"]
    made(cluster.admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "ask-bank"}, "rules": [
        {"verbs": ["request-serviceaccounts-token-audience"], "apiGroups": [""], "resources": ["bank"]}]}))
    refused(cluster.n2("POST", path, token_request(other, ("bank",))), 'serviceaccounts "robot" is forbidden: audience "bank" not found in pod spec volume, '
            'system:node:n2 is not authorized to request tokens for this audience')
    grant(cluster.admin, "ask-bank", NODES["n2"], "ask-bank")
    mesh.wait_until(lambda: cluster.n2("POST", path, token_request(other, ("bank",))).code == 201, 10, "RBAC allows the audience")
    assert cluster.n2("POST", path, token_request(other, ("casino",))).code == 403


def signing_request(folder, name, signer):
    key, request = folder / "k.key", folder / "r.csr"
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
                    "-subj", f"/O=system:nodes/CN={name}"], check=True, capture_output=True)
    usages = ["digital signature", "server auth" if "serving" in signer else "client auth"]
    return {"metadata": {"name": f"r{time.monotonic_ns()}"}, "spec": {"signerName": signer, "usages": usages, "request": base64.b64encode(request.read_bytes()).decode()}}


@pytest.mark.parametrize("signer", ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"])
def test_certificates_of_other_nodes(cluster, tmp_path, signer):
    """Attack: request the certificate of another node, which many clusters approve automatically. Expected: 403. Why: the certificate is the identity of that node."""
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    body = signing_request(tmp_path, "system:node:n2", signer)
    refused(cluster.n1("POST", path, body), f'certificatesigningrequests.certificates.k8s.io "{body["metadata"]["name"]}" is forbidden: '
            'can only create a node CSR with CN=system:node:n1')
    made(cluster.n1("POST", path, signing_request(tmp_path, "system:node:n1", signer)))
