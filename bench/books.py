"""Write one generated live book in the form of each system, and know what every block must print.

A book has chapters of prose, equations, a citation and blocks of code.  A block imports NumPy and the shared module
`transformer.py`, calls one of its functions and prints three lines; every second chapter also shows a region of the
module.  The text is a pure function of the sizes and the revisions, and a file is written only when it changes: an
edit is the same call with another revision.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MODULE = "transformer"
KINDS = ("rmsnorm", "swiglu", "rope", "attention", "block")

# tag:: and end:: are ours, --8<-- is of MkDocs; both are comments for all others.
SOURCE = '''\
"""One block of a transformer, small enough to read."""

import numpy as np


# tag::rmsnorm[]
# --8<-- [start:rmsnorm]
def rmsnorm(x, gain, epsilon=1e-6):
    """Scale each row to a root mean square of one, then by the gain."""
    power = np.mean(np.square(x), axis=-1, keepdims=True)
    return gain * x / np.sqrt(power + epsilon)
# --8<-- [end:rmsnorm]
# end::rmsnorm[]


# tag::swiglu[]
# --8<-- [start:swiglu]
def swiglu(x, gate, up, down):
    """Let one projection decide how much of another passes."""
    opened = x @ gate
    hidden = opened / (1 + np.exp(-opened)) * (x @ up)
    return {scale} * hidden @ down
# --8<-- [end:swiglu]
# end::swiglu[]


# tag::rope[]
# --8<-- [start:rope]
def rope(x, base=1e4):
    """Turn pairs of features by angles that grow with the position."""
    half = x.shape[-1] // 2
    turns = np.arange(x.shape[-2])[:, None] * base ** (-np.arange(half) / half)
    even, odd = x[..., :half], x[..., half:]
    real = even * np.cos(turns) - odd * np.sin(turns)
    return np.concatenate([real, even * np.sin(turns) + odd * np.cos(turns)], axis=-1)
# --8<-- [end:rope]
# end::rope[]


# tag::attention[]
# --8<-- [start:attention]
def attention(x, query, key, value, output, n_heads=4):
    """Mix each position with those before it, head by head."""
    length, width = x.shape

    def heads(matrix):
        return (x @ matrix).reshape(length, n_heads, -1).swapaxes(0, 1)

    scores = rope(heads(query)) @ rope(heads(key)).swapaxes(1, 2) / np.sqrt(width / n_heads)
    scores = np.where(np.tri(length) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ heads(value)).swapaxes(0, 1).reshape(length, width) @ output
# --8<-- [end:attention]
# end::attention[]


# tag::block[]
# --8<-- [start:block]
def draw(generator, rows, columns):
    """Draw weights that keep the size of what they multiply."""
    return generator.standard_normal((rows, columns)) / np.sqrt(rows)


def block(x, generator):
    """Add attention, then the gated layer, each to what went in."""
    width = x.shape[-1]
    square = [draw(generator, width, width) for _ in range(4)]
    x = x + attention(rmsnorm(x, np.ones(width)), *square)
    gate, up, down = (draw(generator, width, width) for _ in range(3))
    return x + swiglu(rmsnorm(x, np.ones(width)), gate, up, down)
# --8<-- [end:block]
# end::block[]
'''

BLOCK = """\
import numpy as np
import transformer as tf

