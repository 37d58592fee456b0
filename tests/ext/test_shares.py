"""Pages are shared out evenly, and no process is left without work while there is some."""

from __future__ import annotations

import multiprocessing
from types import SimpleNamespace

import pytest
from sphinx import builders
from sphinx.util.parallel import ParallelTasks, make_chunks, parallel_available

from scratchbook.ext.shares import FEW, READ_FEW, Crew, even_shares, read_few


@pytest.fixture
def crew(monkeypatch):
    """Return what makes a crew that may use so many processes, one of which gives out the work."""

    def make(parallel):
        monkeypatch.setattr(Crew, "parallel", parallel)
        return Crew(parallel - 1)

    return make


@pytest.mark.parametrize("parallel", [2, 3, 4, 8])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 41, 200, 1000])
def test_each_page_is_in_one_share_and_shares_go_evenly_into_the_processes(crew, parallel, size):
    crew(parallel)
    docnames = [f"page{number}" for number in range(size)]
    for nproc in (parallel, parallel - 1):
        shares = even_shares(docnames, nproc)
        assert [docname for share in shares for docname in share] == docnames
        lengths = {len(share) for share in shares}
        assert not lengths or max(lengths) - min(lengths) <= 1
        assert not shares or min(lengths) > 0
        assert len(shares) % parallel == 0 or len(shares) == size
        assert len(shares) >= len(make_chunks(docnames, nproc))


@pytest.mark.parametrize(("count", "how"), [(0, "here"), (FEW, "here"), (FEW + 1, "beside")])
def test_few_pages_are_read_in_this_process(count, how):
    ways = []
    read = read_few(lambda builder, docnames, nproc: ways.append("beside"))
    read(SimpleNamespace(_read_serial=lambda docnames: ways.append("here")), ["page"] * count, 2)
    assert ways == [how]


@pytest.mark.skipif(not parallel_available, reason="Sphinx forks here for nobody")
def test_who_has_given_out_everything_makes_room_for_one_more(crew):
    """Each of the two waits for the other, which never comes where only one may be at work."""
    both = multiprocessing.get_context("fork").Barrier(2)

    def meet(number):
        both.wait(20)
        return number

    met = []
    tasks = crew(2)
    for number in range(2):
        tasks.add_task(meet, number, lambda number, result: met.append(result))
    tasks.join()
    assert sorted(met) == [0, 1]


@pytest.mark.parametrize(("fast", "expected"), [(True, Crew), (False, ParallelTasks)])
def test_a_build_with_several_processes_shares_out_its_pages_so_if_the_project_wants_it(
    project, monkeypatch, fast, expected
):
    monkeypatch.setattr(builders, "ParallelTasks", ParallelTasks)
    monkeypatch.setattr(builders, "make_chunks", make_chunks)
    monkeypatch.setattr(builders.Builder, "_read_parallel", READ_FEW.__wrapped__)
    monkeypatch.setattr(Crew, "parallel", 1)
    project.write({"docs/index.md": "# A\n\nWords.\n"})
    project.build("html", jobs=3, scratchbook_fast=fast)
    assert builders.ParallelTasks is expected
    assert builders.make_chunks is (even_shares if fast else make_chunks)
    assert (builders.Builder._read_parallel is READ_FEW) is fast
