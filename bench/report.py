"""Make a table and a plot of what was measured.  Measures nothing."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import date
from math import ceil, floor, log2
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.run import Record

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide"


def ratios(records: list[Record], system: str, scenario: str, kind: str) -> list[float]:
    """Return, round by round, what a system took over the limit of that round.  kind: "cpu" or "wall"."""
    found = {(it.round, it.system, it.scenario): getattr(it.cost, kind) for it in records}
    rounds = sorted({it.round for it in records if it.system == system and it.scenario == scenario})
    run = {number: 0.0 if scenario == "no change" else found[number, "raw", "cold"] for number in rounds}
    return [found[number, system, scenario] / (found[number, "floor", scenario] + run[number]) for number in rounds]


def rows(records: list[Record]) -> Iterable[list[str]]:
    """Yield a row for each system and scenario."""
    for system in dict.fromkeys(it.system for it in records if it.system != "raw"):
        for scenario in dict.fromkeys(it.scenario for it in records if it.system == system):
            runs = [it for it in records if it.system == system and it.scenario == scenario]
            cpu, wall = (ratios(records, system, scenario, kind) for kind in ("cpu", "wall"))
            total = sum(vars(runs[0].verdict).values())
            memory = max(it.cost.memory for it in runs)
            yield [
                system,
                scenario,
                f"{median(cpu):.2f}",
                f"{min(cpu):.2f}",
                f"{median(wall):.2f}",
                f"{median(it.cost.cpu for it in runs):.2f}",
                f"{median(it.cost.wall for it in runs):.2f}",
                f"{memory:.0f}" if memory else "",
                f"{max(it.verdict.wrong for it in runs)} of {total}",
            ]


HEADER = ["system", "scenario", "CPU ratio", "least", "wall ratio", "CPU s", "wall s", "MB", "wrong"]


def table(records: list[Record]) -> str:
    """Return the rows as a table in Markdown, without columns that nothing was measured for."""
    found = list(rows(records))
    columns = [number for number, cells in enumerate(zip(*found, strict=True)) if any(cells)]
    lines = [HEADER, ["---", "---", *["--:"] * (len(HEADER) - 2)], *found]
    return "\n".join(f"| {' | '.join(line[column] for column in columns)} |" for line in lines)


def print_table(records: list[Record]) -> None:
    """Print the rows, set in columns."""
    lines = [HEADER, *rows(records)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    for line in lines:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)))


def write_report(records: list[Record]) -> None:
    """Write what the guide shows: a table for each size, and a plot of the first."""
    sizes = list(dict.fromkeys(it.size for it in records))
    rounds = 1 + max(it.round for it in records)
    system = f"Python {platform.python_version()}, {platform.system()}, {date.today().isoformat()}"
    noise = "The seconds by the clock depend on what else the machine did; the ratios of processor time hardly do."
    parts = [f"Measured on {system}; {rounds} rounds, medians.\n{noise}"]
    for size in sizes:
        pages, blocks = size.split("x")
        parts += [f"**{pages} pages of {blocks} blocks**", table([it for it in records if it.size == size])]
    (GUIDE / "speed-table.txt").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (GUIDE / "speed.svg").write_text(plot(bars_of([it for it in records if it.size == sizes[-1]])), encoding="utf-8")


def bars_of(records: list[Record]) -> list[tuple[str, str, float]]:
    """Return a bar for each system and scenario: its ratio of processor time."""
    return [
        (system, scenario, median(ratios(records, system, scenario, "cpu")))
        for scenario in dict.fromkeys(it.scenario for it in records)
        for system in dict.fromkeys(it.system for it in records if it.system != "raw")
    ]


def plot(bars: list[tuple[str, str, float]]) -> str:
    """Draw each bar from the limit to its ratio, on a scale that doubles at each line and is as wide as it must be."""
    height, left, width, head = 22, 170, 480, 26
    powers = [log2(ratio) for *_, ratio in bars]
    low, high = min(floor(min(powers)), -1), max(ceil(max(powers)), 1)

    def x(power: float) -> float:
        return left + (power - low) * width / (high - low)

    body, y, shown = [], head, ""
    for system, scenario, ratio in bars:
        if scenario != shown:
            y, shown = y + height, scenario
            body.append(f'<text x="4" y="{y}" font-weight="bold">{scenario}</text>')
            y += 6
        start, end = sorted((x(0), x(log2(ratio))))
        colour = "#0b7285" if system == "ours" else "#868e96"
        body.append(f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">{system}</text>')
        size = f'width="{max(end - start, 1):.1f}" height="15"'
        body.append(f'<rect x="{start:.1f}" y="{y + 3}" {size} fill="{colour}"/>')
        body.append(f'<text x="{end + 6:.1f}" y="{y + 15}">{ratio:.2f}</text>')
        y += height
    lines = [
        f'<line x1="{x(power):.1f}" x2="{x(power):.1f}" y1="{head}" y2="{y + 4}" stroke="#868e9680"/>'
        f'<text x="{x(power):.1f}" y="{head - 8}" text-anchor="middle">{2.0**power:g}</text>'
        for power in range(low, high + 1)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {y + 10}" '
        'font-family="sans-serif" font-size="14" fill="currentColor">'
        "<title>Processor time of each system over a static build plus one run of the code</title>"
        f"{''.join(lines)}{''.join(body)}</svg>\n"
    )
