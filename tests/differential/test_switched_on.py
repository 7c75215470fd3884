"""The same requests go to our server and to the real kube-apiserver, both with versions and features that are off by default."""
import pytest

import conftest
import switched_cases
import test_requests

GATES = ("ClusterTrustBundle", "ClusterTrustBundleProjection", "ContainerStopSignals", "GenericWorkload", "PodCertificateRequest", "StorageVersionMigrator")


@pytest.fixture(scope="module")
def switched_sides(tmp_path_factory):
    with conftest.server_pair(tmp_path_factory.mktemp("switched"), f"--disable-admission-plugins={conftest.PLUGINS_OFF}", "--runtime-config=api/all=true",
                              "--feature-gates=" + ",".join(f"{gate}=true" for gate in GATES)) as pair:
        yield pair


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    return {case.id: case for case in switched_cases.load(tmp_path_factory.mktemp("certificates"))}


@pytest.mark.parametrize("name", [*switched_cases.groups(), "trust-bundles", *switched_cases.CERTIFICATES])
def test_same_answers(name, steps, switched_sides, both, known_differences):
    test_requests.compare_case(steps[f"switched/{name}"], switched_sides, both, known_differences)
