r"""Read what begins with a name: a symbol with its index and power, a call, a constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from . import bigoperators, derived
from .brackets import CLOSER, raised, read_items, read_postfix
from .errors import fault
from .known import PREFIX, REDUCERS, known_function
from .letters import BIG, is_index_above
from .lexicon import candidates
from .nodes import (
    Call,
    Compare,
    Constant,
    Fraction,
    Index,
    Indicator,
    Name,
    Node,
    Number,
    Power,
    Product,
    Slice,
    Transpose,
)
from .pieces import closing, is_bracketed, join_commas, split_at, split_commas, top_level, unwrapped
from .subscripts import EVERYTHING, is_index_list, read_index_list, read_sizes
from .symbols import BESIDE, Scripts, flat, group, key_of, latex_of, read_scripts, split_key
from .tokens import Token
from .vocabulary import RELATIONS

if TYPE_CHECKING:
    from .parser import Parser

OPENERS: Final = ("(", "[", r"\{")
INDICATORS: Final = ("I", r"\mathbb{I}", r"\mathcal{I}")


def read_name(parser: Parser) -> Node:
    """A name with everything that belongs to it; the longest declared label wins."""
    start = parser.token.start
    base, parser.place = parser.lexicon.word_at(parser.tokens, parser.place)
    scripts, parser.place = read_scripts(parser.tokens, parser.place)
    if base in parser.lexicon.families and scripts.below and not scripts.primes:
        return call(parser, key_of(base, scripts.below), base, scripts.below, scripts.above, start)
    for below, above, rest_below, rest_above in candidates(scripts):
        key = key_of(base, below, above, scripts.primes)
        if rest_below and key + BESIDE in parser.lexicon.variables:
            return variable(parser, key + BESIDE, rest_below, rest_above, start)
        if rest_below and key in parser.lexicon.numbers:
            continue
        if key in parser.lexicon.parameters - parser.parameters and known_function(base, parser.text):
            continue  # \sigma(x) beside a \kappa(\sigma^2), which alone knows that \sigma
        if key in parser.lexicon.variables or (not above and (key in parser.scope or key in parser.lexicon.indices)):
            return variable(parser, key, rest_below, rest_above, start)
        if key in parser.lexicon.functions:
            return call(parser, key, base, rest_below, rest_above, start)
    return built_in(parser, base, scripts, start)


def read_braced(parser: Parser) -> Node | None:
    r"""A name in braces with a script behind them, as {W^K}^\top; None for any other group."""
    inside, end = group(parser.tokens, parser.place)
    follows = parser.tokens[end].text if end < len(parser.tokens) else ""
    if follows not in ("_", "^") or not any(token.text == follows for token in inside):
        return None
    inner = parser.inside(inside)
    node = inner.factor() if inside[0].kind == "name" else None
    if not isinstance(node, Name | Index) or inner.token.kind != "end":
        return None
    start, parser.place = parser.token.start, end
    return read_postfix(parser, node, start)


def variable(parser: Parser, key: str, below: Sequence[Token], above: Sequence[Token], start: int) -> Node:
    """A symbol or an index, with its indices and its power."""
    node: Node = Name(key, **parser.since(start))
    if above and key in parser.lexicon.upper and flat(above) not in (r"\top", "T"):
        if any(token.kind == "number" for token in above):
            name = latex_of(key)
            raise fault(
                f"ambiguous: a power, or an element of {name}, whose index stands above; write ({name})^2 or {name}_2",
                above[0],
            )
        node = Index(node, read_index_list(parser, above), **parser.since(start))
        above = ()
    if is_bracketed(above) and key in parser.parameters and set(parser.lexicon.names_in(above)) & parser.scope:
        inside = unwrapped(above)
        if is_index_list(parser, inside):
            node, above = Index(node, read_index_list(parser, inside), **parser.since(start)), ()
    if is_bracketed(above) and key in parser.lexicon.arrays:
        check_version(parser, key, above)
        node = Index(node, read_index_list(parser, unwrapped(above)), **parser.since(start))
        above = ()
    used = 0
    if below:
        indices = read_index_list(parser, below, parser.lexicon.axes.get(key))
        used = len(indices)
        node = indexed(node, indices, parser, start)
    if (
        key in parser.lexicon.arrays
        and parser.text in parser.lexicon.brackets
        and not above
        and used < parser.lexicon.axes.get(key, used or 99)
    ):
        end = closing(parser.tokens, parser.place)
        inside = parser.tokens[parser.place + 1 : end]
        ordered = conditions_first(inside)
        if ordered and ordered[-1].text in EVERYTHING and key in parser.lexicon.shares and not used:
            parser.place = end + 1
            node = indexed(node, read_index_list(parser, ordered), parser, start)
        elif is_index_list(
            parser,
            inside,
            parser.lexicon.axes.get(key, used) - used,
            is_numbered=key in parser.lexicon.applied or parser.text == "[",
        ):
            parser.place = end + 1
            node = indexed(node, read_index_list(parser, inside), parser, start)
        elif any(token.text in ("|", r"\mid") for token in inside) and is_index_list(parser, without_bars(inside)):
            if ordered and key in parser.lexicon.shares and not used:
                parser.place = end + 1
                return read_postfix(parser, indexed(node, read_index_list(parser, ordered), parser, start), start)
            if key in parser.lexicon.applied and split_key(key)[0] in parser.lexicon.on_right:
                # A left side gives q(i | j) in this very order, and the display reads it in the same.
                parser.place = end + 1
                order = read_index_list(parser, without_bars(inside))
                return read_postfix(parser, indexed(node, order, parser, start), start)
            raise fault(
                "ambiguous: which axis is the condition of p(i | j)? write the indices in the array's order, as "
                "p_{i,j} or p_{j,i}, or declare shares, whose last axis sums to one: 'p: simplex(m, n)'",
                parser.token,
            )
        elif any(token.text in ("|", r"\mid") for token in inside):
            name = latex_of(key)
            element = f"{{{name}}}_i" if "_" in name else f"{name}_i"
            raise fault(f"{name} is an array, and an event is no index of it; write its element, as in {element}", node)
    is_closed = parser.place > 0 and parser.tokens[parser.place - 1].text in (")", "]")  # x(i), and a power behind it
    letter = element_of_bare(parser, key) if isinstance(node, Name) and not above else ()
    if isinstance(node, Name) and above and is_index_above(above) and above[0].text in parser.scope:
        check_power(parser, key, above)
    if isinstance(node, Name) and has_index_above(parser, key, above):
        node = Index(node, read_index_list(parser, above), **parser.since(start))
        above = ()
    if letter:
        parser.place += len(letter) + 2
        node = Index(node, read_index_list(parser, letter), is_doubtful=True, **parser.since(start))
    if isinstance(node, Name) and key.startswith(r"\nabla{"):
        derived.check_point(parser, node, latex_of(key))
    if above:
        node = raised(parser, node, above, start)
    return read_postfix(parser, node, start) if is_closed or parser.text == "!" else node


def has_index_above(parser: Parser, key: str, above: Sequence[Token]) -> bool:
    r"""Is it w^k, with a k that runs, of an array that has no power?"""
    running = (parser.scope | parser.lexicon.indices) - parser.lexicon.numbers
    return key in parser.lexicon.powerless and is_index_above(above) and above[0].text in running


def check_power(parser: Parser, key: str, above: Sequence[Token]) -> None:
    """Refuse x^j of a vector with a j that runs: it may be a power of all elements, or one element."""
    if key in parser.lexicon.arrays and parser.lexicon.axes.get(key) == 1 and key not in parser.lexicon.upper:
        name, letter = latex_of(key), above[0].text
        advice = f"declare '{name}^{letter}: ...' in the place of {name}, or write ({name})^{letter} for the power"
        raise fault(f"ambiguous: a power of {name}, or its element {letter}; {advice}", above[0])


def element_of_bare(parser: Parser, key: str) -> Sequence[Token]:
    """The letter that runs and stands alone in brackets here, behind a parameter, or a name that the display gives
    without an index."""
    if key not in parser.lexicon.bare | parser.parameters or key in parser.lexicon.arrays or parser.text != "(":
        return ()
    end = closing(parser.tokens, parser.place)
    inside, follower = parser.tokens[parser.place + 1 : end], parser.follower(end + 1 - parser.place)
    is_letter = bool(inside) and inside[0].kind == "name" and all(token.text == "'" for token in inside[1:])
    return inside if is_letter and is_index_list(parser, inside) and follower.text not in ("_", "^") else ()


def indexed(node: Node, indices: tuple[Node, ...], parser: Parser, start: int) -> Index:
    r"""A node with further indices: \alpha_t(i) and x^{(t)}_i have two."""
    if isinstance(node, Index) and not any(isinstance(index, Slice) for index in node.indices):
        return Index(node.base, (*node.indices, *indices), **parser.since(start))
    return Index(node, indices, **parser.since(start))


def check_version(parser: Parser, key: str, above: Sequence[Token]) -> None:
    """Refuse r^{(t)} with a t that neither runs nor has a value: it numbers versions of r, which are other names."""
    running = parser.scope | parser.lexicon.indices | parser.lexicon.variables
    stranger = next((name for name in parser.lexicon.names_in(above) if name not in running), None)
    if stranger is not None:
        name = latex_of(key)
        raise fault(
            f"{name} is declared, and the {stranger} of {name}^{{{flat(above)}}} is nothing known; declare "
            f"{name}^{{({stranger})}} instead, or say where {stranger} runs: \\quad {stranger} = 1, \\ldots, n",
            above[0],
        )


def conditions_first(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The indices j, k, i of p(i | j, k), the order of shares, whose last axis sums to one; nothing for p(i, j | k)."""
    pieces = split_at(tokens, ("|", r"\mid"))
    if len(pieces) != 2 or len(split_commas(pieces[0])) != 1:
        return ()
    return join_commas([*split_commas(pieces[1]), pieces[0]])


