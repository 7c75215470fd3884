"""`./apimesh package`: the Debian package and the archive are made, and a mesh starts from each."""
import json
import pathlib
import re
import subprocess

import pytest

import mesh

# Libraries that belong to the system on which the archive is unpacked.
OF_THE_SYSTEM = re.compile(r"linux-vdso|ld-linux|libc\.|libm\.|libdl\.|librt\.|libpthread\.")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=250, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages():
    if mesh.BIN != mesh.ROOT / "build/bin":
        pytest.skip("packages are made of the build in build/, and the tests use another one")
    run(mesh.ROOT / "apimesh", "package")
    return mesh.ROOT / "build/packages"


def starts(program, folder):
    """Starts a mesh with an installed program and asks it for a namespace."""
    with_folder = ("--dir", folder / "mesh")
    run(program, "up", "--detach", "--front-proxy", "none", "--port", mesh.free_port(), *with_folder)
    try:
        assert json.loads(run(program, "status", "--json", *with_folder))["ready"]
        assert "default" in run(mesh.KUBECTL, f"--kubeconfig={folder}/mesh/kubeconfig", f"--cache-dir={folder}/cache", "get", "namespaces", "-o", "name")
    finally:
        run(program, "down", *with_folder)


def test_the_archive_has_its_libraries_and_starts_anywhere(packages, tmp_path):
    archive, = packages.glob("*.tar.gz")
    run("tar", "-xzf", archive, "-C", tmp_path)
    root, = tmp_path.iterdir()
    assert f"{root.name}.tar.gz" == archive.name
    for program in (root / "lib/apimesh/bin").iterdir():
        for line in run("ldd", program).splitlines():
            if not OF_THE_SYSTEM.search(line):
                assert pathlib.Path(line.split("=>")[1].split()[0]).resolve().is_relative_to(root.resolve()), f"{program.name}: {line}"
    starts(root / "bin/apimesh", tmp_path)


def test_the_debian_package_names_what_it_needs_and_starts(packages, tmp_path):
    package, = packages.glob("*.deb")
    needed = [dependency.split()[0] for dependency in run("dpkg-deb", "-f", package, "Depends").split(", ")]
    assert "libssl3" in needed
    run("dpkg-query", "-W", *needed)  # fails for a name that does not exist here
    root = tmp_path / "root"
    run("dpkg-deb", "-x", package, root)
    unit = (root / "usr/lib/systemd/system/apimesh.service").read_text()
    program = re.search(r"^ExecStart=(\S+)", unit, re.M)[1]
    assert (root / program.lstrip("/")).exists()
    page = (root / "usr/share/man/man1/apimesh.1").read_text()
    assert ".SS backup" in page and ".SS test" not in page
    starts(root / "usr/bin/apimesh", tmp_path)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_name_all_commands_and_options(shell):
    commands = re.findall(r"^  ([a-z]+) ", run(mesh.BIN / "apimesh", "--help").partition("\nSubcommands:\n")[2], re.M)
    script = run(mesh.BIN / "apimesh", "completion", shell)
    assert [command for command in commands if not re.search(rf"\b{command}\b", script)] == []
    for command in commands:
        if command in ("up", "status", "pki", "certs"):
            options = re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", run(mesh.BIN / "apimesh", command, "--help"), re.M)
            words = script.split(f"{command}", 1)[1] if shell == "fish" else re.search(rf"^ +{command}\) (.*)$", script, re.M)[1]
            assert options and [option for option in options if option not in words] == [], command
    if shell == "bash":
        assert "--detach" in run("bash", "-c", f"{script}\nCOMP_WORDS=(apimesh up --d) COMP_CWORD=2; _apimesh; echo ${{COMPREPLY[*]}}")
