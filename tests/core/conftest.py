"""One fork server for all tests of a process, and a project of its own for each test."""

import time

import pytest

from scratchbook.core.processes import children_of
from scratchbook.core.runner import ForkServer
from tests.core.pages import Project


@pytest.fixture(scope="session")
def server():
    with ForkServer() as server:
        yield server


@pytest.fixture
def project(tmp_path, server):
    """A project whose pages leave no process behind, whatever their code does."""
    project = Project(tmp_path, server)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "docs").mkdir()
    yield project
    assert left_behind(server) == []


def left_behind(server):
    """The processes still there after a second, but for those that wait for more: the server, and its forks."""
    end = time.monotonic() + 1
    while True:
        below = [child for one in server._servers.values() for child in children_of(one.process.pid)]
        left = [child for one in below for child in children_of(one)]
        forks = max(0, len(server._idle) - len(server._servers))  # a server serves a line itself
        if (not left and len(below) == forks) or time.monotonic() > end:
            return left or below[forks:]
        time.sleep(0.005)
