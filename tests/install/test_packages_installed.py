"""The packages are installed and started in a clean Debian 12, which has neither compilers nor the libraries of the build."""
import re
import shutil
import subprocess

import pytest

import clean_root
import mesh

REASON = clean_root.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture(scope="module")
def packages():
    made = subprocess.run([mesh.ROOT / "apimesh", "package"], capture_output=True, text=True, timeout=1200)
    assert made.returncode == 0, made.stdout + made.stderr
    return mesh.ROOT / "build/packages"


def serves(root, command, folder, log):
    """Runs `command`, which starts a mesh with its data in `folder` of the root, and uses its API as an administrator."""
    port = mesh.free_port()
    running = root.start(f"{command} --port {port}", log)
    try:
        pki = root.folder / folder / "pki"
        mesh.wait_until(lambda: (pki / "admin.crt").exists() and (pki / "admin.key").exists() or running.poll() is not None, 60, "the certificates are made")
        assert running.poll() is None, log.read_text()
        client = mesh.wait_until(lambda: (pki / "admin.key").stat().st_size and mesh.Client(f"https://127.0.0.1:{port}", token=None, cert=(pki / "admin.crt", pki / "admin.key")), 20, "keys")
        mesh.wait_until(lambda: client.answers("/readyz"), 60, f"the mesh is ready: {log.read_text()}")
        path = "/api/v1/namespaces/default/configmaps"
        assert client("POST", path, {"metadata": {"name": "clean"}}).code in (201, 409)
        assert client.get(f"{path}/clean").code == 200
        uid = client.get(f"{path}/clean").json()["metadata"]["uid"]
    finally:
        ended = clean_root.stop(running)
    assert ended == 0, log.read_text()
    return uid


@pytest.fixture(scope="module")
def debian(packages, tmp_path_factory):
    """A clean system with the Debian package and its dependencies."""
    root = clean_root.CleanRoot(tmp_path_factory.mktemp("debian") / "root")
    package, = packages.glob("*.deb")
    shutil.copyfile(package, root.folder / "root/apimesh.deb")
    root.run("apt-get update -qq && apt-get install -qq -y --no-install-recommends /root/apimesh.deb")
    return root


def test_the_debian_package_serves_as_its_user(debian, tmp_path):
    assert "Kubernetes API" in debian.run("apimesh version")
    assert debian.run("dpkg --audit; dpkg -V apimesh") == "", "files are missing or changed"
    unit = (debian.folder / "usr/lib/systemd/system/apimesh.service").read_text()
    started = re.search(r"^ExecStart=(.*) \$APIMESH_OPTIONS$", unit, re.M)[1]
    # What systemd does for StateDirectory and User.
    debian.run("install -d -o apimesh -g apimesh -m 0700 /var/lib/apimesh")
    as_user = f"exec setpriv --reuid=apimesh --regid=apimesh --clear-groups --no-new-privs {started}"
    first = serves(debian, as_user, "var/lib/apimesh", tmp_path / "first.log")
    assert serves(debian, as_user, "var/lib/apimesh", tmp_path / "second.log") == first, "the data is kept"
    assert debian.run("find /var/lib/apimesh ! -user apimesh; find /var/lib/apimesh -name \"*.key\" -perm /077") == ""


def test_the_unit_is_valid(debian):
    debian.run("apt-get install -qq -y --no-install-recommends systemd")
    assert debian.run("systemd-analyze verify --man=no apimesh.service 2>&1") == ""
    assert re.search(r"^apimesh:", debian.run("getent passwd apimesh"))


def test_the_man_page_and_completions_are_installed(debian):
    installed = debian.run("dpkg -L apimesh")
    for name in ("man1/apimesh.1.gz", "completions/apimesh", "vendor-completions/_apimesh", "vendor_completions.d/apimesh.fish"):
        assert name in installed or name.removesuffix(".gz") in installed, name


def test_removing_the_package_keeps_the_data(debian):
    debian.run("mkdir -p /var/lib/apimesh && touch /var/lib/apimesh/kept && apt-get remove -qq -y apimesh")
    assert debian.run("ls /var/lib/apimesh/kept; command -v apimesh || echo none").split() == ["/var/lib/apimesh/kept", "none"]


def test_the_archive_needs_nothing(packages, tmp_path):
    root = clean_root.CleanRoot(tmp_path / "root")
    archive, = packages.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(root.folder / "opt")], check=True)
    program = f"/opt/{archive.name.removesuffix('.tar.gz')}/bin/apimesh"
    uid = serves(root, f"exec {program} up --dir /srv/mesh", "srv/mesh", tmp_path / "first.log")
    root.run(f"mv {program.removesuffix('/bin/apimesh')} /srv/moved")
    assert serves(root, "exec /srv/moved/bin/apimesh up --dir /srv/mesh", "srv/mesh", tmp_path / "second.log") == uid
