"""Find the regions that a page asks for, and say all that is wrong.  Text in, regions out; opens nothing.

`select` is Asciidoctor's selection, quiet where Asciidoctor is quiet.  `diagnose` is our messages.  `show` is what a
page uses: the lines that its reader sees, none where they would mislead, with the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from scratchbook.core.errors import Mistake, Place
from scratchbook.core.lint import Fault, find_faults
from scratchbook.core.near import near_names
from scratchbook.core.selection import Notice, Region, Selection, find_tag_lines, indent_lines, select, split_lines

__all__ = ["Notice", "Region", "Selection", "diagnose", "region_names", "select", "show"]

NAMES_AT_A_GLANCE: Final = 7  # with more, the nearest ones are said first
LINE_RANGE: Final = re.compile(r"(\d+)(?:\s*(\.\.)\s*(-?\d+)?)?")


def region_names(text: str, path: str) -> tuple[str, ...]:
    """Return the names of all regions of a file, each once, in the order of their first markers."""
    return _names(text, find_faults(text, path))


def diagnose(text: str, path: str, selection: Selection | None) -> tuple[Mistake, ...]:
    """Say all that is wrong with a file's markers and, unless it is None, with what a page asks of the file.

    A mistake without a place is about the page's own line; the others stand in the file, whoever asks.
    """
    if selection is None:
        return tuple(fault.mistake for fault in find_faults(text, path))
    return show(text, path, selection)[1]


def show(text: str, path: str, selection: Selection) -> tuple[Region, tuple[Mistake, ...]]:
    """Return the lines that a page shows, never a marker line, and all that is wrong.

    Without a filter and with `lines` the marker lines are taken out here, where Asciidoctor leaves them; the others
    keep the numbers that they have in the file.  A torn region or a mistaken request shows nothing, never the whole
    file instead.
    """
    faults = find_faults(text, path)
    region = select(text, path, selection)
    if not selection.names:
        region = _without_markers(text, region, selection, faults)
    names = _names(text, faults)
    requests = tuple(_request_mistakes(text, path, selection, region, faults, names))
    is_torn = bool(region.warnings) or any(_touches(fault, selection) for fault in faults)
    if not (requests or is_torn or region.text.strip()):
        requests = (_nothing(selection, path, names),)
    if requests or is_torn:
        region = Region(warnings=region.warnings)
    return region, (*requests, *(fault.mistake for fault in faults))


def _names(text: str, faults: tuple[Fault, ...]) -> tuple[str, ...]:
    swallowing = {fault.line for fault in faults if fault.takes_code}
    marks = find_tag_lines(split_lines(text))
    return tuple(dict.fromkeys(mark.name for mark in marks if mark.word == "tag" and mark.line not in swallowing))


def _touches(fault: Fault, selection: Selection) -> bool:
    """Say whether a fault of the file makes a selection by names wrong."""
    names = selection.names
    return bool(names) and fault.name is not None and ("*" in names or "**" in names or fault.name in names)


def _without_markers(text: str, region: Region, selection: Selection, faults: tuple[Fault, ...]) -> Region:
    """Take the marker lines out, but not those that hold code as well."""
    lines = split_lines(text)
    markers = {mark.line for mark in find_tag_lines(lines)} - {fault.line for fault in faults if fault.takes_code}
    numbers = tuple(number for number in region.numbers if number not in markers)
    kept = indent_lines([lines[number - 1] for number in numbers], selection.indent, selection.tabsize)
    return replace(region, lines=tuple(kept), numbers=numbers)


def _request_mistakes(
    text: str, path: str, selection: Selection, region: Region, faults: tuple[Fault, ...], names: tuple[str, ...]
) -> Iterator[Mistake]:
    """Find what is wrong with what the page asks for."""
    given = [name for name in ("lines", "tag", "tags") if getattr(selection, name) is not None]
    if len(given) > 1:
        yield Mistake("region", f"give {' or '.join(given)}, not both: {given[0]} alone would count")
    elif selection.lines is not None:
        yield from _line_mistakes(selection.lines, path, len(split_lines(text)))
    elif given:
        yield from _name_mistakes(selection, path, names, {fault.name for fault in faults})
        yield from _idle_names(text, path, selection, region)
    yield from _indent_mistakes(text, path, selection, region)


def _line_mistakes(ranges: str, path: str, count: int) -> Iterator[Mistake]:
    """Find the first range of lines that is none, runs backward or leaves the file."""
    items = [item.strip() for item in re.split("[,;]", ranges) if item.strip()]
    if not items:
        yield Mistake("region", f"lines '{ranges}' names no line of {path}; write lines such as 2, 2..4 or 2..")
    for item in items:
        match = LINE_RANGE.fullmatch(item)
        if match is None or int(match[1]) == 0:
            yield Mistake("region", f"lines '{item}' is no line or range counted from 1; write 2, 2..4 or 2..")
            return
        start, stop = int(match[1]), int(match[3] or (match[1] if match[2] is None else -1))
        if 0 <= stop < start:
            yield Mistake("region", f"lines '{item}' runs backward; write {stop}..{start}")
            return
        if max(start, stop) > count:
            lines = "line" if count == 1 else "lines"
            yield Mistake("region", f"lines '{item}' leaves {path}, which has {count} {lines}")
            return


def _name_mistakes(
    selection: Selection, path: str, names: tuple[str, ...], hidden: set[str | None]
) -> Iterator[Mistake]:
    """Find names that are mistyped: not there, with blanks, twice with both signs, or none at all.

    hidden: names of regions whose own markers are mistaken, which is said there.
    """
    option = "tag" if selection.tag is not None else "tags"
    wanted = selection.names
    items = (selection.tags or "").replace(",", ";").split(";") if option == "tags" else []
    if not wanted:
        yield Mistake("region", f"{selection.request} names no region of {path}; {_choice(names)}")
    unknown = [name for name in wanted if name not in (*names, "*", "**") and name not in hidden]
    blank = [name for name in unknown if name != "".join(name.split())]
    for name in blank:
        tidy = " ".join(name.split())
        choice = "separate names with ';' in tags" if " " in tidy else f"write '{tidy}'"
        where = "a blank inside" if " " in tidy else "blanks round it"
        yield Mistake("region", f"name '{name}' in {option} has {where}; {choice}")
    for sign, purpose in ((True, ""), (False, " to leave out")):
        missing = [name for name in unknown if name not in blank and wanted[name] is sign]
        if missing:
            yield _missing(missing, purpose, option, path, names)
    for name in wanted:
        if name in items and f"!{name}" in items:
            yield Mistake("region", f"'{name}' and '!{name}' both stand in tags, and only the last counts; drop one")


def _missing(missing: list[str], purpose: str, option: str, path: str, names: tuple[str, ...]) -> Mistake:
    """Make the message for names that no region has, with the nearest ones if there are many."""
    plural = "s" if len(missing) > 1 else ""
    quoted = ", ".join(f"'{name}'" for name in missing)
    near = dict.fromkeys(close for name in missing for close in near_names(name, names))
    nearest = f"nearest {', '.join(near)}; " if near and len(names) > NAMES_AT_A_GLANCE else ""
    splits = (
        "tag takes one name, tags several" if option == "tag" else "tags splits at ',' if it holds one, else at ';'"
    )
    hint = f"; {splits}" if any(re.search("[,;]", name) for name in missing) else ""
    return Mistake("region", f"no region{plural} {quoted}{purpose} in {path}; {nearest}{_choice(names)}{hint}")


def _idle_names(text: str, path: str, selection: Selection, region: Region) -> Iterator[Mistake]:
    """Find a name beside a wildcard that changes nothing, which its author did not mean."""
    wanted = selection.names
    wildcard = next((name for name in ("**", "*") if name in wanted), None)
    if wildcard is None or region.warnings:
        return
    for name, sign in wanted.items():
        rest = ";".join(("" if keep else "!") + other for other, keep in wanted.items() if other != name)
        if sign and name not in ("*", "**") and select(text, path, Selection(tags=rest)).numbers == region.numbers:
            yield Mistake("region", f"'{name}' beside '{wildcard}' changes nothing in {path}; drop one of them")


def _indent_mistakes(text: str, path: str, selection: Selection, region: Region) -> Iterator[Mistake]:
    """Find lines whose common indent is a TAB in one and blanks in another, so that none can be taken off."""
    if selection.indent is None or selection.indent < 0 or selection.tabsize:
        return
    lines = split_lines(text)
    shown = [(number, lines[number - 1]) for number in region.numbers if lines[number - 1].strip()]
    common = min((len(line) - len(line.lstrip()) for _, line in shown), default=0)
    for number, line in shown:
        if line[:common] != shown[0][1][:common]:
            first = "a TAB" if "\t" in shown[0][1][:common] else "blanks"
            fact = f"this line and line {shown[0][0]} are indented differently, there with {first}"
            yield Mistake("region", f"{fact}; set tabsize or use only blanks", Place(path, number))
            return


def _nothing(selection: Selection, path: str, names: tuple[str, ...]) -> Mistake:
    """Make the message for a selection that holds at most blank lines."""
    if not selection.request:
        return Mistake("region", f"{path} has no line to show")
    return Mistake("region", f"{selection.request} selects no line to show of {path}; {_choice(names)}")


def _choice(names: tuple[str, ...]) -> str:
    return f"it has {', '.join(names)}" if names else "it has no region"
