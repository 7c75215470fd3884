"""The same requests go to our server and to the real kube-apiserver, both with feature gates that do not have their defaults."""
import pathlib

import pytest
import yaml

import cases
import conftest
import test_requests

OPPOSITE = {
    "AuthorizePodWebsocketUpgradeCreatePermission": False, "ClearingNominatedNodeNameAfterBinding": False,
    "ConstrainedImpersonation": False, "ContainerRestartRules": False,
    "ComponentFlagz": False, "CrossNamespaceVolumeDataSource": True, "DRADeviceTaintRules": True,
    "DRAResourceClaimGranularStatusAuthorization": False, "DRAResourcePoolStatus": True, "HPAScaleToZero": True,
    "InPlacePodLevelResourcesVerticalScaling": False, "InPlacePodVerticalScalingInitContainers": False,
    "KubeletServiceAccountTokenForCredentialProviders": False, "ServiceAccountNodeAudienceRestriction": False,
    "StorageVersionHash": False, "WatchList": False,
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": False, "MutablePVNodeAffinity": True, "MutablePodResourcesForSuspendedJobs": False,
    "MutableSchedulingDirectivesForSuspendedJobs": False, "OpenAPIEnums": False, "PodDeletionCost": False, "PodLevelResources": False,
    "PodLogsQuerySplitStreams": True, "PodTopologyLabelsAdmission": False, "RelaxedServiceNameValidation": False,
    "RestartAllContainersOnContainerExits": False, "SELinuxMount": True, "ServiceCIDRStatusFieldWiping": False, "StrictIPCIDRValidation": False,
    "TaintTolerationComparisonOperators": True, "TokenRequestServiceAccountUIDValidation": False, "UserNamespacesHostNetworkSupport": True}
OTHERS = {"InPlacePodLevelResourcesVerticalScaling": False, "MutableSchedulingDirectivesForSuspendedJobs": False, "RestartAllContainersOnContainerExits": False}
CONTENT = yaml.safe_load((pathlib.Path(__file__).parent / "gate_cases.yaml").read_text())
# PodTopologyLabels, which has a gate, is on.
PLUGINS_OFF = ",".join(name for name in conftest.PLUGINS_OFF.split(",") if name != "PodTopologyLabels")


def load(group):
    return [cases.Case(f"gates-{group}", name, CONTENT["vars"], steps) for name, steps in CONTENT[group].items()]


def pair(folder, gates):
    return conftest.server_pair(folder, f"--disable-admission-plugins={PLUGINS_OFF}", "--enable-admission-plugins=NodeRestriction",
                                "--feature-gates=" + ",".join(f"{gate}={str(value).lower()}" for gate, value in gates.items()))


@pytest.fixture(scope="module")
def opposite_sides(tmp_path_factory):
    with pair(tmp_path_factory.mktemp("opposite"), OPPOSITE) as sides:
        yield sides


@pytest.fixture(scope="module")
def other_sides(tmp_path_factory):
    with pair(tmp_path_factory.mktemp("others"), OTHERS) as sides:
        yield sides


@pytest.mark.parametrize("case", load("opposite"), ids=lambda case: case.id)
def test_opposite_gates(case, opposite_sides, both, known_differences):
    test_requests.compare_case(case, opposite_sides, both, known_differences)


@pytest.mark.parametrize("case", load("others"), ids=lambda case: case.id)
def test_other_gates(case, other_sides, both, known_differences):
    test_requests.compare_case(case, other_sides, both, known_differences)
