import os
import shutil

import pytest

import mesh


def etcd_binary():
    return os.environ.get("APIMESH_ETCD_BINARY") or shutil.which("etcd36") or shutil.which("etcd")


@pytest.fixture(scope="session")
def etcd_path():
    path = etcd_binary()
    assert path, "no etcd: set APIMESH_ETCD_BINARY or run the tests by ./apimesh test, which builds one"
    return path


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One kube-apiserver on our own store, shared by tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("server")
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url).start()
    yield server
    server.stop()
    store.stop()


@pytest.fixture
def own_server(tmp_path):
    """A kube-apiserver of the test's own, to be killed and broken."""
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url).start()
    yield server
    server.stop()
    store.stop()