def without_bars(tokens: Sequence[Token]) -> list[Token]:
    """Tokens with commas for bars."""
    return [Token("symbol", ",", token.start, token.end) if token.text in ("|", r"\mid") else token for token in tokens]


def built_in(parser: Parser, base: str, scripts: Scripts, start: int) -> Node:
    """A name that nothing declares: a function or constant that everybody knows, else a call or an unknown name."""
    known = known_function(base, parser.text)
    if known in REDUCERS and scripts.below and not scripts.primes:
        return bigoperators.read_named(parser, known, scripts, start)
    if known:
        if scripts.primes:
            return derived.derivative_of_call(parser, base, scripts, start)
        return call(parser, base, known, scripts.below, scripts.above, start)
    if base in INDICATORS and not (scripts.below or scripts.above or scripts.primes) and holds_relation(parser):
        return bigoperators.read_indicator(parser, start)
    constant = read_constant(parser, base, scripts, start)
    if constant is not None:
        return constant
    if scripts.primes and key_of(base, scripts.below, scripts.above) in parser.lexicon.functions and parser.text == "(":
        return derived.derivative_of_call(
            parser, key_of(base, scripts.below, scripts.above), Scripts((), (), scripts.primes), start
        )
    function = base.removeprefix(r"\nabla{").removesuffix("}")
    if parser.text == "(" and base.startswith(r"\nabla{") and function in parser.lexicon.functions:
        return derived.gradient_at(parser, function, start)
    if parser.text == "(":
        key = key_of(base, scripts.below, scripts.above, scripts.primes)
        return call(parser, key, base, (), (), start)
    label, index = parser.lexicon.split_below(base, scripts.below)
    if index and key_of(base, label) in parser.lexicon.numbers:
        shown = latex_of(key_of(base, scripts.below))
        fact = f"{shown} is not declared, and {base} is a number, which has no index"
        raise fault(f"{fact}; declare {shown}", Name(base, **parser.since(start)))
    above = () if flat(scripts.above) in ("*", "+", "-") or parser.lexicon.is_label(scripts.above) else scripts.above
    kept = () if above else scripts.above
    if (
        above
        and base + "'" * scripts.primes not in parser.lexicon.indices
        and any(token.kind == "name" for token in above)
        and flat(above) not in (r"\top", "T", r"-\top")
    ):
        kept, above = above, ()
    node: Node = Name(key_of(base, label, kept, scripts.primes), **parser.since(start))
    if index:
        node = Index(node, read_index_list(parser, index), **parser.since(start))
    return raised(parser, node, above, start) if above else node


