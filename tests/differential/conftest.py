import contextlib
import os
import pathlib
import shutil

import pytest

import exchange
import known
import mesh

# Plugins of admission have tests of their own; here both servers run with the one that every server needs.
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


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """(our server, the reference), both empty."""
    folder = tmp_path_factory.mktemp("differential")
    flags = [f"--disable-admission-plugins={PLUGINS_OFF}"]
    reference = os.environ.get("APIMESH_REFERENCE_URL")  # one that runs already saves its seconds of starting
    binary = reference_binary()
    if not reference and binary is None:
        pytest.skip("no reference: set APIMESH_REFERENCE to the binary of the real kube-apiserver v1.36")
    if binary and pathlib.Path(binary).name != "kube-apiserver":  # its name is in the managedFields of what it makes by itself
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
def known_differences():
    return known.load()
