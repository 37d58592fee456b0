"""The messages of equations: the cases of messages.txt, and every place in the source that can make a message.

A case is a few lines, `key value`: what an author writes (latex or plain, names, check, using, where, grad, rtol,
point, base, macro, row, work, index, score, stack), then what is said, and the caret under the token.
`python equation_messages.py` writes what is said anew; read the difference like code.
"""

import ast
import functools
import inspect
import re
import sys
from pathlib import Path

import numpy as np

from scratchbook.core.equation import errors, vocabulary
from scratchbook.core.equation.branch import agree_with_code, read_index
from scratchbook.core.equation.checker import check
from scratchbook.core.equation.equation import parse_equation, parse_plain
from scratchbook.core.equation.errors import EquationError
from scratchbook.core.equation.inputs import read_inputs
from scratchbook.core.equation.notation import read_notation
from scratchbook.core.equation.options import Request
from scratchbook.core.equation.score import score
from scratchbook.core.equation.worked import work

FILE = Path(__file__).with_name("messages.txt")
ROOM = Path(vocabulary.__file__).parent
NOTATION = r"""
a, b, c: scalar
x, z: vector(d)
u: vector(n)
A, B: matrix(n, n)
W: matrix(n, h)
P: tensor(n, n, d)
k, m: int(2..5)
"""
KEYS = {"check": "check", "grad": "grad", "using": "using", "where": "where", "rtol": "rtol", "point": "at"}
LONG = re.compile(r"%([A-Z]+)(\d+)%")
LONG_TEXTS = {
    "LONG": lambda n: "a" * n,
    "BRACES": lambda n: "{" * n + "a" + "}" * n,
    "PARENS": lambda n: "(" * n + "a" + ")" * n,
    "DIGITS": lambda n: "1" * n,
    "CALLS": lambda n: rf"f_{{{n}}}(q) = q" + "".join(rf" \quad f_{{{k}}}(q) = f_{{{k + 1}}}(q)" for k in range(1, n)),
}


# Code that the cases are checked against; most of it is wrong on purpose.


def double(x):
    return 2 * x


def bent(x):
    return 2 * x if abs(x) < 100 else x


def fails(x):
    raise RuntimeError("no luck")


def needs(nowhere):
    return nowhere


def nothing():
    return None


def empty(x):
    return None


def listing(x):
    return [x, x[:2]]


def deaf(x, b):
    return x


def deaf_backward(upstream, x, b):
    return upstream, 0 * b


def parted(x, z):
    return 2 * x * z


def parted_backward(upstream, x, z):
    return {"x": 2 * upstream * z}


def turn(x, m):
    return m * x


def rooted(weights):
    return 2 * weights["w"]


def rooted_backward(upstream, weights):
    return {"v": 2 * upstream}


def variant(name, backward):
    """A double with a backward of its own; its module finds it under its name, as that of a page does."""

    def function(x):
        return 2 * x

    function.__name__ = function.__qualname__ = name
    backward.__name__ = backward.__qualname__ = f"{name}_backward"
    return {name: function, f"{name}_backward": backward}


@functools.wraps(double)
def wrapped(x):
    return double(x)


class Instance:
    """A thing that can be called."""

    def __call__(self, x):
        return 2 * x


def restless(a, seen=[]):  # noqa: B006
    seen.append(a)
    return a + len(seen) / 1e11


def make_local():
    def local(x):
        return 2 * x

    return local


def fail(up, x):
    raise RuntimeError("no luck")


CODE = {
    "np": np,
    "anonymous": lambda x: x,
    "local": make_local(),
    "partial": functools.partial(double),
    "instance": Instance(),
    "ufunc": np.exp,
    "dict_type": dict,
    **{function.__name__: function for function in (double, bent, fails, needs, nothing, empty, listing, turn, rooted)},
    **{function.__name__: function for function in (rooted_backward, deaf, deaf_backward, parted, parted_backward)},
    "wrapped": wrapped,
    "restless": restless,
    **variant("bad_double", fail),
    **variant("many_double", lambda up, x: (up, up)),
    **variant("needy_double", lambda up, x, other: up),
    **variant("none_double", lambda up, x: None),
    **variant("wide_double", lambda up, x: np.ones(99)),
    **variant("wrong_double", lambda up, x: 3 * up),
}


def read_cases():
    """Every case of the file, as a dict of its lines."""
    return list(cases_of(FILE.read_text(encoding="utf-8")))


def cases_of(text):
    """Yield the cases of a text; a line that begins with # is a heading."""
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith("#")]
        case = {}
        for line in lines:
            key, value = line[:7].strip(), line[7:]
            case[key] = f"{case[key]}\n{value}" if key in case else value
        if case:
            yield case


def name_of(case):
    """A case in a few characters."""
    return next(iter(case.values()))[:40].strip()


def spelled_out(text):
    """A text with what is too long to be written in a file."""
    return LONG.sub(lambda match: LONG_TEXTS[match[1]](int(match[2])), text)


def what_is_said(case):
    """The message and its caret; "" for none."""
    given = {key: spelled_out(text) for key, text in case.items()}
    before = sys.getrecursionlimit()
    if "stack" in given:
        sys.setrecursionlimit(len(inspect.stack(0)) + int(given["stack"]))
    try:
        with np.errstate(all="ignore"):
            verdict = verdict_on(given)
    except EquationError as error:
        return error.text, error.caret
    finally:
        sys.setrecursionlimit(before)
    return verdict.reason, verdict.caret


