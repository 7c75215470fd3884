"""The user guide: every command that docs/guide shows as `sh` works as printed."""
import pathlib
import re
import subprocess

import pytest

import mesh

PAGES = sorted((mesh.ROOT / "docs/guide").glob("*.md"))


def commands(page):
    """Returns the blocks of a page that are marked as sh, as one script."""
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_commands(page, tmp_path):
    """Runs the commands of a page in an empty folder, in which ./apimesh is the program that was built. Only the port differs, because it may be in use."""
    (tmp_path / "apimesh").symlink_to(mesh.BIN / "apimesh")
    script = re.sub(r"^\./apimesh up (?!.*--port)", f"./apimesh up --port {mesh.free_port()} ", commands(page), flags=re.MULTILINE)
    script = script.replace("./apimesh doctor", f"./apimesh doctor --port {mesh.free_port()}")
    environment = {**mesh.os.environ, "KUBECACHEDIR": str(tmp_path / "cache"), "XDG_RUNTIME_DIR": ""}
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120 * mesh.SLOWDOWN, env=environment)
    for folder in pathlib.Path(tmp_path).glob("**/lock"):
        subprocess.run([tmp_path / "apimesh", "down", "--dir", folder.parent], capture_output=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


def test_pages_are_listed():
    index = (mesh.ROOT / "docs/guide/README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index] == []
