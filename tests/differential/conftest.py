import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal

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


def needed_reference():
    """Returns the path of the real kube-apiserver, or skips the test."""
    binary = reference_binary()
    if binary is None:
        pytest.skip("no real kube-apiserver: run ./apimesh test --differential, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
    return binary


def etcd_binary():
    candidates = [os.environ.get("APIMESH_ETCD_BINARY"), shutil.which("etcd36"), shutil.which("etcd")]
    return next((c for c in candidates if c and pathlib.Path(c).exists()), None)


@contextlib.contextmanager
def store_pair(folder):
    """Starts the stores of server_pair(), for servers that are started more than once."""
    stores = mesh.Store(folder / "store"), mesh.Store(folder / "etcd", binary=etcd_binary())
    try:
        yield stores
    finally:
        for store in stores:
            store.stop()


@contextlib.contextmanager
def server_pair(folder, *flags, reference=None, stores=None, end=signal.SIGTERM):
    """Starts (our server, the reference) with the same flags, both without data or with the data of store_pair(). `reference` is the URL of a server that is already
    running. `end` is the signal that ends the servers."""
    binary = reference_binary() if reference else needed_reference()
    if binary and pathlib.Path(binary).name != "kube-apiserver":  # the name of the binary is in the managedFields of objects that the server creates
        named = folder / "kube-apiserver"
        named.symlink_to(pathlib.Path(binary).resolve())
        binary = str(named)
    with contextlib.ExitStack() as started:
        def start(etcd, folder, **options):
            if not stores:
                started.callback(etcd.stop)
            server = mesh.KubeApiserver(folder, etcd.url, "--advertise-address=127.0.0.1", *flags, **options).start(wait=False)
            started.callback(server.stop, end, group=end == signal.SIGKILL)
            return server.url, etcd.url

        ours, our_etcd = start(stores[0] if stores else mesh.Store(folder / "store"), folder / "ours")
        their_etcd = os.environ.get("APIMESH_REFERENCE_ETCD_URL")
        if not reference:
            reference, their_etcd = start(stores[1] if stores else mesh.Store(folder / "etcd", binary=etcd_binary()), folder / "reference", binary=binary)
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
