"""Draw TeX as HTML or MathML with KaTeX, in a process of its own.  TeX in, markup out; knows no page.

KaTeX draws all that the book writes, alike in every browser, and its markup needs no script.  It is JavaScript, so an
engine must run it: mini-racer (V8) is a wheel without dependencies and takes 1 to 2 ms a formula, where quickjs-ng
takes ten times as long and Node would have to be installed by hand.  sphinxcontrib-katex is not used, since its
prerendering ignores macros and its server is not ready when the first formula comes.

V8 starts threads, which a fork loses: a builder that forks its writers would hang.  So V8 lives in a child process
that each writer starts when it meets a formula that nobody has drawn yet, and that ends when its standard input does.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Literal, NoReturn

from scratchbook.core.errors import ScratchbookError
from scratchbook.core.kept import Kept, key_of

Macros = Mapping[str, "str | Sequence[str | int]"]

MOST_SECONDS: Final = 5.0  # for one formula; the slowest of the book takes a hundredth of it

# `trust` is asked about commands that could carry a link, a script or a picture: all are refused aloud.
# `strict` lets pass what LaTeX accepts too, and refuses what only KaTeX does.
DRAW: Final = """
function draw(tex, display, output, macros) {
  let refused = null;
  const passes = {unicodeTextInMathMode: 1, newLineInDisplayMode: 1};
  try {
    const markup = katex.renderToString(tex, {
      displayMode: display, output: output, macros: JSON.parse(macros), throwOnError: true, maxSize: 50,
      trust: (context) => { refused = context.command; return false; },
      strict: (code) => passes[code] ? "ignore" : "error",
    });
    return JSON.stringify(refused ? {error: refused + " is refused, since a page must be safe to open"}
                                  : {markup: markup});
  } catch (error) {
    if (!(error instanceof katex.ParseError)) throw error;
    const fact = (error.rawMessage || error.message).replace(/^LaTeX-incompatible.*?: | \\[\\w+\\]$/g, "");
    return JSON.stringify({error: fact, position: error.position ?? -1});
  }
}
"""


@dataclass(frozen=True)
class Formula:
    """One piece of TeX to draw.

    form: "htmlAndMathml" for a page, "mathml" alone for a book reader.   macros: (name with backslash, body).
    """

    tex: str
    display: bool = False
    form: Literal["htmlAndMathml", "mathml"] = "htmlAndMathml"
    macros: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Drawing:
    """What KaTeX made of it: markup, or an error with the 0-based character where it saw it, -1 for none."""

    markup: str = ""
    error: str = ""
    position: int = -1


def katex_macros(macros: Macros) -> tuple[tuple[str, str], ...]:
    """Turn the macros of conf.py into KaTeX's form, which counts arguments by itself.

    macros: name -> body, or [body, number of arguments].   Raises ScratchbookError for a default argument.
    """
    return tuple(sorted(("\\" + name, body) for name, body, _ in read_macros(macros)))


def latex_macros(macros: Macros) -> str:
    """Turn the macros of conf.py into LaTeX definitions, which win over those of any package."""
    lines = []
    for name, body, count in read_macros(macros):
        arguments = f"[{count}]" if count else ""
        lines.append(f"\\providecommand{{\\{name}}}{{}}\\renewcommand{{\\{name}}}{arguments}{{{body}}}")
    return "\n".join(lines)


def read_macros(macros: Macros) -> list[tuple[str, str, int]]:
    """Return (name, body, number of arguments) of each macro.  Raises ScratchbookError for what cannot be one."""
    found = []
    for name, definition in macros.items():
        body, *rest = list(definition) if isinstance(definition, list | tuple) and definition else [definition]
        if not name.isascii() or not name.isalpha():
            raise ScratchbookError(f"the macro '{name}' must be named with letters alone", kind="setting")
        if not isinstance(body, str) or len(rest) > 1 or not all(isinstance(count, int) for count in rest):
            text = f"the macro '{name}' is {definition!r}: write its body, or [body, number of arguments]"
            raise ScratchbookError(text, kind="setting")
        found.append((name, body, int(str(rest[0])) if rest else 0))
    return found


@dataclass
class Typesetter:
    """Draw formulas, each once: from memory, from what earlier builds kept, or by KaTeX.

    engine: the file of KaTeX.   kept: for the next build, or None to keep drawings in memory only.
    """

    engine: Path
    kept: Kept | None = None
    _drawn: dict[Formula, Drawing] = field(default_factory=dict)
    _child: tuple[int, subprocess.Popen[bytes]] | None = None
    _engine_digest: str = ""

    def draw(self, formula: Formula) -> Drawing:
        """Return the drawing of a formula; an error in its TeX is part of the answer."""
        if formula not in self._drawn:
            self._drawn[formula] = self._load(formula) or self._keep(formula, self._ask(formula))
        return self._drawn[formula]

    def close(self) -> None:
        """End the child of this process, if it has one, and leave what is kept alone."""
        if self.kept:
            self.kept.close()
        if self._child and self._child[0] == os.getpid():
            _, process = self._child
            stream(process.stdin).close()
            process.wait()
            stream(process.stdout).close()
        self._child = None

    def _ask(self, formula: Formula) -> Drawing:
        process = self._process()
        request = [formula.tex, formula.display, formula.form, json.dumps(dict(formula.macros))]
        stream(process.stdin).write(json.dumps(request).encode() + b"\n")
        stream(process.stdin).flush()
        answer = stream(process.stdout).readline()
        if not answer:
            self._child = None
            raise RuntimeError(f"KaTeX ended with status {process.wait()} while it drew {formula.tex!r}")
        return Drawing(**json.loads(answer))

    def _process(self) -> subprocess.Popen[bytes]:
        """Return the child of this process: one that a parent started before a fork is not ours to talk to."""
        if self._child is None or self._child[0] != os.getpid():
            self._child = os.getpid(), start(self.engine)
        return self._child[1]

    def _key(self, formula: Formula) -> str:
        if not self._engine_digest:
            self._engine_digest = hashlib.sha256(self.engine.read_bytes() + DRAW.encode()).hexdigest()
        return key_of("formula", self._engine_digest, *astuple(formula))

    def _load(self, formula: Formula) -> Drawing | None:
        """Return the drawing that an earlier build kept."""
        markup = self.kept.get(self._key(formula)) if self.kept else None
        return Drawing(markup.decode()) if markup is not None else None

    def _keep(self, formula: Formula, drawing: Drawing) -> Drawing:
        """Keep a drawing; a mistake is found again by every build, so that it is told again."""
        if self.kept and not drawing.error:
            self.kept.put(self._key(formula), drawing.markup.encode())
        return drawing


def start(engine: Path) -> subprocess.Popen[bytes]:
    """Start a child that draws: with this package, and no file of the working folder that is called as a module is."""
    command = [sys.executable, "-P", "-m", "scratchbook.core.katex", str(engine)]
    folders = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def stream(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that is known to be open."""
    assert pipe is not None
    return pipe


def serve(engine_file: Path, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests, one JSON line each, until there are no more."""
    from py_mini_racer import JSEvalException, MiniRacer

    engine = MiniRacer()
    engine.eval(engine_file.read_text("utf-8"))
    engine.eval(DRAW)
    for line in requests:
        try:
            answer: Any = engine.call("draw", *json.loads(line), timeout_sec=MOST_SECONDS)
        except JSEvalException as error:
            answer = json.dumps({"error": f"KaTeX cannot draw it: {str(error).splitlines()[0]}"})
        answers.write(str(answer).encode() + b"\n")
        answers.flush()


def main() -> NoReturn:
    """Serve a build until it ends, however it ends, and end with it: V8 would keep a normal exit waiting for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the build, whose end is ours
    status = 1
    try:
        serve(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
        status = 0
    except BrokenPipeError:
        pass  # nobody waits for the answer
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
