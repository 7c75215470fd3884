import pytest

from backends import Trap
from fixtures import *  # noqa: F401,F403


@pytest.fixture(scope="module")
def trap():
    trap = Trap()
    yield trap
    trap.stop()