def holds_relation(parser: Parser) -> bool:
    """Do brackets with a comparison in them stand here?"""
    if parser.text not in OPENERS:
        return False
    inside = parser.tokens[parser.place + 1 : closing(parser.tokens, parser.place)]
    return any(token.text in RELATIONS for token in top_level(inside))


def read_constant(parser: Parser, base: str, scripts: Scripts, start: int) -> Node | None:
    r"""e, \pi, the identity matrix and Kronecker's delta, where the names are free."""
    if scripts.primes:
        return None
    node: Node
    if base in ("e", r"\pi") and not scripts.below:
        node = Constant("e" if base == "e" else "pi", **parser.since(start))
    elif base == "I" and parser.text != "(":
        if scripts.below:
            node = Call("identity", read_sizes(parser, scripts.below), "identity", **parser.since(start))
        else:
            node = Constant("identity", **parser.since(start))
    elif base == r"\delta" and len(scripts.below) >= 2 and not scripts.above:
        pair = read_index_list(parser, scripts.below)
        if len(pair) != 2:
            return None
        node = Indicator(Compare(pair, ("=",)), **parser.since(start))
    elif base == r"\delta" and parser.text == "(" and not (scripts.below or scripts.above):
        pair = bigoperators.read_pair(parser)
        if not pair:
            return None
        node = Indicator(Compare(pair, ("=",)), **parser.since(start))
    else:
        return None
    return raised(parser, node, scripts.above, start) if scripts.above else read_postfix(parser, node, start)