def verdict_on(case):
    """Read, check or work a case.  Raises EquationError."""
    macros = read_macros(case.get("macro", ""))
    notation = read_notation(case.get("names", NOTATION), macros)
    if "plain" in case:
        equation = parse_plain(case["plain"], notation)
    else:
        equation = parse_equation(case.get("latex", "y = 2x"), notation, macros)
    if "row" in case:
        equation.row(int(case["row"]))
    options = {option: case[key] for key, option in KEYS.items() if key in case}
    defined = re.search(r"\by(_?)\S* (?:=|\\approx)", equation.source)
    options.setdefault("check", "" if defined is None else "y == x" if defined[1] else "y == 1.0")
    request = Request(label="eq", base=case.get("base", ""), **options)
    if "work" in case:
        values = read_inputs(case["work"])
        work(equation, values, {}, only=read_index(case.get("index", "")))
        agree_with_code(equation, request, CODE, macros, values)
    if "score" in case:
        score(equation, request, CODE, macros)
    return check(equation, request, CODE, macros, suggests=False)


def read_macros(text):
    """Macros, one a line: name = body, or name/1 = body for one with an argument."""
    found = {"R": r"\mathbb{R}"}
    for line in filter(None, text.split("\n")):
        name, _, body = line.partition(" = ")
        name, _, count = name.partition("/")
        found[name] = [body, int(count)] if count else body
    return found


# The source


MAKERS = {"fault": 0, "EquationError": 0, "Result": 2}
GAP = "\0"


def sites():
    """Yield (module, first line, last line, templates) of every place that makes a message; a value is a gap."""
    for path in sorted(ROOM.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        returned = {node.name: returns_of(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.name != "fault":
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and (message := argument_of(call)) is not None:
                        texts = spelled(message, assigned(function, call.lineno), returned)
                        yield path.stem, call.lineno, call.end_lineno, sorted(set(texts))


def argument_of(call):
    """What makes the message of a call; None when it makes none."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    place = MAKERS.get(name)
    return call.args[place] if place is not None and len(call.args) > place else None


def returns_of(function):
    """What a function returns, and what its names are."""
    return [
        (node.value, assigned(function, node.lineno))
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]


def assigned(function, line):
    """The last value of each local name before a line."""
    found = [
        (node.lineno, node.targets[0].id, node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.lineno < line
    ]
    return {name: value for _, name, value in sorted(found, key=lambda item: item[0])}


def spelled(node, names, returned):
    """The texts that an expression can be: constants as they are, values as gaps."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(spelled_part(part, names) for part in node.values)]
    if isinstance(node, ast.IfExp):
        return spelled(node.body, names, returned) + spelled(node.orelse, names, returned)
    if isinstance(node, ast.Name) and node.id in names:
        return spelled(names[node.id], {}, returned)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in returned:
        found = [spelled(value, own, {}) for value, own in returned[node.func.id]]
        return [text for texts in found for text in texts if text]
    return [GAP]


def spelled_part(part, names):
    """A part of an f-string; a local text is written out."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    value = names.get(part.value.id) if isinstance(part.value, ast.Name) else None
    return spelled(value, {}, {})[0] if isinstance(value, ast.Constant | ast.JoinedStr) else GAP


def matches(template, text):
    """Is a message made of a template?"""
    return re.fullmatch(".*".join(re.escape(part) for part in template.split(GAP)), text, re.DOTALL) is not None


class Witness:
    """Notes where each message is made, while it is made."""

    def __init__(self):
        self.seen = set()

    def __call__(self, text):
        """Note the innermost place of the room that makes this message."""
        frame = sys._getframe(1)
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.parent == ROOM and path.stem != "errors" and frame.f_code.co_name != "fault":
                self.seen.add((path.stem, frame.f_lineno, text))
                return
            frame = frame.f_back


def witnessed(cases):
    """Run cases, and return (module, line, message) of every message that was made on the way."""
    from scratchbook.core.equation import comparison

    witness = Witness()
    keep_error, keep_result = errors.EquationError.__post_init__, comparison.Result.__init__

    def note_error(self):
        keep_error(self)
        witness(self.text)

    def note_result(self, *values, **named):
        keep_result(self, *values, **named)
        if self.reason:
            witness(self.reason)

    errors.EquationError.__post_init__, comparison.Result.__init__ = note_error, note_result
    try:
        for case in cases:
            what_is_said(case)
    finally:
        errors.EquationError.__post_init__, comparison.Result.__init__ = keep_error, keep_result
    return witness.seen


def write_anew():
    """Write what is said, and where, below every case."""
    blocks = []
    for block in FILE.read_text(encoding="utf-8").rstrip().split("\n\n"):
        kept = [line for line in block.split("\n") if line[:6].strip() not in ("says", "caret")]
        case = next(cases_of("\n".join(kept)), None)
        if case:
            text, caret = what_is_said(case)
            kept.append(f"says   {text}")
            if "%" not in "".join(case.values()):
                kept += [f"caret  {line}" for line in caret.split("\n") if line]
        blocks.append("\n".join(kept))
    FILE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    # Under its own name, as a test has it: messages name the module of a function.
    import equation_messages

    equation_messages.write_anew()
