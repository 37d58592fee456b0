"""What `make bench` writes for the guide can be read: no column without a number, no scale without a bar."""

import re
from types import SimpleNamespace

from bench.report import plot, table


def record(system, scenario, cpu):
    cost = SimpleNamespace(cpu=cpu, wall=cpu, memory=0)
    return SimpleNamespace(
        system=system, scenario=scenario, round=0, size="1x1", cost=cost, verdict=SimpleNamespace(right=1, wrong=0)
    )


def test_a_column_that_nothing_was_measured_for_is_left_out():
    found = table([record("raw", "cold", 1.0), record("floor", "cold", 1.0), record("ours", "cold", 2.5)])

    assert "MB" not in found
    assert found.splitlines()[-1] == "| ours | cold | 1.25 | 1.25 | 1.25 | 2.50 | 2.50 | 0 of 1 |"


def test_a_plot_is_as_wide_as_its_bars():
    lines = re.findall(r'text-anchor="middle">([^<]+)<', plot([("ours", "cold", 0.6), ("floor", "cold", 3.0)]))

    assert lines == ["0.5", "1", "2", "4"]
