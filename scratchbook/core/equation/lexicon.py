r"""What each name in a display is: a symbol, a function, an index.  Names decide: nothing here guesses from a letter
alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .known import REDUCERS, known_function
from .notation import Notation
from .spelling import spell
from .statements import RawStatement, top_level
from .symbols import BESIDE, CHANGE, Scripts, derivative_key, flat, group, key_of, read_scripts, split_key
from .tokens import Token, cut

BIG: Final = frozenset([r"\sum", r"\prod"])


@dataclass(frozen=True)
class Left:
    """A left side that is one name: its base and scripts, the arguments of a call, and an index after the call."""

    base: str
    scripts: Scripts
    arguments: tuple[Token, ...] | None
    after: tuple[Token, ...]


@dataclass
class Lexicon:
    """The names of one display.

    numbers: declared names without elements.   on_right: letters that stand on right sides as values or indices.
    integers: numbers of the kind int.   bare: keys of left sides without an index.
    axes: how many indices a declared array takes.
    variables, functions: keys of declared and of locally defined names.   arrays: variables that have elements.
    families: bases of functions with an index, such as R of R_m.   indices: letters that run.
    fresh: names that left sides make of a declared letter, as x_{\\text{new}} = ... beside x.
    upper: arrays whose index stands above, as z^j = ... defines them.
    labels: letters that only part names, such as \\ell of x_\\ell.   words: bases of several letters, longest first.
    """

    variables: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    arrays: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    upper: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    axes: dict[str, int] = field(default_factory=dict)
    on_right: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    integers: set[str] = field(default_factory=set)

    def knows(self, key: str) -> bool:
        """Is it a declared or defined name?"""
        return key in self.variables or key in self.functions

    def is_number_beside(self, key: str) -> bool:
        """Is it a number, declared or defined, so that with an index it is another name, as N_k beside N?"""
        return key in self.numbers or (key in self.bare and key not in self.arrays)

    def has_elements(self, key: str) -> bool:
        """May an index stand at it?"""
        return key not in self.numbers

    def word_at(self, tokens: Sequence[Token], place: int) -> tuple[str, int]:
        """The base name at a place, and the place after it: the longest declared word, else one token."""
        first = tokens[place].text
        is_change = first == CHANGE and place + 1 < len(tokens) and tokens[place + 1].kind == "name"
        if is_change and (CHANGE not in self.variables or first + tokens[place + 1].text in self.words):
            return first + tokens[place + 1].text, place + 2
        if len(first) == 1:
            run, end = "", place
            while end < len(tokens) and tokens[end].kind == "name" and len(tokens[end].text) == 1:
                run += tokens[end].text
                end += 1
            for word in self.words:
                if run.startswith(word):
                    return word, place + len(word)
        return first, place + 1

    def names_in(self, tokens: Sequence[Token]) -> list[str]:
        """The base names among tokens; a declared word is one."""
        found = list[str]()
        place = 0
        while place < len(tokens):
            if tokens[place].kind == "name":
                word, place = self.word_at(tokens, place)
                found.append(word)
            else:
                place += 1
        return found

    def is_fresh(self, base: str, below: Sequence[Token]) -> bool:
        """Do a base and the first piece below it make a name of their own, as x_new beside x?"""
        return any(key_of(base, piece) in self.fresh for piece in split_commas(unwrapped(below))[:1])

    def split_below(self, base: str, tokens: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """Part an undeclared name's subscript into a label and indices: m,i of q_{m,i} when m is a number."""
        pieces = split_commas(unwrapped(tokens))
        count = int(self.is_fresh(base, tokens))
        while count < len(pieces) and self.is_label(pieces[count]):
            count += 1
        return join_commas(pieces[:count]), join_commas(pieces[count:])

    def is_strange(self, tokens: Sequence[Token]) -> bool:
        """Has a script in brackets a letter that neither runs nor has a value, as the t of r^{(t+1)} = ... r?"""
        return any(name not in self.indices and name not in self.variables for name in self.names_in(tokens))

    def is_label(self, tokens: Sequence[Token]) -> bool:
        """Is a script part of a name, rather than an index?"""
        letters = self.names_in(tokens) + [token.text for token in tokens if token.kind == "text"]
        if not letters:
            return any(token.kind in ("number", "ones") or token.text in ("*", "+", "-") for token in tokens)
        if flat(tokens) in self.indices or any(letter in self.indices for letter in letters):
            return False
        if not any(letter in self.on_right for letter in letters):
            return True
        return any(
            letter in self.labels or letter in self.variables or (len(letter) > 1 and not letter.startswith("\\"))
            for letter in letters
        )


