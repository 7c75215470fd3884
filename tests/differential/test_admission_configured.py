"""The same writes go to our server and to the real kube-apiserver, both with another configuration of admission plugins than in test_admission.py, and with a webhook for
images that cannot be reached."""
import json

import pytest

import configured_cases
import conftest
import mesh
import test_requests

ENABLED = ("EventRateLimit", "ImagePolicyWebhook", "NodeRestriction", "PodTolerationRestriction")
DISABLED = ("MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ServiceAccount", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")
TOLERATED = [{"key": key, "operator": "Exists"} for key in ("file-default", "allowed", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")]
LIMITED = [{"resource": "persistentvolumeclaims", "matchContains": ["gold.storageclass.storage.k8s.io/requests.storage"]}, {"resource": "services", "matchContains": ["services.loadbalancers"]},
           {"resource": "pods", "matchScopes": [{"scopeName": "PriorityClass", "operator": "In", "values": ["limited-class"]}]}]


def typed(api_version, kind, **fields):
    return {"apiVersion": api_version, "kind": kind, **fields}


def image_policy(folder, default_allow):
    """The section of a webhook at a port that nothing listens on."""
    file = folder / "images.kubeconfig"
    cluster = {"server": f"https://127.0.0.1:{mesh.free_port()}/", "insecure-skip-tls-verify": True}
    file.write_text(json.dumps(typed("v1", "Config", **{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                                                        "clusters": [{"name": "k", "cluster": cluster}], "users": [{"name": "u", "user": {}}]})))
    return {"imagePolicy": {"kubeConfigFile": str(file), "allowTTL": 1, "denyTTL": 1, "retryBackoff": 1, "defaultAllow": default_allow}}


def sections(folder):
    return {
        "ImagePolicyWebhook": image_policy(folder, True),
        "EventRateLimit": typed("eventratelimit.admission.k8s.io/v1alpha1", "Configuration", limits=[{"type": "Server", "qps": 1, "burst": 8}, {"type": "User", "qps": 1, "burst": 3, "cacheSize": 100}]),
        "PodTolerationRestriction": typed("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration", default=[TOLERATED[0]], whitelist=TOLERATED),
        "PodSecurity": typed("pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration",
                             defaults={"enforce": "baseline", "enforce-version": "latest", "audit": "restricted", "warn": "restricted", "warn-version": "v1.25"}),
        "ResourceQuota": typed("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration", limitedResources=LIMITED)}


def write(folder, sections):
    file = folder / "admission.json"
    file.write_text(json.dumps(typed("apiserver.config.k8s.io/v1", "AdmissionConfiguration", plugins=[{"name": name, "configuration": section} for name, section in sections.items()])))
    return f"--admission-control-config-file={file}"


@pytest.fixture(scope="module")
def configured_sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configured")
    with conftest.server_pair(folder, f"--enable-admission-plugins={','.join(ENABLED)}", f"--disable-admission-plugins={','.join(DISABLED)}", write(folder, sections(folder)),
                              "--default-not-ready-toleration-seconds=20", "--default-unreachable-toleration-seconds=40") as pair:
        yield pair


@pytest.fixture(scope="module")
def refusing_sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refusing")
    with conftest.server_pair(folder, "--enable-admission-plugins=ImagePolicyWebhook", f"--disable-admission-plugins={','.join(DISABLED)}",
                              write(folder, {"ImagePolicyWebhook": image_policy(folder, False)})) as pair:
        yield pair


@pytest.mark.parametrize("case", configured_cases.load(configured_cases.CASES), ids=lambda case: case.id)
def test_same_answers(case, configured_sides, both, known_differences):
    test_requests.compare_case(case, configured_sides, both, known_differences)


@pytest.mark.parametrize("case", configured_cases.load(configured_cases.REFUSING), ids=lambda case: case.id)
def test_same_refusals(case, refusing_sides, both, known_differences):
    test_requests.compare_case(case, refusing_sides, both, known_differences)
