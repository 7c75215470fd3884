"""Every admission plugin is compared with enough accepted and refused writes. This file is the last one, because it counts what the others have sent."""
import pathlib
import re

import pytest

import counted

LIST = pathlib.Path(__file__).resolve().parents[2] / "lib/admission/all_plugins.cc"
FILES = {"admission", "plugins", "policies", "webhooks", "configured", "always_deny"}


def test_every_plugin_is_listed():
    assert sorted(counted.PLUGINS) == sorted(set(re.findall(r'^\s*\{"([A-Za-z]+)", &', LIST.read_text(), re.M)))


def test_every_plugin_accepts_and_refuses_enough():
    if not FILES <= {sent.split("/")[0] for sent, _ in counted.SENT}:
        pytest.skip("requires that the tests of all plugins run before it")
    assert counted.lacking() == {}