def split_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Part tokens at the commas of their top level."""
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("{", "(", "[", r"\{")) - (token.text in ("}", ")", "]", r"\}"))
        if token.text == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]


def join_commas(pieces: Iterable[Sequence[Token]]) -> tuple[Token, ...]:
    """The pieces as one list of tokens again."""
    joined: list[Token] = []
    for piece in pieces:
        if joined:
            joined.append(Token("symbol", ",", piece[0].start, piece[0].start))
        joined.extend(piece)
    return tuple(joined)


def unwrapped(tokens: Sequence[Token]) -> Sequence[Token]:
    """Tokens without brackets that hold all of them."""
    while len(tokens) > 1 and (tokens[0].text, tokens[-1].text) in (("(", ")"), ("{", "}")):
        depth = 0
        for number, token in enumerate(tokens):
            depth += (token.text == tokens[0].text) - (token.text == tokens[-1].text)
            if depth == 0 and number < len(tokens) - 1:
                return tokens
        tokens = tokens[1:-1]
    return tokens


def read_left(tokens: Sequence[Token], lexicon: Lexicon) -> Left | None:
    """Read a left side that is one name; None when it is an expression."""
    if not tokens:
        return None
    if tokens[0].text == "{" and unwrapped(tokens) is not tokens:
        return read_left(unwrapped(tokens), lexicon)
    if tokens[0].text == r"\frac":
        return read_left_derivative(tokens, lexicon)
    if tokens[0].text in ("|", r"\lvert") and tokens[-1].text in ("|", r"\rvert") and len(tokens) == 3:
        return Left(f"|{tokens[1].text}|", Scripts(), None, ())  # |\mathcal{A}| = n names the size of a set
    if tokens[0].kind != "name" or tokens[0].text == "arg":
        return None
    base, place = tokens[0].text, 1
    if base == CHANGE and CHANGE not in lexicon.variables and len(tokens) > 1 and tokens[1].kind == "name":
        base, place = base + tokens[1].text, 2
    while (
        place < len(tokens)
        and tokens[place].kind == "name"
        and len(base) >= 1
        and len(tokens[place].text) == 1
        and "\\" not in base
    ):
        base += tokens[place].text
        place += 1
    if (
        place > 1
        and "\\" not in base
        and base not in lexicon.words
        and all(letter in lexicon.variables for letter in base)
    ):
        return None
    scripts, place = read_scripts(tokens, place)
    arguments = None
    after: tuple[Token, ...] = ()
    if place < len(tokens) and tokens[place].text in ("(", "["):
        if tokens[-1].text not in (")", "]") and not any(token.text in (")", "]") for token in tokens[place:]):
            return None
        end = closing(tokens, place)
        arguments, place = tuple(tokens[place + 1 : end]), end + 1
        outer, place = read_scripts(tokens, place)
        if outer.above or outer.primes:
            return None
        after = outer.below
    return Left(base, scripts, arguments, after) if place == len(tokens) else None


def read_left_derivative(tokens: Sequence[Token], lexicon: Lexicon) -> Left | None:
    r"""\frac{\partial L}{\partial z_{ti}} as the name of a derivative with indices: those of L, then those of z."""
    named = derivative_parts(tokens, 0)
    if named is None or named[2] != len(tokens):
        return None
    upper, lower = name_and_indices(named[0], lexicon), name_and_indices(named[1], lexicon)
    if upper is None or lower is None:
        return None
    below = join_commas([piece for piece in (upper[1], lower[1]) if piece])
    return Left(derivative_key(upper[0], lower[0]), Scripts(below), None, ())


def name_and_indices(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[str, tuple[Token, ...]] | None:
    """The key of tokens that are one name, and the tokens of its indices; None when they are more."""
    if not tokens or tokens[0].kind != "name":
        return None
    base, place = lexicon.word_at(tokens, 0)
    scripts, place = read_scripts(tokens, place)
    if place != len(tokens):
        return None
    key, below, above = resolve_left(lexicon, Left(base, scripts, None, ()))
    return None if key is None or above else (key, below)


def derivative_parts(tokens: Sequence[Token], place: int) -> tuple[tuple[Token, ...], tuple[Token, ...], int] | None:
    r"""The two sides of a \frac that is a derivative, without their signs, and the place after it; None for any other
    fraction."""
    if place + 1 >= len(tokens) or tokens[place + 1].text != "{":
        return None
    upper, place = group(tokens, place + 1)
    if place >= len(tokens) or tokens[place].text != "{":
        return None
    lower, place = group(tokens, place)
    if len(lower) < 2 or not upper or upper[0].text not in (r"\partial", "d") or lower[0].text != upper[0].text:
        return None
    if lower[1].kind != "name":
        return None
    return upper[1:], lower[1:], place


def closing(tokens: Sequence[Token], place: int) -> int:
    """The place of the bracket that closes the one here; the last place when none does."""
    depth = 0
    for number in range(place, len(tokens)):
        text = tokens[number].text
        depth += (text in ("(", "[", r"\{", "{")) - (text in (")", "]", r"\}", "}"))
        if depth == 0:
            return number
    return len(tokens) - 1


def make_lexicon(
    notation: Notation,
    statements: Sequence[RawStatement],
    given: Iterable[str] = (),
    given_functions: Iterable[str] = (),
) -> Lexicon:
    """The names of a display: those of the notation, and those that its left sides define."""
    lexicon = Lexicon()
    for symbol in notation.symbols.values():
        if symbol.kind.name == "index":
            lexicon.indices.add(symbol.key)
        else:
            lexicon.variables.add(symbol.key)
        if symbol.kind.shape:
            lexicon.arrays.add(symbol.key)
            lexicon.axes[symbol.key] = len(symbol.kind.shape)
        elif symbol.kind.name != "index":
            lexicon.numbers.add(symbol.key)
        if symbol.kind.name == "int":
            lexicon.integers.add(symbol.key)
    for key in [*notation.functions, *given_functions]:
        lexicon.functions.add(key)
        base, below, _, _ = split_key(key)
        if below and base not in lexicon.variables:
            lexicon.families.add(base)
    lexicon.variables |= set(given)
    lexicon.words = words_of([*lexicon.variables, *lexicon.functions, *lexicon.indices])
    lexicon.fresh = new_names(statements, lexicon)
    lexicon.indices |= running_letters(statements, lexicon) - {"d"}
    for statement in statements:
        note_range_letters(statement, lexicon)
    lexicon.labels = label_letters(notation) - lexicon.indices
    lexicon.on_right = letters_on_right(statements, lexicon)
    add_left_sides(lexicon, statements)
    lexicon.words = words_of([*lexicon.variables, *lexicon.functions, *lexicon.indices])
    return lexicon


def words_of(keys: Iterable[str]) -> list[str]:
    """The bases of several plain letters, longest first, and those such as \\Delta W."""
    bases = {split_key(key)[0] for key in keys if not key.startswith(r"\frac")}
    return sorted((base for base in bases if is_word(base)), key=len, reverse=True)


def is_word(base: str) -> bool:
    """Is a base several tokens that are one name?"""
    return (len(base) > 1 and base.isalpha()) or (base.startswith(CHANGE) and base != CHANGE)


def label_letters(notation: Notation) -> set[str]:
    r"""Letters within the scripts of declared names, such as \ell of x_\ell; sizes do not count, as d_k is
    everywhere."""
    found = set[str]()
    for key in [*(key for key, symbol in notation.symbols.items() if symbol.kind.name != "dim")]:
        if not key.startswith(r"\frac"):
            _, below, above, _ = split_key(key)
            found |= {
                token.text for script in (below, above) for token in script_tokens(script) if token.kind == "name"
            }
    return found


def script_tokens(script: str) -> list[Token]:
    """The tokens of a key's script; a word stays one."""
    if script.isalpha() and len(script) > 1:
        return [Token("name", script, 0, 0)]
    return spell(list(cut(script)))


