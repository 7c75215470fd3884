"""The texts of OpenAPI documents and `kubectl explain`: a file with invented ones, and the file that `./apimesh descriptions` derives."""
import os
import shutil
import subprocess

import pytest

import mesh

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
# Names of definitions with their texts, and below them the fields with theirs.
TEXTS = {
    "io.k8s.api.core.v1.Pod": ("Some containers of a test.", {"spec": "What a test wants."}),
    "io.k8s.api.core.v1.PodSpec": ("", {"nodeName": "Where a test runs."}),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition": ("A definition of a test.", {}),
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService": ("A service of a test.", {}),
    f"{META}.PartialObjectMetadata": ("", {"metadata": "Data about a test."}),
}


def write_texts(path, texts, digest):
    lines = [f"apimesh-descriptions 1 v1.0.0 {digest}"]
    for name, (text, fields) in sorted(texts.items()):
        lines += [f"{name}\t{text}", *(f"\t{field}\t{value}" for field, value in sorted(fields.items()))]
    path.write_text("\n".join(lines) + "\n")
    return path


def read_texts(path):
    """Returns the texts of a file as {(definition, field or ""): text}."""
    texts, name = {}, None
    for line in path.read_text().splitlines()[1:]:
        first, second, *rest = line.split("\t")
        name = first or name
        texts[name, "" if first else second] = second if first else rest[0]
    return texts


@pytest.fixture
def start(tmp_path):
    """Starts a server with the given flags."""
    store = mesh.Store(tmp_path / "data")
    running = []

    def started(*flags):
        running.append(mesh.KubeApiserver(tmp_path / f"server-{len(running)}", store.url, *flags).start())
        return running[-1]

    yield started
    for server in running:
        server.stop()
    store.stop()


def definitions_of(client, path):
    document = client.get(path).json()
    return document["components"]["schemas"] if "components" in document else document["definitions"]


def test_texts_of_a_file(start, tmp_path):
    """All servers that own kinds show the texts, in OpenAPI v2 and v3, and the hashes tell clients that the documents have changed."""
    plain = start()
    mesh.serve_foos(plain)
    hashes = plain.client.get("/openapi/v3").json()["paths"]
    assert "description" not in definitions_of(plain.client, "/openapi/v3/api/v1")["io.k8s.api.core.v1.Pod"]
    plain.stop()

    server = start(f"--descriptions-file={write_texts(tmp_path / 'texts', TEXTS, 'd1')}")
    mesh.wait_until(lambda: "apis/example.com/v1" in server.client.get("/openapi/v3").json()["paths"], 20, "the custom resource is served")
    changed = server.client.get("/openapi/v3").json()["paths"]
    for path in ("api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1", "apis/example.com/v1"):
        assert changed[path] != hashes[path], path

    v2 = definitions_of(server.client, "/openapi/v2")
    for name, (text, fields) in TEXTS.items():
        if name.startswith(META):
            continue
        group = {"core": "api/v1", "apiextensions": "apis/apiextensions.k8s.io/v1", "apiregistration": "apis/apiregistration.k8s.io/v1"}[name.split(".")[-3]]
        for definitions in (v2, definitions_of(server.client, f"/openapi/v3/{group}")):
            assert definitions[name].get("description", "") == text
            for field, value in fields.items():
                assert definitions[name]["properties"][field]["description"] == value
    foo = definitions_of(server.client, "/openapi/v3/apis/example.com/v1")["com.example.v1.Foo"]
    assert foo["properties"]["metadata"]["description"] == "Data about a test."

    for kubectl in [mesh.KUBECTL, *mesh.older_kubectls()]:
        assert "What a test wants." in server.kubectl("explain", "pod.spec", binary=kubectl).stdout
        assert "Where a test runs." in server.kubectl("explain", "pod.spec.nodeName", binary=kubectl).stdout


def test_a_file_that_is_missing_or_no_file_of_texts(start, tmp_path):
    (tmp_path / "other").write_text("something else\n")
    for name in ("missing", "other"):
        server = start(f"--descriptions-file={tmp_path / name}")
        assert "the OpenAPI documents have no descriptions" in server.log.read_text()
        assert "description" not in definitions_of(server.client, "/openapi/v3/api/v1")["io.k8s.api.core.v1.Pod"]
        server.stop()


def go(*arguments, **kw):
    return subprocess.run(["go", *arguments], cwd=mesh.ROOT / "tools/descriptions", capture_output=True, text=True, **kw)


@pytest.mark.skipif(not shutil.which("go"), reason="needs a Go toolchain")
@pytest.mark.timeout(300)
def test_rules_of_the_tool():
    tested = go("test", "-count=1", "./...")
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.skipif(not shutil.which("go"), reason="needs a Go toolchain to fetch the module k8s.io/api")
@pytest.mark.timeout(300)
def test_explain_with_the_texts_of_kubernetes(tmp_path):
    folder = tmp_path / "mesh"
    fetched = subprocess.run([mesh.ROOT / "apimesh", "descriptions", f"--dir={folder}"], capture_output=True, text=True)
    if fetched.returncode != 0:
        pytest.skip("the Go module k8s.io/api cannot be fetched: " + fetched.stderr[-300:])
    texts = read_texts(folder / "descriptions.txt")
    port = mesh.free_port()
    up = subprocess.run([mesh.BIN / "apimesh", "up", "--detach", "--dir", folder, "--port", str(port), "--front-proxy", "none"], capture_output=True, text=True, timeout=60)
    assert up.returncode == 0, up.stdout + up.stderr
    try:
        shown = subprocess.run([mesh.KUBECTL, f"--kubeconfig={folder}/kubeconfig", f"--cache-dir={folder}/cache", "explain", "pod.spec.containers"],
                               capture_output=True, text=True, timeout=90, check=True).stdout
        words = " ".join(shown.split())  # kubectl breaks lines
        assert texts["io.k8s.api.core.v1.PodSpec", "containers"] in words
        assert texts["io.k8s.api.core.v1.Container", "workingDir"] in words
        # No definition that has a text lacks it.
        pki = folder / "pki"
        client = mesh.Client(f"https://127.0.0.1:{port}", token=None, cert=(pki / "admin.crt", pki / "admin.key"))
        without = [name for name, definition in definitions_of(client, "/openapi/v2").items() if texts.get((name, "")) and not definition.get("description")]
        assert without == []
    finally:
        assert subprocess.run([mesh.BIN / "apimesh", "down", "--dir", folder]).returncode == 0


@pytest.fixture
def failing_go(tmp_path):
    """An environment in which Go is installed and fails."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "go").write_text("#!/bin/sh\necho 'no network' >&2\nexit 1\n")
    (folder / "go").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def test_up_without_a_network(tmp_path, failing_go):
    """`up` works without the texts and says so once; the command says what to do."""
    folder = tmp_path / "mesh"

    def run(*arguments):
        return subprocess.run([mesh.ROOT / "apimesh", *arguments, "--dir", folder], capture_output=True, text=True, timeout=120, env=failing_go)

    refused = run("descriptions")
    assert refused.returncode == 1 and "could not fetch the texts; check the network connection" in refused.stderr
    for hint in (True, False):
        up = run("up", "--detach", "--port", str(mesh.free_port()), "--front-proxy", "none")
        assert up.returncode == 0, up.stdout + up.stderr
        assert run("down").returncode == 0
        assert ("./apimesh descriptions" in up.stderr) == hint, up.stderr
