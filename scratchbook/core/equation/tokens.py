"""Cut LaTeX into tokens and expand the page's macros.  Knows characters, not mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from .errors import fault

MAX_MACRO_DEPTH: Final = 40
MAX_TOKENS: Final = 5_000
MAX_CHARACTERS: Final = 20_000

Macros = Mapping[str, "str | Sequence[str | int]"]

# One alternative a kind of token; none of them can backtrack.
LEXEME: Final = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>%[^\n]*)
      | (?P<newline>\\\\\*?)
      | (?P<command>\\(?:[A-Za-z]+\*?|.))
      | (?P<number>(?:\d|\{,\}(?=\d))+(?:\.\d+)?|\.\d+)
      | (?P<parameter>\#\d)
      | (?P<letter>[^\W\d_])
      | (?P<symbol>.)""",
    re.VERBOSE | re.DOTALL,
)

# Characters that an author may type instead of the command.
CHARACTERS: Final = {
    "−": "-", "·": r"\cdot", "×": r"\times", "⊙": r"\odot", "∘": r"\circ", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "≈": r"\approx", "←": r"\leftarrow", "∞": r"\infty", "√": r"\sqrt", "∑": r"\sum", "Σ": r"\sum", "∏": r"\prod",
    "∈": r"\in", "∂": r"\partial", "‖": r"\|", "∥": r"\|", "…": r"\ldots", "⋅": r"\cdot", "÷": r"\div", "ᵀ": "^⊤",
    "⊤": r"\top", "′": "'", "ℓ": r"\ell", "ℝ": r"\R", "ϵ": r"\epsilon", "Θ": r"\Theta", "Π": r"\prod",
}  # fmt: skip
GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΛΞΦΨΩ",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Lambda",
            "Xi",
            "Phi",
            "Psi",
            "Omega",
        ],
        strict=True,
    )
)


@dataclass(frozen=True)
class Token:
    """One token.

    kind: letter, number, command, word, symbol, newline, space, parameter (and, after spelling, name, ones, text).
    start, end: characters of the author's text; all tokens of a macro's body have the place of its call.
    """

    kind: str
    text: str
    start: int
    end: int
    gap: bool = False  # white space stood before it

    def __str__(self) -> str:
        return self.text


def read_tokens(source: str, macros: Macros | None = None) -> list[Token]:
    """Cut the text into tokens, with the macros of the page expanded.

    Raises EquationError for what is too long, a macro without its argument, and macros that never end.
    """
    if len(source) > MAX_CHARACTERS:
        raise fault(f"an equation of {len(source)} characters is over the limit of {MAX_CHARACTERS}; split it")
    tokens = [translate(token) for token in cut(source)]
    return expand(tokens, macros or {})


def cut(source: str) -> Iterator[Token]:
    """Yield the raw tokens of a text, without white space and comments."""
    gap = False
    for match in LEXEME.finditer(source):
        kind = match.lastgroup or "symbol"
        if kind in ("space", "comment"):
            gap = True
            continue
        text = match.group().replace("{,}", "")
        yield Token(kind, text, match.start(), match.end(), gap)
        gap = False


def translate(token: Token) -> Token:
    """Turn a typed character, such as × or β, into the command that it stands for."""
    if token.text in GREEK:
        return replace(token, kind="command", text="\\" + GREEK[token.text])
    text = CHARACTERS.get(token.text)
    if text is None:
        return token
    return replace(token, kind="command" if text.startswith("\\") else "symbol", text=text)


def expand(tokens: list[Token], macros: Macros) -> list[Token]:
    """Replace every call of a macro by its body, innermost last."""
    if not macros:
        return tokens
    if len(tokens) > MAX_TOKENS:
        raise fault(f"over {MAX_TOKENS} tokens; split the equation", tokens[MAX_TOKENS])
    stack = [(token, 0) for token in reversed(tokens)]
    result: list[Token] = []
    while stack:
        token, depth = stack.pop()
        name = token.text[1:]
        if token.kind != "command" or name not in macros:
            result.append(token)
            continue
        if depth >= MAX_MACRO_DEPTH:
            raise fault(f"macro {token.text} nests deeper than {MAX_MACRO_DEPTH}; does it call itself?", token)
        body, arguments = read_call(token, macros[name], stack)
        stack.extend((part, depth + 1) for part in reversed(fill(body, arguments, token)))
        if len(result) + len(stack) > MAX_TOKENS:
            raise fault(f"macro {token.text} expands to over {MAX_TOKENS} tokens", token)
    return result


def read_call(
    token: Token, definition: str | Sequence[str | int], stack: list[tuple[Token, int]]
) -> tuple[str, list[list[Token]]]:
    """Take the arguments of one macro call off the stack: its body, and the tokens of each argument."""
    if isinstance(definition, str):
        return definition, []
    body, count = str(definition[0]), int(definition[1]) if len(definition) > 1 else 0
    arguments = []
    if len(definition) > 2:  # a default makes the first argument an optional one
        arguments.append(optional_argument(str(definition[2]), stack))
    while len(arguments) < count:
        arguments.append(required_argument(token, stack))
    return body, arguments


def optional_argument(default: str, stack: list[tuple[Token, int]]) -> list[Token]:
    """Take a [bracketed] argument off the stack, or give the default."""
    if not stack or stack[-1][0].text != "[":
        return [translate(token) for token in cut(default)]
    stack.pop()
    taken = []
    while stack and stack[-1][0].text != "]":
        taken.append(stack.pop()[0])
    if stack:
        stack.pop()
    return taken


def required_argument(token: Token, stack: list[tuple[Token, int]]) -> list[Token]:
    """Take one token or one {group} off the stack, without the group's braces."""
    if not stack:
        raise fault(f"macro {token.text} lacks an argument; write {token.text}{{...}}", token)
    first = stack.pop()[0]
    if first.text != "{":
        return [first]
    taken: list[Token] = []
    depth = 1
    while stack:
        part = stack.pop()[0]
        depth += (part.text == "{") - (part.text == "}")
        if depth == 0:
            return taken
        taken.append(part)
    raise fault("this brace is never closed; add '}'", first)


def fill(body: str, arguments: list[list[Token]], call: Token) -> list[Token]:
    """The tokens of a macro's body with its arguments put in, all standing where the macro was called."""
    tokens: list[Token] = []
    for token in cut(body):
        if token.kind != "parameter":
            tokens.append(replace(translate(token), start=call.start, end=call.end))
            continue
        number = int(token.text[1:])
        if not 1 <= number <= len(arguments):
            raise fault(f"the body of macro {call.text} uses {token.text}, more than its {len(arguments)}", call)
        tokens.extend(arguments[number - 1])
    return tokens
