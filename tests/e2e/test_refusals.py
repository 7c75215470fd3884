"""With an invalid configuration, the server ends with one clear error and exit code 1, and services are not restarted."""
import subprocess

import pytest

import mesh


def start_and_end(tmp_path, *flags):
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url, *flags).start(wait=False)
    try:
        return server.process.wait(20), server.log.read_text()
    finally:
        server.stop()
        store.stop()


@pytest.mark.parametrize("flags,text", [
    (["--enable-admission-plugins=NoSuchPlugin"], 'enable-admission-plugins plugin "NoSuchPlugin" is unknown'),
    (["--disable-admission-plugins=NoSuchPlugin"], 'disable-admission-plugins plugin "NoSuchPlugin" is unknown'),
    (["--admission-control=NoSuchPlugin"], 'admission-control plugin "NoSuchPlugin" is unknown'),
    (["--enable-admission-plugins=NodeRestriction,ImagePolicyWebhook"],
     'failed to apply admission: couldn\'t init admission plugin "ImagePolicyWebhook": no config specified'),
    (["--admission-control=NamespaceLifecycle", "--enable-admission-plugins=AlwaysPullImages"],
     "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"),
    (["--enable-admission-plugins=Priority", "--disable-admission-plugins=Priority"],
     "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped"),
    (["--tls-sni-cert-key=nonsense"], "--tls-sni-cert-key"),
])
def test_bad_configuration_ends_everything(tmp_path, flags, text):
    code, log = start_and_end(tmp_path, *flags)
    assert code == 1, log
    assert text in log
    assert "starting it again" not in log.split(text)[0], "the launcher restarted a service whose configuration is invalid"


def test_admission_control_runs_only_the_plugins_it_names(tmp_path):
    with mesh.running_server(tmp_path, "--admission-control=AlwaysAdmit") as server:
        # Without NamespaceLifecycle, objects can be created in a namespace that does not exist.
        made = server.client("POST", "/api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "a"}})
        assert made.code == 201, made.body


SERVICE_FLAGS = {
    "core-api": ["--etcd-servers=http://127.0.0.1:1", "--extensions-api=ADDRESS"],
    "extensions-api": ["--etcd-servers=http://127.0.0.1:1", "--core-api=ADDRESS"],
    "authn-authz": ["--core-api=ADDRESS"],
    "aggregator": ["--core-api=ADDRESS", "--extensions-api=ADDRESS", "--authn-authz=ADDRESS", "--tls-cert-file=/dev/null",
                   "--tls-private-key-file=/dev/null", "--secure-port=0", "--bind-address=127.0.0.1"],
}


def run_service(name, address, *flags):
    arguments = [flag.replace("ADDRESS", address) for flag in SERVICE_FLAGS[name]]
    return subprocess.run([str(mesh.BIN / name), *arguments, *flags], capture_output=True, text=True, timeout=20)


@pytest.mark.parametrize("name", mesh.SERVICES)
def test_neighbours_over_tcp_need_certificates(tmp_path, name):
    result = run_service(name, "localhost:1", f"--listen=unix:{tmp_path}/s.sock")
    assert result.returncode == 1, result.stderr
    assert "needs mesh certificates" in result.stderr


@pytest.mark.parametrize("name", mesh.SERVICES)
def test_health_address_in_a_folder_that_is_not_there(tmp_path, name):
    result = run_service(name, f"unix:{tmp_path}/none.sock", f"--listen=unix:{tmp_path}/s.sock", f"--health-address=unix:{tmp_path}/missing/health.sock")
    assert result.returncode == 1, result.stderr
    assert "missing/health.sock" in result.stderr and "No such file" in result.stderr
