"""Policies and writes go to our server and to the real kube-apiserver, both with the plugins of admission policies, and with NamespaceExists instead of NamespaceLifecycle."""
import pytest

import cases
import conftest
import policy_cases
import real_policy_cases
import test_requests

PLUGINS = {"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"}


@pytest.fixture(scope="module")
def policy_sides(tmp_path_factory):
    off = ",".join(name for name in conftest.PLUGINS_OFF.split(",") if name not in PLUGINS)
    with conftest.server_pair(tmp_path_factory.mktemp("policies"), f"--disable-admission-plugins={off},NamespaceLifecycle", "--enable-admission-plugins=NamespaceExists") as pair:
        yield pair


REAL = [cases.Case("policies", name, {}, steps) for name, steps in real_policy_cases.CASES.items()]


@pytest.mark.parametrize("case", [*policy_cases.CASES, *REAL], ids=lambda case: case.id)
def test_same_answers(case, policy_sides, both, known_differences):
    test_requests.compare_case(case, policy_sides, both, known_differences)