def call(parser: Parser, function: str, base: str, below: Sequence[Token], above: Sequence[Token], start: int) -> Node:
    r"""A function at its arguments: f(x), f[x], \log x, \sin^2 x, R_m(q)."""
    axes = parser.lexicon.axes.get(base) if base in parser.lexicon.families else None
    indices = read_index_list(parser, below, axes) if below else ()
    is_transposed = flat(above) in (r"\top", "T") and parser.text in OPENERS
    power = None if is_transposed else read_power(parser, above)
    if parser.text in OPENERS:
        opener = parser.take()
        if parser.text == CLOSER[opener.text]:
            raise fault(f"{base} lacks its argument; write {base}(...)", parser.token)
        with parser.bracketed(is_list=True):
            arguments, _ = read_items(parser)
        if parser.text in RELATIONS:
            raise fault(
                "an event such as p(y = i | x) has no value of its own; name it with an index: p_i = ...", parser.token
            )
        parser.expect(CLOSER[opener.text], opener)
        node: Node = Call(function, tuple(arguments), base, indices, **parser.since(start))
    else:
        argument = bare_argument(parser, base)
        node = Call(function, (argument,), base, indices, is_bare=True, **parser.since(start))
        return Power(node, power, **parser.since(start)) if power else node
    if is_transposed:
        return Transpose(node, **parser.since(start))
    if power:
        node = Power(node, power, **parser.since(start))
    if base in PREFIX and parser.text == "^":
        raise fault(f"ambiguous: a power behind {base}(...); write ({base} ...)^2 or {base}((...)^2)", parser.token)
    return read_postfix(parser, node, start)


def read_power(parser: Parser, above: Sequence[Token]) -> Node | None:
    r"""The power of \sin^2."""
    if not above:
        return None
    if flat(above).startswith("-"):
        raise fault("ambiguous: a negative power of a function; write \\arcsin, or \\frac{1}{...}", above[0])
    if flat(above) in (r"\top", "T"):
        raise fault("a transpose of a function; put \\top behind its brackets", above[0])
    return parser.inside(above).whole()


def bare_argument(parser: Parser, function: str) -> Node:
    r"""The argument of a function without brackets: the run of plain atoms that follows, as in \cos m\theta_i."""
    token = parser.token
    if not parser.starts_factor():
        raise fault(f"{function} lacks its argument; write {function}(...)", token)
    if token.kind not in ("name", "number") or starts_call(parser):
        node = parser.factor()
        if is_share(node) and parser.text in BIG:
            return Product((node, parser.factor()), **parser.since(token.start))
        if parser.starts_factor() and not starts_function(parser):
            raise fault(f"ambiguous: what does {function} take? write {function}(...)", parser.token)
        return node
    node = run_of_atoms(parser, function)
    if parser.text in ("/", r"\div"):
        raise fault(
            f"ambiguous: a slash after {function} without brackets; write {function}(a/b) or "
            f"\\frac{{{function} a}}{{b}}",
            parser.token,
        )
    return node


def is_share(node: Node) -> bool:
    r"""Is it a number over something, as before the sum of a mean, \frac{1}{n} \sum_i x_i?"""
    return isinstance(node, Fraction) and isinstance(node.upper, Number)


def run_of_atoms(parser: Parser, function: str) -> Node:
    """Names, numbers and fractions side by side."""
    start = parser.token.start
    atoms = [parser.factor()]
    while parser.token.kind == "name" or parser.text in (r"\frac", r"\sqrt"):
        if starts_function(parser):
            break
        atoms.append(parser.factor())
    if parser.starts_factor() and not starts_function(parser):
        raise fault(f"ambiguous: what does {function} take? write {function}(...)", parser.token)
    return atoms[0] if len(atoms) == 1 else Product(tuple(atoms), **parser.since(start))


def starts_function(parser: Parser) -> bool:
    """Does a function begin here?"""
    if parser.token.kind != "name":
        return False
    base, place = parser.lexicon.word_at(parser.tokens, parser.place)
    scripts, place = read_scripts(parser.tokens, place)
    key = key_of(base, scripts.below, scripts.above, scripts.primes)
    if key in parser.lexicon.variables or base in parser.lexicon.variables:
        return False
    follows = parser.tokens[place].text if place < len(parser.tokens) else ""
    return key in parser.lexicon.functions or base in parser.lexicon.families or bool(known_function(base, follows))


def starts_call(parser: Parser) -> bool:
    """Does a function begin here, declared or not?"""
    return starts_function(parser)
