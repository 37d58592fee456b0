"""Fill the lexicon of a display: with the names of the notation, then with those that its left sides define."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .errors import fault
from .known import REDUCERS, known_function
from .leftsides import Left, derivative_parts, is_labelled, read_left, resolve_left
from .letters import has_members, label_letters, letters_on_right, note_range_letters, running_letters
from .lexicon import Lexicon, is_run, is_word, words_of
from .notation import Notation
from .pieces import is_bracketed, split_at, split_commas, unwrapped
from .statements import RawStatement
from .symbols import BESIDE, Scripts, flat, key_of, read_scripts, split_key
from .tokens import Token


def make_lexicon(
    notation: Notation,
    statements: Sequence[RawStatement],
    given: Iterable[str] = (),
    given_functions: Iterable[str] = (),
) -> Lexicon:
    """The names of a display: those of the notation, and those that its left sides define."""
    lexicon = Lexicon()
    functions = sizes_that_are_functions(statements, notation)
    for symbol in notation.symbols.values():
        if symbol.key in functions:
            continue
        if symbol.kind.name == "index":
            lexicon.indices.add(symbol.key)
        else:
            lexicon.variables.add(symbol.key)
        if symbol.kind.shape:
            lexicon.arrays.add(symbol.key)
            lexicon.axes[symbol.key] = len(symbol.kind.shape)
            if len(symbol.kind.shape) > 1 and len(set(symbol.kind.shape)) > 1:
                lexicon.powerless.add(symbol.key)
        elif symbol.kind.name != "index":
            lexicon.numbers.add(symbol.key)
        by_kind = {"int": lexicon.integers, "ints": lexicon.counted, "simplex": lexicon.shares, "set": lexicon.sets}
        by_kind.get(symbol.kind.name, set()).add(symbol.key)
        if symbol.kind.name == "ints" and len(symbol.kind.shape) == 1 and has_members(symbol.key, statements):
            lexicon.listed.add(symbol.key)
    for key in [*notation.functions, *given_functions]:
        lexicon.functions.add(key)
        base, below, _, _ = split_key(key)
        if below and base not in lexicon.variables:
            lexicon.families.add(base)
    lexicon.variables |= set(given)
    lexicon.words = words_of([*lexicon.variables, *lexicon.functions, *lexicon.indices])
    lexicon.fresh = new_names(statements, lexicon)
    lexicon.brackets = (
        ("(", "[") if any(is_in_square_brackets(statement, lexicon) for statement in statements) else ("(",)
    )
    lexicon.indices |= running_letters(statements, lexicon) - ({"d"} if derives_by_d(statements) else set())
    for statement in statements:
        note_range_letters(statement, lexicon)
    lexicon.labels = label_letters(notation) - lexicon.indices
    lexicon.on_right = letters_on_right(statements, lexicon)
    add_general(lexicon, statements)
    add_left_sides(lexicon, statements)
    lexicon.words = words_of([*lexicon.variables, *lexicon.functions, *lexicon.indices])
    return lexicon


def sizes_that_are_functions(statements: Sequence[RawStatement], notation: Notation) -> set[str]:
    """The sizes that only a shape names and that a left side gives as a function, as d(u, v) = ...; d(x_i) is an array.

    Raises EquationError for one that stands alone too.
    """
    found = set[str]()
    for statement in statements:
        left = read_left(statement.members[0], Lexicon())
        symbol = notation.symbols.get(left.base) if left and left.arguments and left.scripts == Scripts() else None
        is_at_elements = left is not None and any(token.text == "_" for token in left.arguments or ())
        if symbol is not None and symbol.is_implicit and is_defining(statement) and not is_at_elements:
            found.add(symbol.key)
    for member in (member for statement in statements for member in statement.members):
        for token, after in zip(member, [*member[1:], None], strict=True):
            if token.text in found and (after is None or after.text != "("):
                fact = f"{token.text} is a size, and a function on a left side"
                raise fault(f"{fact}; give one of both another letter", token)
    return found


def is_in_square_brackets(statement: RawStatement, lexicon: Lexicon) -> bool:
    """Is a left side y[n] = ..., so that brackets hold the index of an element throughout?"""
    left = statement.members[0]
    place = read_scripts(left, 1)[1]
    if not is_defining(statement) or left[0].kind != "name" or place >= len(left) or left[place].text != "[":
        return False
    inside = left[place + 1 : -1]
    return (
        left[-1].text == "]"
        and bool(inside)
        and all(token.text == "," or (token.kind == "name" and token.text not in lexicon.variables) for token in inside)
    )


def derives_by_d(statements: Sequence[RawStatement]) -> bool:
    r"""Is a derivative written \frac{dL}{dx}, so that d is no letter of its own?"""
    for member in (member for statement in statements for member in statement.members):
        for place, token in enumerate(member):
            is_plain = token.text == r"\frac" and [part.text for part in member[place + 1 : place + 3]] == ["{", "d"]
            if is_plain and derivative_parts(member, place) is not None:
                return True
    return False


def new_names(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    r"""The names of left sides that a script parts from a declared letter, as x_{\text{new}} = 2x and x_q = 2x do.

    The script stands nowhere else, so it is no index: a word, or a letter where x itself is what the right side reads.
    """
    right = letters_on_right(statements, lexicon)
    found = totals(statements, lexicon)
    for statement in statements:
        left = read_left(statement.members[0], lexicon) if statement.relations else None
        below = split_commas(unwrapped(left.scripts.below)) if left and left.arguments is None else []
        if left is None or not below or below[0][0].kind != "name":
            continue
        word = below[0][0].text
        if len(below[0]) > 2 and is_run(below[0]) and is_strange(below[0], lexicon, right):
            found.add(key_of(left.base, below[0]))
        if len(below[0]) != 1:
            continue
        is_own = reads_whole(statement, left.base) or (left.base in lexicon.arrays and is_label(statement, word))
        is_single = len(below) == 1 and statement.relations[0].text in ("=", ":=") and is_own
        is_read = word in right and not all(names_more(statement, left.base, word, lexicon) for statement in statements)
        is_read &= not is_operator(word, statements, lexicon)
        is_whole = len(below) == 1 and word in lexicon.arrays  # K_y beside a vector y, which is no index
        if is_whole or (word not in lexicon.variables and not is_read and (is_word(word) or is_single)):
            found.add(key_of(left.base, below[0]))
    return found


def totals(statements: Sequence[RawStatement], lexicon: Lexicon) -> set[str]:
    r"""The names such as \alpha_0 = \sum_k \alpha_k beside a declared array, which has no element 0, and of which
    no left side gives another element."""
    given: dict[str, set[str]] = {}
    for statement in statements:
        left = read_left(statement.members[0], lexicon) if is_defining(statement) else None
        if left is not None and left.base in lexicon.arrays and left.arguments is None:
            key = key_of(left.base, left.scripts.below, left.scripts.above, left.scripts.primes)
            given.setdefault(left.base, set()).add(key)
    return {f"{base}_{{0}}" for base, keys in given.items() if keys == {f"{base}_{{0}}"}}


def is_strange(run: Sequence[Token], lexicon: Lexicon, right: set[str]) -> bool:
    """Are there letters that stand for nothing, as in x_{new} beside a size n?"""
    return any(token.text not in lexicon.variables | lexicon.indices | right for token in run)


def is_operator(word: str, statements: Sequence[RawStatement], lexicon: Lexicon) -> bool:
    r"""Is a word on the right sides no more than a function that everybody knows, as the \max of r_{\max} is?"""
    lefts = [read_left(statement.members[0], lexicon) for statement in statements if statement.relations]
    is_given = lexicon.knows(word) or word in lexicon.indices or any(left and left.base == word for left in lefts)
    return len(word) > 1 and bool(known_function(word)) and not is_given


def names_more(statement: RawStatement, base: str, letter: str, lexicon: Lexicon) -> bool:
    r"""Is a letter on the right sides no more than the base of declared names, as the q of q_{\min} is?"""
    for member in statement.members[1:]:
        for place, token in enumerate(member):
            if token.text == letter and token.kind == "name":
                of = member[place - 2].text if place > 1 and member[place - 1].text == "_" else ""
                if of and (of == base or lexicon.knows(key_of(of, [token]))):
                    continue  # the A of this very name, or of a declared alpha_A
                scripts, _ = read_scripts(member, place + 1)
                if not scripts.below or not lexicon.knows(key_of(letter, scripts.below, scripts.above, scripts.primes)):
                    return False
    return True


def is_label(statement: RawStatement, word: str) -> bool:
    """Is the word below a left side a capital that its right side does not have, as in h_A = 2a beside a declared h?"""
    rights = {token.text for member in statement.members[1:] for token in member}
    return len(word) == 1 and word.isupper() and word not in rights


def reads_whole(statement: RawStatement, base: str) -> bool:
    """Does a right side read a name without an index?"""
    return any(
        token.text == base and (place + 1 == len(member) or member[place + 1].text not in ("_", "(", "["))
        for member in statement.members[1:]
        for place, token in enumerate(member)
    )


def add_general(lexicon: Lexicon, statements: Sequence[RawStatement]) -> None:
    r"""Add what left sides give at a declared number and others read elsewhere: \alpha_t = ... beside \alpha_s, an
    array, and \phi_\beta(x) = ... beside \phi_1(z), a family of functions; and what those need at that number."""
    given = [item for statement in statements if (item := given_at_number(statement, lexicon)) is not None]
    given = [item for item in given if not is_given_by_letter(item[1], statements, lexicon)]
    waiting = [item for item in given if is_read_elsewhere(item[1], statements, lexicon)]
    for _, left, statement in waiting:
        check_names_letter(left, statement)
    while waiting:
        base, left, statement = waiting.pop()
        letter = left.scripts.below[0].text
        check_parts(statement, letter, given, statements, lexicon)
        lexicon.general[base] = letter
        waiting += [
            other
            for other in given
            if other[0] not in lexicon.general
            and other[1].scripts.below[0].text == letter
            and any(token.text == other[1].base for member in statement.members[1:] for token in member)
        ]
        lexicon.axes[base] = 1
        if left.arguments is not None:
            lexicon.families.add(base)
            continue
        lexicon.variables.add(base)
        lexicon.arrays.add(base)
        lexicon.indices.add(letter + BESIDE)


def check_names_letter(left: Left, statement: RawStatement) -> None:
    """Refuse g_n = 0 beside g_1, which holds at n alone, or at every index: nothing on its right side tells."""
    letter = left.scripts.below[0]
    if not any(token.text == letter.text for member in statement.members[1:] for token in member):
        said = f"{left.base} is given at {letter.text} by what does not read {letter.text}, and read at other indices"
        raise fault(f"{said}; give it at an index that runs, as in {left.base}_i = ...", statement.members[0][0])


def check_parts(
    statement: RawStatement,
    letter: str,
    given: Sequence[tuple[str, Left, RawStatement]],
    statements: Sequence[RawStatement],
    lexicon: Lexicon,
) -> None:
    """Refuse a part of g_n = ..., read at other indices, that reads n itself, as r of g_n = r x_n with r = n / 2 does:
    it may stand for its value at n or go with the index."""
    seen, waiting = [item[2] for item in given], [statement]
    while waiting:
        current = waiting.pop()
        names = {name for member in current.members[1:] for name in lexicon.names_in(member)} - {letter}
        for other in statements:
            left = read_left(other.members[0], lexicon) if other not in seen and is_defining(other) else None
            if left is None or left.base not in names or letter in lexicon.names_in(left.scripts.below):
                continue
            if letter in lexicon.names_in(left.arguments or ()):
                continue
            seen.append(other)
            waiting.append(other)
            at = next((part for member in other.members[1:] for part in member if part.text == letter), None)
            if at is not None:
                fact = f"{left.base} reads {letter} and is part of what holds at other indices than {letter}"
                raise fault(f"{fact}; write it in, or give it an index too", at)


def given_at_number(statement: RawStatement, lexicon: Lexicon) -> tuple[str, Left, RawStatement] | None:
    """A left side that is x_t or f_t(x) with a declared number t, and what x and f alone are called."""
    left = read_left(statement.members[0], lexicon)
    if left is None or not is_defining(statement) or len(left.scripts.below) != 1 or left.scripts.above:
        return None
    bound = lexicon.integers | (lexicon.numbers & lexicon.indices)  # a size over which a sum runs too
    numbers = bound if left.arguments is None else lexicon.numbers
    base = key_of(left.base, (), (), left.scripts.primes)
    own = key_of(left.base, left.scripts.below, (), left.scripts.primes)
    is_fresh = left.scripts.below[0].text in numbers and not lexicon.knows(base) and not lexicon.knows(own)
    return (base, left, statement) if is_fresh else None


def is_given_by_letter(left: Left, statements: Sequence[RawStatement], lexicon: Lexicon) -> bool:
    """Has another left side the same name with a letter that has no value, as g_i = ... has beside g_n = x_n?"""
    for statement in statements:
        other = read_left(statement.members[0], lexicon) if is_defining(statement) else None
        if other is None or (other.base, other.scripts.primes) != (left.base, left.scripts.primes):
            continue
        below = split_commas(unwrapped(other.scripts.below))
        if any(len(piece) == 1 and piece[0].kind == "name" and piece[0].text not in lexicon.numbers for piece in below):
            return True
    return False


def is_read_elsewhere(left: Left, statements: Sequence[RawStatement], lexicon: Lexicon) -> bool:
    """Is a name read at another index than on its left side: at x_{t-1}, at a letter s that runs, or at a number where
    no left side gives it?  A function also at anything else."""
    own = left.scripts.below[0].text
    lefts = [read_left(statement.members[0], lexicon) for statement in statements if is_defining(statement)]
    others = {other.scripts.below for other in lefts if other is not None and other.base == left.base}
    for statement in statements:
        for member in statement.members[1:]:
            for place, token in enumerate(member):
                if token.text != left.base or place + 1 == len(member) or member[place + 1].text not in ("_", "^"):
                    continue
                scripts, _ = read_scripts(member, place + 1)
                if scripts.primes != left.scripts.primes:
                    continue
                letters = set(lexicon.names_in(scripts.below)) & {own, *lexicon.indices}
                is_number = all(part.kind == "number" for part in scripts.below)
                is_missing = bool(scripts.below) and flat(scripts.below) not in map(flat, others)
                if is_missing and (is_number or left.arguments is not None):
                    letters |= {own}
                is_known = lexicon.knows(key_of(left.base, scripts.below, scripts.above, scripts.primes))
                if letters and (flat(scripts.below) != own or own in lexicon.indices) and not is_known:
                    return True
    return False


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
    defining = [left for left, statement in lefts if left is not None and is_defining(statement)]
    defining.sort(key=lambda left: left.arguments is None)  # f(z) = ... makes a function of f before f_i = f(x_i)
    for base in columns(defining, lexicon):
        lexicon.axes.setdefault(base, 2)
    lexicon.defined = {left.base for left in defining}.union(*map(parameters_of, defining)) - lexicon.indices
    for left in defining:
        add_left(lexicon, left)
    for left in defining:
        if left.base in lexicon.functions or resolve_left(lexicon, left)[0] in lexicon.functions:
            add_parameters(lexicon, left)


def columns(defining: Sequence[Left], lexicon: Lexicon) -> set[str]:
    """The bases that left sides give at one letter and several digits, as B_{i1} = 1 and B_{i2} = x_i do: matrices."""
    found: dict[tuple[str, str], set[str]] = {}
    for left in defining:
        below = left.scripts.below
        if [token.kind for token in below] == ["name", "number"] and left.arguments is None and not left.scripts.above:
            found.setdefault((left.base, below[0].text), set()).add(below[1].text)
    return {base for (base, letter), digits in found.items() if len(digits) > 1 and letter in lexicon.indices}


def add_parameters(lexicon: Lexicon, left: Left) -> None:
    """Add the parameters of a function, which have a value in its body: z^2 is a power, and no name of its own."""
    words = lexicon.names_in(left.arguments or ())
    alone = parameters_of(left) - lexicon.indices - lexicon.functions
    lexicon.parameters |= {name for name in words if name in alone} - lexicon.variables
    lexicon.variables |= lexicon.parameters


def parameters_of(left: Left) -> set[str]:
    r"""The letters that are arguments of a left side alone, or with a power, as \sigma^2 of p(x \mid \mu, \sigma^2)."""
    pieces = split_at(left.arguments or (), (",", ";", "|", r"\mid", r"\|"))
    return {piece[0].text for piece in pieces if len(piece) == 1 or (len(piece) > 2 and piece[1].text == "^")}


def is_defining(statement: RawStatement) -> bool:
    """May its left side be a name that it gives?"""
    signs = ("=", ":=", r"\leftarrow", r"\approx")
    return bool(statement.relations) and statement.relations[0].text in signs and statement.before != "if"


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
    is_numbered = bool(scripts.below) and all(token.kind == "number" for token in scripts.below)  # softmax_1(x)
    is_operator = bool(scripts.below) and not is_numbered and known_function(left.base) in REDUCERS
    if left.arguments is not None and (is_derivative or is_operator):
        return
    if left.arguments is not None and not lexicon.knows(key):
        if is_array:
            lexicon.applied.add(key)
            lexicon.variables.add(key)
            lexicon.arrays.add(key)
            lexicon.axes.setdefault(key, count_indices(below, lexicon) + count_indices(left.arguments, lexicon))
        else:
            lexicon.functions.add(key)
            if below and known_function(left.base) not in REDUCERS:
                lexicon.families.add(left.base)
                lexicon.axes.setdefault(left.base, count_indices(below, lexicon))
    elif left.arguments is None or key not in lexicon.functions:
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