generator = np.random.default_rng({seed})
x = {scale} * generator.standard_normal(({length}, {width}))
{call}
print("{tag} {kind} gives", y.shape)
print("{tag} mean", round(float(y.mean()), 6), "spread", round(float(y.std()), 6))
print("{tag} begins", np.round(y[0, :4], 4).tolist())
"""
CALLS = {
    "rmsnorm": "y = tf.rmsnorm(x, np.ones({width}))",
    "swiglu": "y = tf.swiglu(x, *(tf.draw(generator, {width}, {width}) for _ in range(3)))",
    "rope": "y = tf.rope(x)",
    "attention": "y = tf.attention(x, *(tf.draw(generator, {width}, {width}) for _ in range(4)))",
    "block": "y = tf.block(x, generator)",
}

WORKS = """\
@article{vaswani2017, author={Vaswani, Ashish}, title={Attention Is All You Need}, journal={NeurIPS}, year={2017}}
@article{zhang2019, author={Zhang, Biao}, title={Root Mean Square Layer Normalization}, journal={NeurIPS}, year={2019}}
@article{shazeer2020, author={Shazeer, Noam}, title={{GLU} Variants Improve Transformer}, journal={arXiv}, year={2020}}
@article{su2021, author={Su, Jianlin}, title={{RoFormer}}, journal={arXiv}, year={2021}}
"""
KEYS = ("vaswani2017", "zhang2019", "shazeer2020", "su2021")

SENTENCES = (
    "Every position carries a vector of $d$ numbers from layer to layer.",
    "A layer that reads normalised input need not know how large its input is.",
    "Each of the $h$ heads sees $d / h$ numbers and mixes positions by itself.",
    "What comes later in the text must not be seen, so its scores are removed.",
    "A rotation keeps lengths, and so only the distance of two positions matters.",
    "The gate says how much of the other projection may pass.",
    "Weights drawn with variance $1 / d$ keep a product as wide as its factors.",
    "Three lines by hand are enough to check the formula.",
    "The generator starts from a seed, so these numbers are the same every time.",
    "The weights of each row sum to one.",
    "Taking the largest score away changes nothing and keeps the exponential finite.",
    "The mean of the squares, $\\tfrac{1}{d} \\sum_i x_i^2$, needs one pass over the row.",
    "Nothing is lost here when the mean stays where it is.",
    "Slow rotations tell far positions apart, fast ones near positions.",
    "A wrong axis shows in the shape first, so the shape is printed too.",
)
EQUATIONS = (
    r"r(x) = \sqrt{\tfrac{1}{d} \sum_{i=1}^{d} x_i^2 + \varepsilon}",
    r"s(x) = \bigl(\sigma(x G) \odot x U\bigr) D",
    r"A(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V",
    r"R \begin{pmatrix} a \\ b \end{pmatrix} = \begin{pmatrix} a \cos m\theta - b \sin m\theta \\"
    r" a \sin m\theta + b \cos m\theta \end{pmatrix}",
    r"y = x + A(r(x)), \qquad z = y + s(r(y))",
)


@dataclass(frozen=True)
class Book:
    """The content, whatever the system.

    pages, blocks: how many chapters, and blocks in each.   The revisions change a number in one block in the middle,
    a number in the body of `swiglu`, on which two blocks of five depend, and a word of prose.
    """

    pages: int
    blocks: int
    block_revision: int = 0
    module_revision: int = 0
    prose_revision: int = 0

    @cached_property
    def module(self) -> str:
        """The shared module."""
        return SOURCE.replace("{scale}", f"{1 + 0.01 * self.module_revision:.2f}")

    def code(self, page: int, index: int) -> str:
        """One block."""
        number = page * self.blocks + index
        kind = KINDS[number % len(KINDS)]
        is_edited = (page, index) == (self.pages // 2, self.blocks // 2)
        fields = {
            "seed": 1000 + number,
            "scale": 1 + 0.01 * self.block_revision * is_edited,
            "length": 8 + number % 13,
            "width": (16, 32, 48, 64)[number // len(KINDS) % 4],
            "tag": f"p{page:04d}b{index:03d}",
            "kind": kind,
        }
        return BLOCK.format(call=CALLS[kind].format(**fields), **fields)

    @cached_property
    def outputs(self) -> dict[str, list[str]]:
        """What each block of each page prints, each run in names of its own."""
        module = types.ModuleType(MODULE)
        exec(compile(self.module, MODULE, "exec"), module.__dict__)
        sys.modules[MODULE] = module
        return {
            page_name(page): [printed(self.code(page, index)) for index in range(self.blocks)]
            for page in range(self.pages)
        }

    def listings(self, page: int) -> str:
        """All code of a page as a file of tagged regions, for a book that runs nothing."""
        return "".join(
            f"# --8<-- [start:b{index}]\n{self.code(page, index)}# --8<-- [end:b{index}]\n"
            for index in range(self.blocks)
        )


def printed(code: str) -> str:
    """Run code and return what it prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "block", "exec"), {})
    return output.getvalue()


def page_name(page: int) -> str:
    """Name a chapter."""
    return f"page_{page:04d}"


Block = Callable[[Book, int, int], str]
Files = dict[str, str]


def chapter(book: Book, page: int, block: Block, region: Callable[[str], str], *, is_sphinx: bool = True) -> str:
    """Write one chapter in Markdown; `block` and `region` are what differs between systems."""
    chance = random.Random(page)

    def paragraph() -> str:
        return "\n".join(chance.sample(SENTENCES, 5))

    before = max(page - 1, 0)
    word = f"Revision {book.prose_revision}.\n" if page == book.pages // 2 and book.prose_revision else ""
    cited = f"{{cite:p}}`{KEYS[page % 4]}`" if is_sphinx else f"[@{KEYS[page % 4]}]"
    earlier = f"{{eq}}`eq-{before}-0`" if is_sphinx else f"[chapter {before + 1}]({page_name(before)}.md)"
    parts = [f"# Chapter {page + 1}", word + paragraph(), f"This follows {cited}.\nCompare {earlier}."]
    if page % 2 == 0:
        parts += ["## The code", region(KINDS[page // 2 % len(KINDS)])]
    for number in range(4):
        latex = EQUATIONS[(page + number) % len(EQUATIONS)]
        label = f"eq-{page}-{number}"
        parts += [paragraph(), f"```{{math}}\n:label: {label}\n{latex}\n```" if is_sphinx else f"$$\n{latex}\n$$"]
    parts.append("## Experiments")
    for index in range(book.blocks):
        parts += [chance.choice(SENTENCES), block(book, page, index)]
    parts += ["## Remarks", paragraph()]
    return "\n\n".join(parts) + "\n"


def literal_region(name: str) -> str:
    """Show a region as Sphinx does by itself."""
    marks = f":start-after: '# --8<-- [start:{name}]'\n:end-before: '# --8<-- [end:{name}]'"
    return f"```{{literalinclude}} scratch/{MODULE}.py\n:language: python\n{marks}\n```"


def static_block(book: Book, page: int, index: int) -> str:
    """Show code from a file, and its output typed by hand."""
    marks = f":start-after: '# --8<-- [start:b{index}]'\n:end-before: '# --8<-- [end:b{index}]'"
    code = f"```{{literalinclude}} listings/{page_name(page)}.py\n:language: python\n{marks}\n```"
    return f"{code}\n\n```{{code-block}} text\n{book.outputs[page_name(page)][index]}```"


def directive(opening: str) -> Block:
    """Have a directive show and run the code of its body."""
    return lambda book, page, index: f"```{opening}\n{book.code(page, index)}```"


def sphinx_book(
    book: Book,
    extensions: list[str],
    block: Block,
    settings: str = "",
    front: str = "",
    region: Callable[[str], str] | None = None,
) -> Files:
    """Write a book for Sphinx with some extensions."""
    show = region or literal_region
    listing = "\n".join(page_name(page) for page in range(book.pages))
    conf = f"""\
project = "A live book"
extensions = {[*extensions, "sphinxcontrib.bibtex"]!r}
myst_enable_extensions = ["dollarmath"]
bibtex_bibfiles = ["works.bib"]
exclude_patterns = ["scratch", "listings", ".jupyter_cache"]
{settings}"""
    chapters = {f"{page_name(page)}.md": front + chapter(book, page, block, show) for page in range(book.pages)}
    return {
        "conf.py": conf,
        "works.bib": WORKS,
        "index.md": f"# A live book\n\n```{{toctree}}\n{listing}\nworks\n```\n",
        "works.md": "# Works\n\n```{bibliography}\n```\n",
        f"scratch/{MODULE}.py": book.module,
        **chapters,
    }


def floor(book: Book) -> Files:
    """The same pages, static: the limit for a system that also runs them."""
    files = sphinx_book(book, ["myst_parser"], static_block)
    return files | {f"listings/{page_name(page)}.py": book.listings(page) for page in range(book.pages)}


def ours(book: Book) -> Files:
    """Live blocks and live regions; mathematics is left to the browser, as all others do."""

    def region(name: str) -> str:
        return f"```{{live}} {MODULE}.py\n:tag: {name}\n:no-output: a definition\n```"

    return sphinx_book(
        book, ["myst_parser", "scratchbook"], directive("{live}"), 'html_math_renderer = "mathjax"\n', region=region
    )


def raw(book: Book) -> Files:
    """The code alone."""
    return {f"scratch/{MODULE}.py": book.module} | {
        f"listings/{page_name(page)}.py": book.listings(page) for page in range(book.pages)
    }


def execcode(book: Book) -> Files:
    """sphinx-exec-code: an interpreter a block."""
    settings = 'exec_code_working_dir = "."\nexec_code_source_folders = ["scratch"]\n'
    return sphinx_book(book, ["myst_parser", "sphinx_exec_code"], directive("{exec_code}"), settings)


FRONT = """\
---
file_format: mystnb
kernelspec:
  name: python3
  display_name: Python 3
---

"""


def mystnb(mode: str) -> Callable[[Book], Files]:
    """MyST-NB: a kernel a page."""
    settings = f'nb_execution_mode = "{mode}"\nnb_execution_raise_on_error = True\nnb_merge_streams = True\n'
    return lambda book: sphinx_book(book, ["myst_nb"], directive("{code-cell} python"), settings, FRONT)


def jupyter(book: Book) -> Files:
    """jupyter-sphinx: a kernel a page."""
    return sphinx_book(book, ["myst_parser", "jupyter_sphinx"], directive("{jupyter-execute}"))


MKDOCS = """\
site_name: A live book
theme:
  name: mkdocs
plugins:
  - search
  - bibtex:
      bib_file: docs/works.bib
  - markdown-exec
markdown_extensions:
  - pymdownx.superfences
  - pymdownx.highlight
  - pymdownx.arithmatex:
      generic: true
  - pymdownx.snippets:
      base_path: ["scratch"]
"""


def mkdocs(book: Book) -> Files:
    """markdown-exec on MkDocs: no numbers of equations, no incremental build."""

    def block(book: Book, page: int, index: int) -> str:
        return f'```python exec="on" source="above" result="text"\n{book.code(page, index)}```'

    def region(name: str) -> str:
        return f'```python\n--8<-- "{MODULE}.py:{name}"\n```'

    pages = {
        f"docs/{page_name(page)}.md": chapter(book, page, block, region, is_sphinx=False) + "\n\\bibliography\n"
        for page in range(book.pages)
    }
    fixed = {"mkdocs.yml": MKDOCS, "docs/index.md": "# A live book\n", "docs/works.bib": WORKS}
    return {**fixed, f"scratch/{MODULE}.py": book.module, **pages}


def write_files(files: Files, folder: Path) -> None:
    """Write those files whose text has changed."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
