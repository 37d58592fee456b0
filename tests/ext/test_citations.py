"""Every chapter has its own list of works, and its labels are those of the sentences."""

from __future__ import annotations

import os
import pickle

import pytest
from docutils import nodes
from pybtex.richtext import HRef, Protected, Symbol, Tag, Text
from sphinx.cmd.build import build_main

from scratchbook.core.kept import Kept
from scratchbook.ext.citations import AuthorYearLabels, AuthorYearStyle, author_year

BIB = """
@misc{one, title={T}, author={Shazeer, Noam}, year={2020}}
@misc{two, title={T}, author={Zhang, Biao and Sennrich, Rico}, year={2019}}
@misc{many, title={T}, author={Vaswani, A and Shazeer, N and Parmar, N}, year={2017}}
@misc{also, title={U}, author={Shazeer, Noam}, year={2020}}
"""


@pytest.fixture
def entries():
    from pybtex.database import parse_string

    return parse_string(BIB, "bibtex").entries


@pytest.mark.parametrize(
    ("key", "said"),
    [("one", "Shazeer, 2020"), ("two", "Zhang and Sennrich, 2019"), ("many", "Vaswani et al., 2017")],
)
def test_a_label_names_up_to_two_authors(entries, key, said):
    assert author_year(entries[key]) == said


def test_works_that_would_share_a_label_get_letters(entries):
    labels = AuthorYearLabels().format_labels([entries["one"], entries["two"], entries["also"]])

    assert list(labels) == ["Shazeer, 2020a", "Zhang and Sennrich, 2019", "Shazeer, 2020b"]


@pytest.fixture
def two_lists(project):
    """Two chapters that cite one work, each with its own list."""
    page = "# {0}\n\nSee {{cite:p}}`two`.\n\n```{{bibliography}}\n:filter: docname in docnames\n```\n"
    index = page.format("A") + "\n```{toctree}\nb\n```\n"
    project.settings |= {
        "extensions": ["myst_parser", "scratchbook", "sphinxcontrib.bibtex"],
        "bibtex_bibfiles": ["sources.bib"],
        "bibtex_default_style": "author_year",
        "bibtex_reference_style": "author_year",
        "suppress_warnings": ["bibtex.duplicate_citation"],
    }
    project.write({"sources.bib": BIB, "docs/index.md": index, "docs/b.md": page.format("B")})
    return project.build()


def test_a_work_may_stand_in_the_lists_of_two_chapters(two_lists):
    assert two_lists.warnings == []


@pytest.mark.parametrize("docname", ["index", "b"])
def test_a_citation_leads_to_the_list_of_its_own_page(two_lists, docname):
    page = two_lists.doctree(docname)
    (citation,) = page.findall(nodes.citation)
    links = [link for link in page.findall(nodes.reference) if link.get("refid") in citation["ids"]]

    assert links


def test_a_citation_shows_author_and_year(two_lists):
    (link, *_) = [node for node in two_lists.doctree().findall(nodes.reference) if node.astext().startswith("Zhang")]

    assert link.astext() == "Zhang and Sennrich, 2019"


def test_an_unknown_source_is_a_message(project):
    project.settings |= {
        "extensions": ["myst_parser", "scratchbook", "sphinxcontrib.bibtex"],
        "bibtex_bibfiles": ["a.bib"],
    }
    project.write({"a.bib": BIB, "docs/index.md": "# A\n\nSee {cite:p}`nobody`.\n"})

    assert any('"nobody"' in message for message in project.build().warnings)


def test_a_command_of_latex_in_a_title_is_told_at_its_work(project):
    project.settings |= {
        "extensions": ["myst_parser", "scratchbook", "sphinxcontrib.bibtex"],
        "bibtex_bibfiles": ["a.bib"],
    }
    work = '@book{%s, title={%s}, author={J{\\"o}rg, A}, year={1931}, publisher={P \\& $\\alpha$}}\n'
    project.write({"a.bib": work % ("first", "A 100\\% {Title}") + work % ("second", "On \\textit{species}")})
    project.write({"docs/index.md": "# A\n\nSee {cite:p}`first` and {cite:p}`second`.\n\n```{bibliography}\n```\n"})
    for built in (project.build(), project.build()):
        assert built.status == 1
        assert built.warnings == [
            "a.bib:2: WARNING: '\\textit' of 'second' is not understood, and stands in the list of works as it is; "
            "write the words without it [scratchbook.output]"
        ]


BROKEN = {
    "unclosed": (b"\n@book{k, title={T}, year=2020\n\n", "s.bib:4: WARNING: no BibTeX: premature end of file"),
    "a brace too many": (b"@book{k,\n title={A} b}, year=2020}\n", "s.bib:2: WARNING: no BibTeX: '}' expected"),
    "not UTF-8": (b"@book{k,\n title={Caf\xe9}}\n", "s.bib:2: WARNING: byte 0xe9 at offset 20 is not utf-8-sig"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bibliography_that_cannot_be_read_ends_the_build_with_its_line(project, capsys, name):
    content, told = BROKEN[name]
    conf = (project.root / "conf.py").read_text().replace('"scratchbook"]', '"scratchbook", "sphinxcontrib.bibtex"]')
    project.write({"s.bib": content, "conf.py": f"{conf}bibtex_bibfiles = ['s.bib']\n"})

    with pytest.raises(SystemExit) as ended:
        build_main(["-q", "-c", str(project.root), str(project.root / "docs"), str(project.root / "build")])

    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(told)


def test_a_kind_of_work_that_no_style_knows_is_told_and_shown(project):
    project.settings |= {
        "extensions": ["myst_parser", "scratchbook", "sphinxcontrib.bibtex"],
        "bibtex_bibfiles": ["a.bib"],
    }
    project.write({"a.bib": "@zzz{not-cited, title={T}}\n@Report{k, title={Title}, author={B, A}, year={1931}}\n"})
    project.write({"docs/index.md": "# A\n\nSee {cite:p}`k`.\n\n```{bibliography}\n```\n"})
    for built in (project.build(), project.build()):
        assert built.warnings == [
            "a.bib:2: WARNING: @Report is no kind of work that the style knows, so 'k' is shown as @misc; write @book, "
            "@article, @techreport or @misc [scratchbook.output]"
        ]
        assert "Title" in built.text()


class Command:
    """What pickle makes by calling something."""

    def __init__(self, function, *arguments):
        self.made = function, arguments

    def __reduce__(self):
        return self.made


def test_a_text_that_was_kept_comes_back_and_nothing_else_does(tmp_path, monkeypatch):
    text = Text("a", Tag("em", "b"), HRef("https://a.b/", "c"), Symbol("ndash"), Protected("D"))
    kept = Kept(tmp_path / "kept.sqlite")
    kept.put("text", pickle.dumps(text))
    kept.put("hostile", pickle.dumps(Command(os.mkdir, str(tmp_path / "made"))))
    monkeypatch.setattr(AuthorYearStyle, "kept", kept)

    assert AuthorYearStyle._read("text") == text
    assert AuthorYearStyle._read("hostile") is None
    assert not (tmp_path / "made").exists()