def note_range_letters(statement: RawStatement, lexicon: Lexicon) -> None:
    """A letter that i = 1, ..., n gives a range is an index."""
    if is_range(statement):
        for token in statement.members[0]:
            if token.kind == "name" and token.text not in lexicon.arrays:
                lexicon.indices.add(token.text)
                lexicon.variables.discard(token.text)


def is_range(statement: RawStatement) -> bool:
    r"""Is it i = 1, \ldots, n?"""
    if len(statement.members) != 2 or statement.relations[0].text != "=":
        return False
    right = [token.text for token in top_level(statement.members[1])]
    return r"\ldots" in right and "," in right


def running_letters(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    """Letters that an operator binds, and letters that index a declared array somewhere in the display."""
    found = set[str]()
    for statement in statements:
        for member in statement.members:
            for place, token in enumerate(member):
                if place + 2 < len(member) and member[place + 1].text in ("_", "^"):
                    scripts, _ = read_scripts(member, place + 1)
                    if token.text in BIG or known_function(token.text) in REDUCERS:
                        found |= first_letters(scripts.below)
                    elif token.kind == "name":
                        found |= index_letters(token.text, scripts, lexicon)
                if place + 2 < len(member) and member[place + 1].text == "(" and token.text in lexicon.arrays:
                    found |= bracketed_letters(member, place + 1, lexicon)
    fresh = {split_key(key)[1] for key in lexicon.fresh}
    return {letter for letter in found if letter not in lexicon.arrays} - fresh


def new_names(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    r"""The names of left sides that a script parts from a declared letter, as x_{\text{new}} = 2x and x_q = 2x do.

    The script stands nowhere else, so it is no index: a word, or a letter where x itself is what the right side reads.
    """
    right = letters_on_right(statements, lexicon)
    found = set[str]()
    for statement in statements:
        left = read_left(statement.members[0], lexicon) if statement.relations else None
        below = split_commas(unwrapped(left.scripts.below)) if left and left.arguments is None else []
        if left is None or not below or len(below[0]) != 1 or below[0][0].kind != "name":
            continue
        word = below[0][0].text
        is_single = len(below) == 1 and statement.relations[0].text in ("=", ":=") and reads_whole(statement, left.base)
        is_read = word in right and not all(names_more(statement, word, lexicon) for statement in statements)
        if word not in lexicon.variables and not is_read and (is_word(word) or is_single):
            found.add(key_of(left.base, below[0]))
    return found


def names_more(statement: RawStatement, letter: str, lexicon: Lexicon) -> bool:
    r"""Is a letter on the right sides no more than the base of declared names, as the q of q_{\min} is?"""
    for member in statement.members[1:]:
        for place, token in enumerate(member):
            if token.text == letter and token.kind == "name":
                scripts, _ = read_scripts(member, place + 1)
                if not scripts.below or not lexicon.knows(key_of(letter, scripts.below, scripts.above, scripts.primes)):
                    return False
    return True


def reads_whole(statement: RawStatement, base: str) -> bool:
    """Does a right side read a name without an index?"""
    return any(
        token.text == base and (place + 1 == len(member) or member[place + 1].text not in ("_", "(", "["))
        for member in statement.members[1:]
        for place, token in enumerate(member)
    )


def letters_on_right(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    r"""The names on right sides, but for those that only repeat the subscript of a left side, as \mu_B does."""
    lefts = [
        left for statement in statements if statement.relations and (left := read_left(statement.members[0], lexicon))
    ]
    repeated = {left.base for left in lefts if left.scripts.below or left.scripts.above}
    found = set[str]()
    for statement in statements:
        for number, member in enumerate(statement.members):
            if number == 0 and any(left is not None for left in [read_left(member, lexicon)]):
                continue
            place = 0
            while place < len(member):
                token = member[place]
                place += 1
                if token.kind != "name":
                    continue
                found.add(token.text)
                if token.text in repeated and place < len(member) and member[place].text in ("_", "^", "'"):
                    _, place = read_scripts(member, place)
    return found


def bracketed_letters(member: Sequence[Token], place: int, lexicon: Lexicon) -> set[str]:
    """The undeclared names that stand alone in the brackets behind an array, as in Q(s, a)."""
    inside = member[place + 1 : closing(member, place)]
    signs = (",", "|", r"\mid", "+", "-", "'")
    plain = all(token.kind in ("name", "number") or token.text in signs for token in inside)
    words = lexicon.names_in(inside)
    if not plain or any(word in lexicon.variables for word in words):
        return set()
    return {
        word + "'" * primes_after(inside, number)
        for number, token in enumerate(inside)
        if token.kind == "name"
        for word in [lexicon.word_at(inside, number)[0]]
    }


def primes_after(tokens: Sequence[Token], place: int) -> int:
    """How many primes follow the token here."""
    count = 0
    while place + count + 1 < len(tokens) and tokens[place + count + 1].text == "'":
        count += 1
    return count


def first_letters(script: Sequence[Token]) -> set[str]:
    """The letters that stand first in the parts of an operator's subscript."""
    found = set[str]()
    for piece in split_commas(unwrapped(script)):
        place = next((number for number, token in enumerate(piece) if token.kind == "name"), None)
        if place is not None:
            scripts, _ = read_scripts(piece, place + 1)
            found.add(key_of(piece[place].text, scripts.below, (), scripts.primes))
    return found


def index_letters(base: str, scripts: Scripts, lexicon: Lexicon) -> set[str]:
    """The undeclared letters that index a declared array here; none where base and scripts are one declared name."""
    for below, above, rest, _ in candidates(scripts):
        key = key_of(base, below, above, scripts.primes)
        if lexicon.knows(key):
            return letters_below(rest, lexicon) if key in lexicon.arrays else set()
    return set()


def letters_below(script: Sequence[Token], lexicon: Lexicon) -> set[str]:
    """The undeclared letters of a script, but those that are scripts within it."""
    return {
        token.text + "'" * primes_after(script, number)
        for number, token in enumerate(script)
        if token.kind == "name"
        and token.text not in lexicon.variables
        and (number == 0 or script[number - 1].text != "_")
    }


def add_left_sides(lexicon: Lexicon, statements: Sequence[RawStatement]) -> None:
    """Add the names that the left sides define, with the letters that index them."""
    lefts = [(read_left(statement.members[0], lexicon), statement) for statement in statements]
    # x_t = ... makes an array of x, so that x_1 = ... above it is an element and no label.
    lefts.sort(key=lambda item: item[0] is None or is_labelled(item[0], lexicon))
    lexicon.bare = {
        key_of(left.base, (), left.scripts.above, left.scripts.primes)
        for left, statement in lefts
        if left is not None and statement.relations and left.arguments is None and not left.scripts.below
    }
    for left, statement in lefts:
        if (
            left is None
            or not statement.relations
            or statement.relations[0].text not in ("=", ":=", r"\leftarrow", r"\approx")
        ):
            continue
        if statement.before == "if":
            continue
        add_left(lexicon, left)


def is_labelled(left: Left, lexicon: Lexicon) -> bool:
    """Has a left side no index, or a label before its indices, as x_1 and x_{1,j} have?"""
    return not left.scripts.below or bool(lexicon.split_below(left.base, left.scripts.below)[0])


def add_left(lexicon: Lexicon, left: Left) -> None:
    """Add the one name that a left side defines."""
    scripts = left.scripts
    key, below, above = resolve_left(lexicon, left)
    if key is None:
        return
    if any(name in lexicon.indices for name in lexicon.names_in(above)):
        below = (*below, *above)
        lexicon.upper |= set() if is_bracketed(above) else {key}
    words = lexicon.names_in(left.arguments or ())
    is_array = bool(words) and all(word in lexicon.indices for word in words)
    is_derivative = bool(scripts.primes) and not is_array
    if left.arguments is not None and (is_derivative or (scripts.below and known_function(left.base) in REDUCERS)):
        return
    if left.arguments is not None and not lexicon.knows(key):
        if is_array:
            lexicon.variables.add(key)
            lexicon.arrays.add(key)
            lexicon.axes.setdefault(key, count_indices(below, lexicon) + count_indices(left.arguments, lexicon))
        else:
            lexicon.functions.add(key)
            lexicon.families |= {left.base} if below else set()
            # A parameter has a value in the body: its z^2 is a power, and no name of its own.
            parameters = [piece[0].text for piece in split_commas(left.arguments) if len(piece) == 1]
            lexicon.variables |= {name for name in words if name in parameters and name not in lexicon.indices}
    else:
        lexicon.variables.add(key)
    if below or left.after:
        lexicon.arrays.add(key)
    lexicon.indices |= {word for word in lexicon.names_in([*below, *left.after]) if word not in lexicon.variables}
    if is_word(left.base) and left.base not in lexicon.words:
        lexicon.words = sorted([*lexicon.words, left.base], key=len, reverse=True)
    if flat(scripts.above) == "2" and key.endswith("^{2}"):
        root = key.removesuffix("^{2}")
        if not lexicon.knows(root):
            lexicon.variables.add(root)
            if below:
                lexicon.arrays.add(root)


def count_indices(tokens: Sequence[Token], lexicon: Lexicon) -> int:
    """How many indices stand in a script or in brackets: its pieces, or the names side by side."""
    pieces = split_commas(unwrapped(tokens))
    return len(pieces) if len(pieces) != 1 else max(1, len(lexicon.names_in(pieces[0])))


def resolve_left(lexicon: Lexicon, left: Left) -> tuple[str | None, tuple[Token, ...], tuple[Token, ...]]:
    """The key that a left side defines, and its index tokens: below, and within brackets above."""
    scripts = left.scripts
    for below, above, rest_below, rest_above in candidates(scripts):
        key = key_of(left.base, below, above, scripts.primes)
        if rest_below and not rest_above and lexicon.knows(key + BESIDE):
            return key + BESIDE, rest_below, ()
        if not lexicon.knows(key) or ((rest_below or rest_above) and not lexicon.has_elements(key)):
            continue
        if rest_below and not rest_above and lexicon.is_fresh(left.base, rest_below):
            continue
        if is_bracketed(rest_above) and lexicon.is_strange(rest_above):
            continue
        if not rest_above:
            return key, rest_below, ()
        if is_bracketed(rest_above) or key in lexicon.upper:
            return key, rest_below, rest_above
    above = scripts.above
    if flat(above) in ("T", r"\top", "-1"):
        return None, (), ()
    label, index = lexicon.split_below(left.base, scripts.below)
    if index and not above and lexicon.is_number_beside(key_of(left.base, label, (), scripts.primes)):
        return key_of(left.base, label, (), scripts.primes) + BESIDE, index, ()
    if is_bracketed(above) and not lexicon.is_label(unwrapped(above)):
        return key_of(left.base, label, (), scripts.primes), index, above
    base = key_of(left.base, label, (), scripts.primes)
    if len(above) == 1 and flat(above) in lexicon.indices and not lexicon.knows(base) and base not in lexicon.bare:
        return base, index, above
    return key_of(left.base, label, above, scripts.primes), index, ()


def is_bracketed(tokens: Sequence[Token]) -> bool:
    """Is a superscript an index in brackets, as in x^{(i)}?"""
    return len(tokens) > 2 and (tokens[0].text, tokens[-1].text) in (("(", ")"), ("[", "]"))


Candidate = tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...], tuple[Token, ...]]


def candidates(scripts: Scripts) -> list[Candidate]:
    """The ways to part scripts into a label and the rest, longest label first: (below, above, rest below, rest
    above)."""
    below, above = scripts.below, scripts.above
    pieces = split_commas(below)
    ways: list[Candidate] = []
    for count in range(len(pieces), -1, -1):
        label, rest = join_commas(pieces[:count]), join_commas(pieces[count:])
        if count == len(pieces):
            label, rest = below, ()
        ways.append((label, above, rest, ()))
        if above:
            ways.append((label, (), rest, above))
    return list(dict.fromkeys(sorted(ways, key=lambda way: -(len(way[0]) + len(way[1])))))
