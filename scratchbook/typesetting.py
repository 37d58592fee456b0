"""Make a PDF of the LaTeX that Sphinx wrote: say what is missing before, and what a reader would miss after.

`python -m scratchbook.typesetting FOLDER TARGET` typesets FOLDER/*.tex and puts the PDF into TARGET; without arguments
it only says which packages are missing.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

# What TeX and latexmk note for their next run.
NOTES: Final = (".aux", ".toc", ".out", ".idx", ".ind", ".xdv", ".fls", ".fdb_latexmk")
# What must be there, by the Debian package that brings it: a command, a file of TeX, or a font that the book names.
COMMANDS: Final = {
    "xelatex": "texlive-xetex",
    "latexmk": "latexmk",
    "rsvg-convert": "librsvg2-bin",
    "fc-list": "fontconfig",
}
TEX_FILES: Final = {
    "tcolorbox.sty": "texlive-latex-extra",
    "unicode-math.sty": "texlive-latex-recommended",
    "pzdr.tfm": "texlive-fonts-recommended",
}
FONTS: Final = {
    "TeX Gyre Pagella": "fonts-texgyre",
    "TeX Gyre Pagella Math": "fonts-texgyre-math",
    "DejaVu Sans Mono": "fonts-dejavu-core",
    "FreeSerif": "fonts-freefont-otf",  # Sphinx's own, for a book that names none
}
# More than half of the margin: a reader would take the line, or the page, for cut off.
WIDEST_POINTS: Final = 36.0
LOSSES: Final = (
    re.compile(r"Missing character: There is no (\S+) .*? in font ([^:/!\n]+)"),
    re.compile(r"Reference `([^']+)' .*?undefined"),
    re.compile(r"Hyper reference `([^']+)' .*?undefined"),
    re.compile(r"File `([^']+)' not found"),
)
NAMES: Final = ("no character", "reference to nothing:", "link to nothing:", "no file")
OVERFULL: Final = re.compile(r"Overfull \\hbox \(([\d.]+)pt too wide\) (.*)")
OVERHIGH: Final = re.compile(r"Overfull \\vbox \(([\d.]+)pt too high\) has occurred while [^\[]*\[\][^\[]*\[(\d+)")


def find(command: list[str]) -> str:
    """Return what a command says, "" when it is not there."""
    if not shutil.which(command[0]):
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout


def missing_packages(
    tex: str | None = None,
    which: Callable[[str], str | None] = shutil.which,
    say: Callable[[list[str]], str] = find,
) -> list[str]:
    """Return the Debian packages to install before a PDF can be made, none twice.

    tex: what is to be typeset, whose preamble names its fonts; without it every font is asked for that a book may name
    """
    missing = [package for command, package in COMMANDS.items() if not which(command)]
    missing += [package for file, package in TEX_FILES.items() if not say(["kpsewhich", file]).strip()]
    known = say(["fc-list", ":", "family"])
    asked = [font for font in FONTS if tex is None or f"{{{font}}}" in tex]
    missing += [FONTS[font] for font in asked if font not in known]
    return list(dict.fromkeys(missing))


def losses(log: str) -> Iterator[str]:
    """Yield what a reader of the PDF would miss, each once, from the log of the last run."""
    log = unwrap(log)
    found = [
        f"{name} {' in '.join(match.groups())}"
        for pattern, name in zip(LOSSES, NAMES, strict=True)
        for match in pattern.finditer(log)
    ]
    found += [
        f"a line is {float(points):.0f} points too wide {where}"
        for points, where in OVERFULL.findall(log)
        if float(points) > WIDEST_POINTS
    ]
    found += [
        f"page {page} is {float(points):.0f} points too high"
        for points, page in OVERHIGH.findall(log)
        if float(points) > WIDEST_POINTS
    ]
    yield from dict.fromkeys(found)


def unwrap(log: str) -> str:
    """Join the lines that TeX broke at 79 characters."""
    lines = log.split("\n")
    return "".join(line if len(line) == 79 else f"{line}\n" for line in lines)


def typeset(folder: Path) -> tuple[Path, str]:
    """Run XeLaTeX as often as it takes, and return the PDF and the log.  Raises RuntimeError with TeX's own words."""
    sources = list(folder.glob("*.tex"))
    if len(sources) != 1:
        raise RuntimeError(f"{folder} has {len(sources)} files of TeX, not one: build it anew with the builder latex")
    source = sources[0]
    command = ["latexmk", "-xelatex", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error", source.name]
    finished = False
    try:
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        finished = not made.returncode
    finally:
        if not finished:  # half a file of numbers would break the next run, and latexmk repeats no run that failed
            for ending in NOTES:
                source.with_suffix(ending).unlink(missing_ok=True)
    log = source.with_suffix(".log")
    text = log.read_text("utf-8", errors="replace") if log.is_file() else made.stdout
    if made.returncode:
        first = re.search(r"^(?:!|\S+\.tex:\d+:).*(?:\n.*){0,3}", text, re.MULTILINE)
        raise RuntimeError(first[0] if first else made.stdout[-2000:])
    return source.with_suffix(".pdf"), text


def main(folder: str = "", target: str = ".") -> int:
    """Make the PDF and tell of losses; 0 when nothing is missing or lost."""
    sources = Path(folder).glob("*.tex") if folder else ()
    missing = missing_packages("".join(file.read_text("utf-8") for file in sources) if folder else None)
    if missing:
        print("the PDF needs Debian packages that are not installed:")
        print(f"    apt-get install --no-install-recommends {' '.join(missing)}")
        return 2
    if not folder:
        return 0
    try:
        pdf, log = typeset(Path(folder))
    except RuntimeError as error:
        print(error)
        return 1
    Path(target).mkdir(parents=True, exist_ok=True)
    shutil.copy(pdf, target)
    lost = list(losses(log))
    for text in lost:
        print(f"{pdf.name}: WARNING: {text}")
    print(f"{Path(target) / pdf.name}: {len(lost) or 'nothing'} lost")
    return int(bool(lost))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m scratchbook.typesetting",
        description="Typeset what the builder latex wrote, and tell what a reader would miss in the PDF.",
    )
    parser.add_argument(
        "folder", nargs="?", default="", metavar="FOLDER", help="of the .tex; none: say only which packages are missing"
    )
    parser.add_argument("target", nargs="?", default=".", metavar="TARGET", help="where to put the PDF (default: here)")
    return parser


if __name__ == "__main__":
    sys.exit(main(**vars(make_parser().parse_args())))
