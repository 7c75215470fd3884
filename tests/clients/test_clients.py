"""Client libraries of other languages work with a mesh as with kube-apiserver."""
import os
import pathlib
import shutil
import subprocess

import pytest

import mesh

SOURCES = pathlib.Path(__file__).parent
LIBRARIES = {
    "python": (["python3"], ["sh", "-c", "python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check kubernetes==35.0.0"], ["venv/bin/python", "main.py"]),
    "javascript": (["npm", "node"], ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], ["node", "main.js"]),
    "java": (["mvn", "java"], ["mvn", "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"], ["java", "-cp", "target/classes:{classpath}", "ClientTest"]),
}


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mesh")
    with_folder = ("--dir", str(folder))
    started = subprocess.run([mesh.BIN / "apimesh", "up", "--detach", "--front-proxy=none", f"--port={mesh.free_port()}", *with_folder], capture_output=True, text=True, timeout=60)
    assert started.returncode == 0, started.stdout + started.stderr
    yield folder / "kubeconfig"
    subprocess.run([mesh.BIN / "apimesh", "down", *with_folder], capture_output=True, timeout=60)


@pytest.mark.parametrize("language", LIBRARIES)
def test_library(language, kubeconfig):
    tools, build, run = LIBRARIES[language]
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    folder = mesh.ROOT / "build/clients" / language
    shutil.copytree(SOURCES / language, folder, dirs_exist_ok=True)
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True, timeout=2000)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    classpath = (folder / "classpath.txt").read_text() if (folder / "classpath.txt").exists() else ""
    done = subprocess.run([word.format(classpath=classpath) for word in run], cwd=folder, env={**os.environ, "KUBECONFIG": str(kubeconfig)}, capture_output=True, text=True, timeout=180)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr
