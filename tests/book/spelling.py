"""Collect the words that a reader meets: of pages as Sphinx has read them, and of comments and docstrings."""

from __future__ import annotations

import ast
import io
import pickle
import re
import subprocess
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

# Names of files and of code stand in captions and comments too.
PATH = re.compile(r"\S*\w[./]\w\S*|\S*_\S*")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
NOT_PROSE = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, addnodes.desc)
# British English with -ize, as the Oxford dictionary has it: a word in -ise that could be written so is not ours.
ENDING = re.compile(r"is(e|ed|er|ers|es|ing|ation|ations)$")


def words_of_pages(doctrees: Path) -> dict[str, str]:
    """Return every word of prose in a folder of doctrees, with a page on which it stands."""
    found: dict[str, str] = {}
    for file in sorted(doctrees.rglob("*.doctree")):
        document = pickle.loads(file.read_bytes())
        page = file.relative_to(doctrees).with_suffix(".md").as_posix()
        for text in prose_of_page(document):
            found |= dict.fromkeys(words_of(text), page)
    return found


def prose_of_page(document: nodes.document) -> Iterator[str]:
    """Yield the texts of a page that are English: no code, no formula, no key of a source."""
    for text in document.findall(nodes.Text):
        if is_prose(text.parent):
            yield text.astext()
    for image in document.findall(nodes.image):
        yield str(image.get("alt", ""))
    for meta in document.findall(nodes.meta):
        yield str(meta.get("content", ""))


def is_prose(node: nodes.Element | None) -> bool:
    """Whether a node and all around it are English: a value still holds its expression, a reference its label.

    What {api} shows comes from docstrings, and is looked at with the code.
    """
    while node is not None:
        is_key = isinstance(node, addnodes.pending_xref) and not node.get("refexplicit")
        of_code = any(str(name).startswith("api-") for name in node.get("classes", ()))
        if isinstance(node, NOT_PROSE) or is_key or of_code or "scratchbook" in node or "scratchbook_tally" in node:
            return False
        node = node.parent
    return True


def words_of_code(paths: Iterable[Path]) -> dict[str, str]:
    """Return every word in comments and docstrings that is no name of the code, with a file in which it stands."""
    names: set[str] = set()
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME:
                names |= {part.lower() for part in WORD.findall(token.string)}
            if token.type == tokenize.COMMENT and not re.search(r"\b(?:tag|end)::|[↔]", token.string):
                texts[path.name].append(token.string)
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        texts[path.name] += [ast.get_docstring(it) or "" for it in ast.walk(tree) if isinstance(it, documented)]
    return {
        word: file
        for file, pieces in texts.items()
        for piece in pieces
        for word in words_of(piece.partition("Source: ")[0])
        if word.lower() not in names and len(word) > 2  # or it is mathematics
    }


def words_of(text: str) -> set[str]:
    """Return the words of a text, without the possessive."""
    return {word.removesuffix("'s") for word in WORD.findall(PATH.sub(" ", text).replace("’", "'"))}


def unknown_words(words: Iterable[str]) -> set[str]:
    """Return the words that British English does not have, by hunspell."""
    command = ["hunspell", "-d", "en_GB", "-i", "utf-8", "-l"]
    text = "\n".join(sorted(words))
    return set(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split())


def spelled_in_two_ways(words: Iterable[str]) -> set[str]:
    """Return the words in -ise that this book writes with -ize."""
    other = {ENDING.sub(r"iz\1", word): word for word in words if ENDING.search(word)}
    unknown = unknown_words(other)
    return {word for form, word in other.items() if form not in unknown}


def mistakes(words: Mapping[str, str], ours: set[str]) -> list[str]:
    """Return "page: word" for each word that neither English nor the book's own list has."""
    wrong = (unknown_words(words) - ours) | spelled_in_two_ways(words)
    return sorted(f"{words[word]}: {word}" for word in wrong)
