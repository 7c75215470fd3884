"""Checks start_options.ROWS with the real binary: with every command line it starts, or ends with the exit code and the error of the table."""
import re

import pytest

import conftest
import mesh
import start_options


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    store = mesh.Store(folder / "store", binary=conftest.etcd_binary())
    (folder / "world").mkdir()
    yield start_options.World(folder / "world", store.url)
    store.stop()


@pytest.mark.parametrize("row", start_options.ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_the_reference_does_what_the_table_says(world, row):
    binary = conftest.needed_reference()
    outcome = start_options.run(world, row, binary, limit=60)
    if row.error is None:
        assert outcome.code is None, outcome.error()
        assert row.log is None or world.text(row.log) in outcome.log
    else:
        assert outcome.code == 1 or (row.reference == ".*" and outcome.code), outcome.log[-2000:]
        expected = re.escape(world.text(row.error)) if row.reference is None else row.reference.replace("{missing}", re.escape(world.names["missing"]))
        assert re.fullmatch(expected, outcome.error(), re.S), outcome.error()
