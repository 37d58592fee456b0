"""What each LaTeX command is: a letter, a space, a size, a style, an accent, a relation.  Constants only."""

from __future__ import annotations

from typing import Final

SPACES: Final = frozenset(
    r"\, \; \: \! \> \  \/ \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits \nonumber \notag "
    r"\thinspace \medspace \thickspace \negthinspace \enspace \allowbreak \relax \strut \mathstrut \noindent \hfill "
    r"\centering \hline \- \null \nobreak \enskip".split()
) | {"\\ ", "\\\n", "~"}
WIDE_SPACES: Final = frozenset({r"\quad", r"\qquad"})
# Commands that show nothing of their argument, by the number of arguments.
SILENT: Final = {
    r"\label": 1, r"\tag": 1, r"\tag*": 1, r"\hspace": 1, r"\hspace*": 1, r"\vspace": 1, r"\phantom": 1,
    r"\hphantom": 1, r"\vphantom": 1, r"\color": 1, r"\intertext": 1, r"\shortintertext": 1, r"\eqref": 1,
    r"\ref": 1, r"\cite": 1, r"\footnote": 1,
}  # fmt: skip
# Commands that show one of their arguments as it is: number of arguments, and which is shown.
CLEAR: Final = {
    r"\boxed": (1, 0), r"\mathop": (1, 0), r"\mathrel": (1, 0), r"\mathbin": (1, 0), r"\mathord": (1, 0),
    r"\mathopen": (1, 0), r"\mathclose": (1, 0), r"\mathpunct": (1, 0), r"\mathinner": (1, 0), r"\ensuremath": (1, 0),
    r"\smash": (1, 0), r"\fbox": (1, 0), r"\textcolor": (2, 1), r"\colorbox": (2, 1), r"\cancel": (1, 0),
    r"\htmlClass": (2, 1), r"\class": (2, 1), r"\cssId": (2, 1), r"\href": (2, 1),
}  # fmt: skip
SIZES: Final = frozenset(
    "\\" + name
    for name in "big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm".split()
)
BRACES: Final = frozenset({r"\underbrace", r"\overbrace", r"\underbracket", r"\overbracket"})

# Styles that change how a letter looks but not which one it is, and styles that make words.
PLAIN_STYLES: Final = frozenset(
    r"\mathbf \boldsymbol \bm \vec \mathit \mathnormal \pmb \symbf \underline \mathbfit \bold".split()
)
WORD_STYLES: Final = frozenset(
    r"\mathrm \mathsf \mathtt \operatorname \operatorname* \textsf \texttt \textsc \symup".split()
)
TEXT_STYLES: Final = frozenset(r"\text \textrm \textbf \textit \textnormal \mbox \hbox \emph \textup \textsl".split())
LETTER_STYLES: Final = {
    r"\mathcal": r"\mathcal", r"\mathscr": r"\mathcal", r"\cal": r"\mathcal", r"\mathfrak": r"\mathfrak",
    r"\mathbb": r"\mathbb", r"\mathds": r"\mathbb", r"\mathbbm": r"\mathbb", r"\Bbb": r"\mathbb",
}  # fmt: skip
SWITCHES: Final = {
    r"\bf": r"\mathbf", r"\rm": r"\mathrm", r"\it": r"\mathit", r"\sf": r"\mathsf", r"\tt": r"\mathtt",
    r"\cal": r"\mathcal", r"\bfseries": r"\mathbf", r"\em": r"\mathit", r"\boldmath": r"\mathbf",
}  # fmt: skip
ACCENTS: Final = {
    r"\bar": "bar", r"\overline": "bar", r"\hat": "hat", r"\widehat": "hat", r"\tilde": "tilde", r"\widetilde": "tilde",
    r"\dot": "dot", r"\ddot": "ddot", r"\check": "check", r"\breve": "breve", r"\mathring": "ring", r"\acute": "acute",
    r"\grave": "grave",
}  # fmt: skip

LETTERS: Final = frozenset(
    "\\" + name
    for name in (
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi "
        "omicron pi "
        "varpi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma "
        "Upsilon "
        "Phi Psi Omega ell hbar imath jmath emptyset varnothing"
    ).split()
)
# Commands that show an upright word.
WORDS: Final = frozenset(
    "exp log ln lg sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan max min arg argmax argmin det "
    "dim sup "
    "inf gcd ker Pr deg".split()
)

