"""CustomResourceDefinitions and objects of other projects, from Go modules: both servers must accept and refuse the same ones with the same causes."""
import json
import os
import shutil
import subprocess

import pytest

import compare_definitions
import compare_objects
import mesh

# A module, and its folders that have definitions and objects.
MODULES = {
    "sigs.k8s.io/gateway-api@v1.3.0": ["config/crd", "examples"],
    "github.com/cert-manager/cert-manager@v1.18.2": ["deploy/crds"],
    "sigs.k8s.io/jobset@v0.8.1": ["config/components/crd", "config/samples", "site/static/examples"],
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    if not shutil.which("go"):
        pytest.skip("no Go toolchain, with which the definitions are downloaded")
    made = subprocess.run(["go", "mod", "download", "-json", *MODULES], cwd=tmp_path_factory.mktemp("module"), env={**os.environ, "GOFLAGS": "-mod=mod"},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        pytest.skip(f"the Go modules cannot be downloaded: {(made.stdout + made.stderr)[-300:]}")
    decoder, text, found = json.JSONDecoder(), made.stdout.strip(), []
    while text:
        module, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        found += [f"{module['Dir']}/{folder}" for folder in MODULES[f"{module['Path']}@{module['Version']}"]]
    return found


@pytest.fixture(scope="session")
def urls(sides):
    return [f"https://{side.address}" for side in sides]


def test_definitions(folders, urls):
    (found, with_rules, rules), counts, lines = compare_definitions.compare(folders, urls, mesh.ADMIN_TOKEN)
    assert found >= 20 and with_rules >= 10 and rules >= 100, (found, with_rules, rules)
    assert counts["accepted", "same"] and counts["refused", "same"]
    assert not lines, "\n".join(lines)


def test_objects(folders, urls):
    (versions, objects), counts, lines = compare_objects.compare(folders, urls, mesh.ADMIN_TOKEN, count=2)
    assert versions >= 15 and objects >= 40, (versions, objects)
    assert counts[201, "same"] and counts[422, "same"]
    assert not lines, "\n".join(lines)
