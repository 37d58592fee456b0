"""Sessions on an engine of the project's own: the same pages."""

import random

import pytest

from tests.ext.changing_book import ChangingBook, write_book
from tests.ext.conftest import Project
from tests.ext.test_incremental import contents


@pytest.mark.filterwarnings("ignore")
def test_two_processes_of_dask_give_the_same_pages(tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    book = ChangingBook(random.Random(0))
    for _ in range(4):
        book.add_page()
    found = {}
    for name, executor in [("threads", "concurrent.futures.ThreadPoolExecutor"), ("dask", "tests.ext.engine.cluster")]:
        project = Project(tmp_path / name)
        write_book(book, project.root)
        built = project.build("html", scratchbook_executor=executor)
        assert built.warnings == []
        assert "4 sessions: 4 run, 0 cached, 0 failed" in built.log
        found[name] = contents(project.root / "build" / "html")

    assert found["dask"] == found["threads"]
