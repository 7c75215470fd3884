import concurrent.futures
import contextlib
import os
import pathlib
import shutil

import pytest

import exchange
import known
import mesh

# Admission plugins have their own tests (test_admission.py), so both servers run with these disabled.
PLUGINS_OFF = ",".join((
    "DefaultIngressClass", "DefaultStorageClass",
    "DefaultTolerationSeconds", "LimitRanger", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "PersistentVolumeClaimResize",
    "PodSecurity", "PodTopologyLabels", "Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection",
    "TaintNodesByCondition", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"))


def reference_binary():
    candidates = [os.environ.get("APIMESH_REFERENCE")]
    return next((c for c in candidates if c and pathlib.Path(c).exists()), None)


def etcd_binary():
    candidates = [os.environ.get("APIMESH_ETCD_BINARY"), shutil.which("etcd36"), shutil.which("etcd")]
    return next((c for c in candidates if c and pathlib.Path(c).exists()), None)


@contextlib.contextmanager
def server_pair(folder, *flags, reference=None):
    """Starts (our server, the reference), both without data and with the same flags. `reference` is the URL of a server that is already running."""
    binary = reference_binary()
    if not reference and binary is None:
        pytest.skip("no real kube-apiserver: run ./apimesh test --differential, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
    if binary and pathlib.Path(binary).name != "kube-apiserver":  # the name of the binary is in the managedFields of objects that the server creates
        named = folder / "kube-apiserver"
        named.symlink_to(pathlib.Path(binary).resolve())
        binary = str(named)
    with contextlib.ExitStack() as started:
        def start(etcd, folder, **options):
            started.callback(etcd.stop)
            server = mesh.KubeApiserver(folder, etcd.url, "--advertise-address=127.0.0.1", *flags, **options).start(wait=False)
            started.callback(server.stop)
            return server.url, etcd.url

        ours, our_etcd = start(mesh.Store(folder / "store"), folder / "ours")
        their_etcd = os.environ.get("APIMESH_REFERENCE_ETCD_URL")
        if not reference:
            reference, their_etcd = start(mesh.Store(folder / "etcd", binary=etcd_binary()), folder / "reference", binary=binary)
        for url in (ours, reference):
            client = mesh.Client(url)
            mesh.wait_until(lambda: client.answers("/readyz"), 100, f"{url} is ready")
        yield exchange.Side("ours", ours, mesh.ADMIN_TOKEN, our_etcd), exchange.Side("reference", reference, mesh.ADMIN_TOKEN, their_etcd)


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """Starts the pair of servers of most tests."""
    # A server that is already running saves the time of its start.
    with server_pair(tmp_path_factory.mktemp("differential"), f"--disable-admission-plugins={PLUGINS_OFF}",
                     reference=os.environ.get("APIMESH_REFERENCE_URL")) as pair:
        yield pair


@pytest.fixture(scope="session")
def both():
    """Calls a function for both servers at the same time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        def run(sides, call):
            return [future.result() for future in [pool.submit(call, side) for side in sides]]
        yield run


@pytest.fixture(scope="session")
def known_differences():
    return known.load()
