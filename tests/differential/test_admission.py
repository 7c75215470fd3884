"""The same writes go to our server and to the real kube-apiserver, both with all admission plugins that need neither CEL nor a webhook."""
import pytest

import admission_cases
import conftest
import test_requests

ENABLED = ("AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology",
           "NamespaceAutoProvision", "NamespaceExists", "OwnerReferencesPermissionEnforcement", "PodNodeSelector", "PodTolerationRestriction")
DISABLED = ("MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")
CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    exemptions: {usernames: [exempt-user], namespaces: [exempt], runtimeClasses: [exempt-class]}
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits:
    - {type: SourceAndObject, qps: 1, burst: 2}
    - {type: Namespace, qps: 1, burst: 3}
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig: {selector-limited: "color=blue,size=big"}
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
"""


@pytest.fixture(scope="module")
def admission_sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("admission")
    file = folder / "admission.yaml"
    file.write_text(CONFIGURATION)
    with conftest.server_pair(folder, f"--enable-admission-plugins={','.join(ENABLED)}", f"--disable-admission-plugins={','.join(DISABLED)}",
                              f"--admission-control-config-file={file}") as pair:
        yield pair


@pytest.mark.parametrize("case", admission_cases.CASES, ids=lambda case: case.id)
def test_same_answers(case, admission_sides, both, known_differences):
    test_requests.compare_case(case, admission_sides, both, known_differences)
