"""Make a table and a plot of what was measured.  Measures nothing."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import date
from math import log2
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
    """Return the rows as a table in Markdown."""
    lines = [HEADER, ["---", "---", *["--:"] * (len(HEADER) - 2)], *rows(records)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
    (GUIDE / "speed.svg").write_text(plot([it for it in records if it.size == sizes[-1]]), encoding="utf-8")


def plot(records: list[Record]) -> str:
    """Draw a bar for each system and scenario: its ratio of processor time, on a scale that doubles at each line."""
    bars = [
        (system, scenario, median(ratios(records, system, scenario, "cpu")))
        for scenario in dict.fromkeys(it.scenario for it in records)
        for system in dict.fromkeys(it.system for it in records if it.system != "raw")
    ]
    height, left, unit = 18, 210, 70.0
    body, y, shown = [], 30, ""
    for system, scenario, ratio in bars:
        if scenario != shown:
            y, shown = y + 14, scenario
            body.append(f'<text x="8" y="{y}" font-weight="bold">{scenario}</text>')
            y += 8
        start, end = sorted((left + 5 * unit, left + (5 + min(max(log2(ratio), -5), 5)) * unit))
        colour = "#0b7285" if system == "ours" else "#adb5bd"
        body.append(f'<text x="{left - 10}" y="{y + 12}" text-anchor="end">{system}</text>')
        size = f'width="{max(end - start, 1):.1f}" height="12"'
        body.append(f'<rect x="{start:.1f}" y="{y + 2}" {size} fill="{colour}"/>')
        body.append(f'<text x="{end + 5:.1f}" y="{y + 12}">{ratio:.2f}</text>')
        y += height
    lines = [
        f'<line x1="{left + (5 + step) * unit}" x2="{left + (5 + step) * unit}" y1="24" y2="{y}" stroke="#dee2e6"/>'
        f'<text x="{left + (5 + step) * unit}" y="18" text-anchor="middle">{2.0**step:g}</text>'
        for step in range(-5, 5)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + 10.5 * unit:.0f} {y + 10}" '
        'font-family="sans-serif" font-size="12" fill="currentColor">'
        "<title>Processor time of each system over a static build plus one run of the code</title>"
        f"{''.join(lines)}{''.join(body)}</svg>\n"
    )
