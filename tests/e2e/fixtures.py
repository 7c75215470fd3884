import os
import pathlib
import shutil

import pytest

import mesh


def only_ended(report):
    """Returns whether a report has only indirect leaks. When a process ends, reference cycles hold its suspended coroutines, which are indirect leaks.
    Memory that is lost while the process runs is a direct leak."""
    return "LeakSanitizer" in report and "Direct leak" not in report and report.count("ERROR: ") == 1 and "runtime error" not in report


def sanitizer_reports():
    """Returns {name: text} of the sanitizer reports of all processes so far; {} without APIMESH_SANITIZER_REPORTS."""
    folder = mesh.SANITIZER_REPORTS and pathlib.Path(mesh.SANITIZER_REPORTS)
    found = {path.name: path.read_text(errors="replace") for path in sorted(folder.iterdir())} if folder else {}
    return {name: text for name, text in found.items() if not only_ended(text)}


def pytest_configure():
    """Sets the sanitizer options, which every process that a test starts inherits."""
    if folder := mesh.SANITIZER_REPORTS:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        suppressions = mesh.ROOT / "tests/sanitize/tsan.supp"
        # Reports are files. asan must not change the exit code: the launcher takes 1 as "the service rejects its configuration".
        for sanitizer, options in {"ASAN": "exitcode=0:", "UBSAN": "print_stacktrace=1:", "TSAN": f"suppressions={suppressions}:"}.items():
            os.environ[f"{sanitizer}_OPTIONS"] = f"{options}log_path={folder}/{sanitizer.lower()}"


@pytest.fixture(autouse=True)
def no_new_sanitizer_reports():
    before = sanitizer_reports()
    yield
    found = {name: text for name, text in sanitizer_reports().items() if text != before.get(name)}
    assert not found, "\n".join(f"{name}:\n{text[:6000]}" for name, text in found.items())


def pytest_sessionfinish(session):
    """Fails the session if processes that several tests share wrote reports when they ended."""
    if sanitizer_reports():
        print(f"\nthere are sanitizer reports: {', '.join(sanitizer_reports())} in {mesh.SANITIZER_REPORTS}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def etcd_binary():
    return os.environ.get("APIMESH_ETCD_BINARY") or shutil.which("etcd36") or shutil.which("etcd")


@pytest.fixture(scope="session")
def etcd_path():
    path = etcd_binary()
    assert path, "no etcd: run the tests with ./apimesh test, which builds it, or set APIMESH_ETCD_BINARY"
    return path


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A kube-apiserver with our store. Tests share it, so they must restore what they change."""
    folder = tmp_path_factory.mktemp("server")
    with mesh.running_server(folder) as server:
        yield server


@pytest.fixture
def own_server(tmp_path):
    """A kube-apiserver for one test, which may kill its processes."""
    with mesh.running_server(tmp_path) as server:
        yield server
