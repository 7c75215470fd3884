import os
import pathlib
import shutil

import pytest

import mesh


def only_ended(report):
    """A process ends while its loops wait, and what waits is held in circles: all indirect leaks. What was lost while it ran is a direct one."""
    return "LeakSanitizer" in report and "Direct leak" not in report and report.count("ERROR: ") == 1 and "runtime error" not in report


def sanitizer_reports():
    """{name: text} of what the sanitizers found in any process so far; none without APIMESH_SANITIZER_REPORTS."""
    folder = mesh.SANITIZER_REPORTS and pathlib.Path(mesh.SANITIZER_REPORTS)
    found = {path.name: path.read_text(errors="replace") for path in sorted(folder.iterdir())} if folder else {}
    return {name: text for name, text in found.items() if not only_ended(text)}


def pytest_configure():
    """Every process that a test starts inherits where to report to."""
    if folder := mesh.SANITIZER_REPORTS:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        suppressions = mesh.ROOT / "tests/sanitize/tsan.supp"
        # The files tell; the exit code stays the process's own, for 1 means to the launcher that a service refuses its configuration.
        for sanitizer, options in {"ASAN": "exitcode=0:", "UBSAN": "print_stacktrace=1:", "TSAN": f"suppressions={suppressions}:"}.items():
            os.environ[f"{sanitizer}_OPTIONS"] = f"{options}log_path={folder}/{sanitizer.lower()}"


@pytest.fixture(autouse=True)
def no_new_sanitizer_reports():
    before = sanitizer_reports()
    yield
    found = {name: text for name, text in sanitizer_reports().items() if text != before.get(name)}
    assert not found, "\n".join(f"{name}:\n{text[:6000]}" for name, text in found.items())


def pytest_sessionfinish(session):
    """Processes that several tests share report as late as this."""
    if sanitizer_reports():
        print(f"\nthe sanitizers reported: {', '.join(sanitizer_reports())} in {mesh.SANITIZER_REPORTS}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


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
