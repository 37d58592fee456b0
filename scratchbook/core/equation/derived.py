r"""Read derivatives: f'(x), \frac{\partial L}{\partial z}, \nabla_x L and the gradient of a function at a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from . import naming
from .errors import fault
from .known import known_function
from .leftsides import derivative_parts, name_and_indices
from .nodes import Call, Derivative, Index, Name, Node
from .pieces import closing
from .subscripts import read_index_list
from .symbols import Scripts, derivative_key, flat, key_of, latex_of, read_scripts, written
from .tokens import Token

if TYPE_CHECKING:
    from .parser import Parser


def derivative_of_call(parser: Parser, function: str, scripts: Scripts, start: int) -> Node:
    """f'(x) is the derivative of f at x."""
    if scripts.primes != 1 or scripts.below or scripts.above:
        raise fault(
            "only the first derivative of a function of one argument is known here; declare the name",
            parser.tokens[parser.place - 1],
        )
    node = naming.call(parser, function, known_function(function) or function, (), (), start)
    if not isinstance(node, Call) or len(node.arguments) != 1:
        raise fault("f'(x) needs one argument and no script; write \\frac{\\partial f}{\\partial x}", node)
    return Derivative("", node, node.arguments[0], **parser.since(start))


def read_derivative(parser: Parser) -> Node | None:
    r"""\frac{\partial L}{\partial z_i}: the element of a named derivative; \frac{\partial}{\partial x} f(x): the
    derivative of what follows."""
    named = derivative_parts(parser.tokens, parser.place)
    if named is None:
        return None
    of, by, end = named
    start = parser.token.start
    if parser.tokens[parser.place + 2].text == "d" and "d" in parser.lexicon.variables:
        raise fault(
            "ambiguous: d is a declared name; write the derivative with \\partial", parser.tokens[parser.place + 2]
        )
    parser.place = end
    if of and of[0].text == "^":
        raise fault("higher derivatives are not known here; declare the name", of[0])
    if of and of[0].kind == "name" and flat(read_scripts(of, 1)[0].above) == "-1":
        raise fault("the derivative of an inverse is not known here; give it a letter, as in J = ...", of[0])
    whole = derivative_key(*map(key_with_scripts, (of, by)))
    if whole in parser.lexicon.variables:  # declared as it stands, as that of u_{\theta} by t
        return Name(whole, **parser.since(start))
    upper, lower = name_and_indices(of, parser.lexicon), name_and_indices(by, parser.lexicon)
    if upper and lower:
        return element_of(parser, Name(derivative_key(upper[0], lower[0]), **parser.since(start)), upper[1], lower[1])
    body = parser.inside(of).whole() if of else parser.run()
    return Derivative("", body, parser.inside(by).whole(), **parser.since(start))


def key_with_scripts(tokens: Sequence[Token]) -> str:
    """The key of one name with all its scripts; nothing for anything else."""
    scripts, end = read_scripts(tokens, 1)
    is_name = bool(tokens) and tokens[0].kind == "name" and end == len(tokens)
    return key_of(tokens[0].text, scripts.below, scripts.above, scripts.primes) if is_name else ""


def element_of(parser: Parser, node: Name, *scripts: Sequence[Token]) -> Node:
    """A derivative at the indices of what is derived, then of that by which."""
    indices = [index for script in scripts if script for index in read_index_list(parser, script)]
    return Index(node, tuple(indices), start=node.start, end=node.end) if indices else node


def read_gradient(parser: Parser) -> Node:
    r"""\nabla_x L and \partial L / \partial x: names of derivatives."""
    token = parser.take()
    if token.text == r"\nabla":
        scripts, parser.place = read_scripts(parser.tokens, parser.place)
        by = scripts.below
        if not by or scripts.above:
            raise fault("\\nabla needs the name by which it derives, and no power: \\nabla_{x} L", token)
        of = take_name(parser, token)
    else:
        of = take_name(parser, token)
        if parser.text != "/" or parser.follower().text != r"\partial":
            raise fault("write a derivative as \\frac{\\partial L}{\\partial x}", token)
        parser.take()
        by = tuple(take_name(parser, parser.take()))
    upper, lower = name_and_indices(of, parser.lexicon), name_and_indices(by, parser.lexicon)
    if not upper or not lower:
        raise fault("write a derivative as \\frac{\\partial L}{\\partial x}", token)
    node = Name(derivative_key(upper[0], lower[0]), **parser.since(token.start))
    if parser.text in naming.OPENERS and node.key in parser.lexicon.functions:
        return naming.call(parser, node.key, node.key, (), (), token.start)
    if parser.text == "(" and upper[0] in parser.lexicon.functions:
        end = closing(parser.tokens, parser.place)
        here = name_and_indices(parser.tokens[parser.place + 1 : end], parser.lexicon)
        if here is not None and here != lower and (here[0], ()) == lower:
            return gradient_at(parser, upper[0], token.start)
        if here != lower:
            name, at = latex_of(upper[0]), latex_of(lower[0])
            said = f"a gradient by {at} of a function at anything else than {at}"
            raise fault(f"{said}; write \\nabla_{{{at}}} {name}({at}), or define \\nabla {name}(z) = ...", parser.token)
        parser.place = end + 1
        return replace(node, **parser.since(token.start))
    check_point(parser, node, rf"\nabla_{{{latex_of(lower[0])}}} {latex_of(upper[0])}")
    return element_of(parser, node, upper[1], lower[1])


def gradient_at(parser: Parser, function: str, start: int) -> Node:
    r"""\nabla f(a + b) and \nabla_x f(x_i): the gradient of a function where the brackets here say."""
    end = closing(parser.tokens, parser.place)
    point = parser.inside(parser.tokens[parser.place + 1 : end]).whole()
    parser.place = end + 1
    place = parser.since(start)
    return Derivative("", Call(function, (point,), function, **place), point, **place)


def check_point(parser: Parser, node: Name, shown: str) -> None:
    """Refuse a declared gradient before a name in brackets, which may be where it is taken, or a factor."""
    if parser.text != "(" or node.key not in parser.lexicon.variables:
        return
    inside = parser.tokens[parser.place + 1 : closing(parser.tokens, parser.place)]
    if inside and name_and_indices(inside, parser.lexicon) is not None:
        point = written(inside)
        said = f"ambiguous: a gradient at {point}, or times it"
        raise fault(f"{said}; declare '{shown}({point}): ...' for one, write \\cdot for the other", node)


def take_name(parser: Parser, at: Token) -> Sequence[Token]:
    """The tokens of the name that stands here."""
    if parser.token.kind != "name":
        raise fault("write a derivative as \\frac{\\partial L}{\\partial x}", at)
    start = parser.place
    _, place = parser.lexicon.word_at(parser.tokens, start)
    _, parser.place = read_scripts(parser.tokens, place)
    return parser.tokens[start : parser.place]
