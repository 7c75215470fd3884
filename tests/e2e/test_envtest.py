"""`./apimesh envtest` prints a folder with the programs that controller-runtime's envtest starts."""
import os
import shutil
import subprocess

import pytest

import mesh


@pytest.fixture(scope="module")
def assets():
    printed = subprocess.run([mesh.ROOT / "apimesh", "envtest"], capture_output=True, text=True, check=True).stdout
    assert printed.count("\n") == 1, "standard output is only the path"
    return printed.strip()


def test_the_folder_has_the_three_programs(assets):
    for program in ("kube-apiserver", "etcd", "kubectl"):
        assert os.access(f"{assets}/{program}", os.X_OK), program
    line = subprocess.run([mesh.ROOT / "apimesh", "envtest", "-p", "env"], capture_output=True, text=True, check=True).stdout
    assert line == f"export KUBEBUILDER_ASSETS='{assets}'\n"


def test_other_formats_are_refused():
    refused = subprocess.run([mesh.ROOT / "apimesh", "envtest", "-p", "json"], capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stdout == ""
    assert '-p accepts path and env, not "json"' in refused.stderr


@pytest.mark.skipif(not shutil.which("go"), reason="needs a Go toolchain to build controller-runtime")
@pytest.mark.timeout(600)
def test_a_control_plane_of_controller_runtime(assets):
    """A control plane with a CRD starts, a controller works, a user without permissions is refused, and everything stops. In another one, the webhook server of
    controller-runtime changes, accepts and rejects objects."""
    environment = {**os.environ, "KUBEBUILDER_ASSETS": assets, "GOFLAGS": "-buildvcs=false"}
    tested = subprocess.run(["go", "test", "-count=1", "-v", "./..."], cwd=mesh.ROOT / "tests/envtest", env=environment, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "--- PASS: TestControlPlane" in tested.stdout and "--- PASS: TestWebhooks" in tested.stdout
    leftover = subprocess.run(["pgrep", "-f", f"{assets}/"], capture_output=True, text=True).stdout
    assert not leftover, "processes are left behind"