# Two spellings of one sign.
SAME: Final = {
    r"\leq": r"\le", r"\geq": r"\ge", r"\leqslant": r"\le", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<",
    r"\gt": ">",
    r"\gets": r"\leftarrow", r"\coloneqq": ":=", r"\coloneq": ":=", r"\triangleq": ":=", r"\equiv": ":=",
    r"\doteq": ":=",
    r"\eqdef": ":=", r"\defeq": ":=", r"\simeq": r"\approx", r"\cong": r"\approx", r"\approxeq": r"\approx",
    r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\dotsc": r"\ldots", r"\dotsb": r"\ldots", r"\dotsm": r"\ldots",
    r"\hdots": r"\ldots", r"\mathellipsis": r"\ldots", r"\ast": "*", r"\star": "*", r"\dfrac": r"\frac",
    r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\intercal": r"\top", r"\vert": "|", r"\Vert": r"\|",
    r"\parallel": r"\|",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\colon": ":", r"\land": r"\wedge",
    r"\lor": r"\vee", r"\divides": r"\mid", r"\Pi": r"\Pi", r"\odotimes": r"\odot", r"\bigodot": r"\odot",
    r"\divisionsymbol": r"\div", r"\lgroup": "(", r"\rgroup": ")", r"\thickapprox": r"\approx", r"\nicefrac": r"\frac",
    r"\sfrac": r"\frac", r"\longleftarrow": r"\leftarrow", r"\Leftarrow": r"\leftarrow", r"\owns": r"\ni",
    r"\slash": "/",
    r"\%": "%", r"\dag": r"\dagger", r"\nsubseteq": r"\not", r"\mathsl": r"\mathit", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\circledast": r"\odot", r"\llbracket": "[", r"\rrbracket": "]", r"\mathbf1": "1",
}  # fmt: skip
DELIMITERS: Final = frozenset(["(", ")", "[", "]", "|", "/", ".", "<", ">"]) | frozenset(
    r"\| \{ \} \lvert \rvert \lVert \rVert \langle \rangle \lfloor \rfloor \lceil \rceil \vert \Vert \lbrace \rbrace "
    r"\lbrack "
    r"\rbrack \backslash \mid \lgroup \rgroup".split()
)
RELATIONS: Final = frozenset(["=", ":=", r"\leftarrow", r"\approx", r"\le", r"\ge", "<", ">", r"\ne", r"\in"])
REFUSED: Final = {
    r"\propto": "leaves a factor open; write '=' with the factor, or ':nocheck: reason'",
    r"\sim": "says how a value is drawn, which has no value of its own; "
    "write the draw as '=' with its noise as an input, say it in the sentence, or ':nocheck: reason'",
    r"\int": "has no finite value here; write the closed form or a sum",
    r"\lim": "has no finite value here; write the closed form",
    r"\limsup": "has no finite value here; write the closed form",
    r"\liminf": "has no finite value here; write the closed form",
    r"\pm": "is two equations in one; write both",
    r"\mp": "is two equations in one; write both",
    r"\otimes": "is an outer product to some and elementwise to others; write x y^\\top or x \\odot y",
    r"\oplus": "is a sum to some and a concatenation to others; write x + y or [x, y]",
    r"\ominus": "has several meanings; write what it computes",
    r"\bigoplus": "has several meanings; write \\sum or \\operatorname{Concat}(...)",
    r"\bigcup": "makes a set, which has no value here; write the condition that its members meet",
    r"\cup": "makes a set, which has no value here; write \\sum_{j \\in A \\cup B}, or |A \\cup B|",
    r"\cap": "makes a set, which has no value here; write \\sum_{j \\in A \\cap B}, or |A \\cap B|",
    r"\dagger": "is a pseudo-inverse to some and a conjugate to others; write the product out",
    r"\Rightarrow": "is a step of an argument; give each side its own equation",
    r"\implies": "is a step of an argument; give each side its own equation",
    r"\iff": "is a step of an argument; give each side its own equation",
    r"\to": "is a limit or a mapping; write '='",
    r"\mapsto": "is a mapping; write f(x) = ...",
    r"\vdots": "stands for elements that are not written; give each element by its index: a_{ij} = ...",
    r"\ddots": "stands for elements that are not written; give each element by its index: a_{ij} = ...",
    r"\overset": "changes the sign under it; write the sign alone",
    r"\perp": "is a statement without a value",
    r"\forall": "belongs to a range: \\quad \\forall i",
    r"\ll": "has no exact meaning; write '<'",
    r"\gg": "has no exact meaning; write '>'",
    r"\subset": "is a statement about sets, which have no value here",
    r"\subseteq": "is a statement about sets, which have no value here",
    r"\setminus": "makes a set, which has no value here; write the condition: j \\ne i",
    r"\#": "stands before what is counted; name that number with a letter or a word",
    r"\&": "is not mathematics",
    r"\$": "is not mathematics",
    r"\over": "is old TeX; write \\frac{a}{b}",
    r"\bigcap": "makes a set, which has no value here; write the condition that its members meet",
}  # fmt: skip

CONDITIONAL: Final = frozenset(["if", "when", "whenever"])
QUANTIFIERS: Final = frozenset(["all", "each", "every"])  # behind "for"
CONNECTIVES: Final = frozenset(
    "where with and for if otherwise else all each every any such that s.t. st so then hence thus therefore i.e. ie "
    "e.g. let given "
    "when while as or is in the are is here which but subject to over whenever unless even odd not".split()
)
EVALUATED_ENVIRONMENTS: Final = frozenset(
    "cases dcases rcases pmatrix bmatrix matrix smallmatrix vmatrix Vmatrix Bmatrix array pmatrix* bmatrix*".split()
)
LAYOUT_ENVIRONMENTS: Final = frozenset(
    "aligned align align* alignedat alignat alignat* split gather gather* gathered multline multline* equation "
    "equation* "
    "displaymath math eqnarray eqnarray* flalign flalign* subequations multlined".split()
)

# Commands that the parser itself reads.
SIGNS: Final = frozenset(
    r"\frac \sqrt \sum \prod \cdot \times \odot \circ \div \infty \partial \nabla \top \in \ldots \lvert \rvert "
    r"\lVert \rVert \| \{ \} \langle \rangle \lfloor \rfloor \lceil \rceil \mid \bmod \mod \pmod \binom \wedge "
    r"\vee \begin \end \leftarrow \approx \le \ge \ne \prime \underbrace \notin \backslash \Re \Im \operatorname "
    r"\neg".split()
)
EVERY_COMMAND: Final = sorted(
    SIGNS | LETTERS | SPACES | SIZES | BRACES | PLAIN_STYLES | WORD_STYLES | TEXT_STYLES | set(SAME) | set(ACCENTS)
    | {r"\substack"}
    | set(LETTER_STYLES) | set(CLEAR) | set(SILENT) | {"\\" + word for word in WORDS} | {r"\left", r"\right", r"\quad"}
)  # fmt: skip
