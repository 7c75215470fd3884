"""The same writes go to our server and to the real kube-apiserver, both with the admission plugins that depend on the user, on nodes and on kinds that are off by default."""
import contextlib
import json

import pytest

import conftest
import pki
import plugin_cases
import test_requests
import tls_server

ENABLED = ("AlwaysAdmit", "ImagePolicyWebhook", "NamespaceExists", "NodeRestriction")
DISABLED = ("DefaultTolerationSeconds", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ServiceAccount", "TaintNodesByCondition", "ValidatingAdmissionPolicy",
            "ValidatingAdmissionWebhook")
GATES = ("ClusterTrustBundle", "GenericWorkload", "PodCertificateRequest")
NAMES = ("certificate_approval", "certificate_signing", "certificate_subject_restriction", "cluster_trust_bundle_attest", "node_restriction_nodes", "node_restriction_pods", "node_restriction_own", "node_restriction_certificates",
         *plugin_cases.RESIZES, *plugin_cases.ALPHA, *plugin_cases.NAMESPACES, *plugin_cases.IMAGES)


def review_images(request, body):
    """The webhook of ImagePolicyWebhook. It rejects images by their name, unless the pod has an annotation that breaks the glass."""
    review = json.loads(body)
    rejected = [container["image"] for container in review["spec"].get("containers", []) if container["image"].startswith(("bad", "silent"))]
    allowed = not rejected or "x.image-policy.k8s.io/break" in review["spec"].get("annotations", {})
    reason = {} if allowed or any(image.startswith("silent") for image in rejected) else {"reason": f"{', '.join(rejected)}: not trusted"}
    request.send(200, json.dumps({**review, "status": {"allowed": allowed, **reason}}))


@contextlib.contextmanager
def image_policy(folder):
    """Starts the webhook. Returns the section of the admission configuration that names it."""
    authority = pki.Pki(folder, "images")
    server = tls_server.TlsServer(authority.issue_server("images"), authority.ca, review_images)
    file = folder / "images.kubeconfig"
    file.write_text(json.dumps({"kind": "Config", "apiVersion": "v1", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                                "clusters": [{"name": "k", "cluster": {"server": f"https://127.0.0.1:{server.port}/review", "certificate-authority": str(authority.ca)}}],
                                "users": [{"name": "u", "user": {}}]}))
    yield {"imagePolicy": {"kubeConfigFile": str(file), "allowTTL": 1, "denyTTL": 1, "retryBackoff": 500, "defaultAllow": False}}
    server.stop()


@pytest.fixture(scope="module")
def plugin_sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    file = folder / "admission.json"
    with image_policy(folder) as section:
        file.write_text(json.dumps({"kind": "AdmissionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1", "plugins": [{"name": "ImagePolicyWebhook", "configuration": section}]}))
        with conftest.server_pair(folder, f"--enable-admission-plugins={','.join(ENABLED)}", f"--disable-admission-plugins={','.join(DISABLED)}", f"--admission-control-config-file={file}",
                                  "--runtime-config=api/all=true", "--feature-gates=" + ",".join(f"{gate}=true" for gate in GATES)) as pair:
            yield pair


@pytest.fixture(scope="module")
def plugin_steps(tmp_path_factory):
    return {case.id: case for case in plugin_cases.load(tmp_path_factory.mktemp("requests"))}


@pytest.mark.parametrize("name", NAMES)
def test_same_answers(name, plugin_steps, plugin_sides, both, known_differences):
    test_requests.compare_case(plugin_steps[f"plugins/{name}"], plugin_sides, both, known_differences)
