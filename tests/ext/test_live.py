"""{live}, {value} and {claim}: what a page shows of files and of its own code."""

import os
import re
import shutil
from pathlib import Path

import pytest
from docutils import nodes

CODE = """
    import numpy as np


    # tag::softmax[]
    def softmax(scores):
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()
    # end::softmax[]


    # tag::said[]
    print("said by the file")
    # end::said[]
    """


def blocks(built, docname="index"):
    return [block.astext() for block in built.doctree(docname).findall(nodes.literal_block)]


def block(*lines, file="", options=()):
    return "\n".join([f"```{{live}} {file}".rstrip(), *options, "", *lines, "```"])


def test_the_chapter_of_the_readme_is_a_page(project):
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    chapter = re.search(r"^````markdown\n(.*?)^````$", readme, re.DOTALL | re.MULTILINE)[1]
    built = project.write({"docs/index.md": chapter, "scratch/attention.py": CODE}).build("html", strict=True)

    assert built.messages == ""
    assert ">[0.09003057 0.24472847 0.66524096]\n" in built.file("index.html")
    assert '<span class="scratchbook-value">0.665</span> of the whole.' in built.file("index.html")


def test_a_region_stands_above_its_demonstration_and_their_output(chapter):
    shown = block("print(softmax(np.zeros(2)))", file="code.py", options=[":tag: softmax"])
    built = chapter(f"# Book\n\n{shown}\n", CODE)

    shown = blocks(built)
    assert shown[0].startswith("def softmax(scores):")
    assert shown[1:] == ["print(softmax(np.zeros(2)))", "[0.5 0.5]"]
    assert built.warnings == []


def test_a_region_shows_what_its_own_lines_printed(chapter):
    built = chapter(f"# Book\n\n{block(file='code.py', options=[':tag: said'])}\n", CODE)

    assert blocks(built)[1] == "said by the file"


def test_the_output_of_a_region_comes_before_that_of_its_demonstration(chapter):
    built = chapter(f"# Book\n\n{block('print(2)', file='code.py', options=[':tag: said'])}\n", CODE)

    assert blocks(built)[2] == "said by the file\n2"


def test_blocks_share_one_namespace_in_page_order(chapter):
    built = chapter(f"# Book\n\n{block('x = 1')}\n\n{{value}}`x`\n\n{block('x += 1')}\n\n{{value}}`x` is not 1.\n")

    assert [p.astext() for p in built.doctree().findall(nodes.paragraph)] == ["1", "2 is not 1."]


def test_a_file_is_found_beside_its_chapter(project):
    project.write({"docs/part/page.md": f"# Page\n\n{block(file='near.py')}\n", "docs/part/near.py": "print('near')\n"})
    built = project.write({"docs/index.md": "# Book\n\n```{toctree}\npart/page\n```\n"}).build()

    assert blocks(built, "part/page") == ["print('near')", "near"]


def test_a_source_folder_comes_before_the_chapters_own(project):
    project.write({"scratch/code.py": "print('scratch')\n", "docs/code.py": "print('docs')\n"})
    built = project.write({"docs/index.md": f"# Book\n\n{block(file='code.py')}\n"}).build()

    assert blocks(built)[1] == "scratch"


def test_a_file_named_in_a_part_is_found_beside_the_part(project):
    project.write({"docs/parts/part.inc": f"{block(file='near.py')}\n", "docs/parts/near.py": "print('near')\n"})
    built = project.write({"docs/index.md": "# Book\n\n```{include} parts/part.inc\n```\n"}).build()

    assert blocks(built)[1] == "near"


def test_an_optional_region_may_be_missing_without_a_word(chapter):
    built = chapter(f"# Book\n\n{block(file='gone.py', options=[':optional:'])}\n\n{block('print(1)')}\n")

    assert built.warnings == []
    assert blocks(built) == ["print(1)", "1"]


def test_code_may_be_hidden(chapter):
    assert blocks(chapter(f"# Book\n\n{block('print(1)', options=[':hide-code:'])}\n")) == ["1"]


def test_an_output_may_be_hidden(chapter):
    assert blocks(chapter(f"# Book\n\n{block('print(1)', options=[':hide-output:'])}\n")) == ["print(1)"]


def test_a_failure_is_seen_where_the_output_is_hidden(chapter):
    built = chapter(f"# Book\n\n{block('1 / 0', options=[':hide-output:', ':hide-code:'])}\n")

    assert "This block failed" in built.text()


def test_what_follows_a_failure_is_marked_and_has_no_message(chapter):
    built = chapter(f"# Book\n\n{block('1 / 0')}\n\n{block('print(1)')}\n\nIt is {{value}}`1`.\n")

    assert len(built.warnings) == 1
    assert "Not run, since something before it on this page failed." in built.text()
    assert built.text().endswith("It is (value missing).")


def test_a_listing_has_no_blank_edges_but_those_between_its_regions(chapter):
    code = "# tag::a[]\n\na = 1\n\n# end::a[]\n# tag::b[]\n\n\nb = 2\n\n# end::b[]\n"
    built = chapter("# T\n\n```{live} code.py\n:tags: a;b\n:no-output: names\n```\n", code)

    assert blocks(built) == ["a = 1\n\n\n\nb = 2"]


def test_hidden_lines_run_and_skipped_lines_do_not(chapter):
    code = ["#hide:start", "x = 1", "#hide:stop", "#skip:start", "x = 2", "#skip:stop", "print(x)"]

    assert blocks(chapter(f"# Book\n\n{block(*code)}\n")) == ["x = 2\nprint(x)", "1"]


def test_the_last_value_is_shown_on_request(chapter):
    assert blocks(chapter(f"# Book\n\n{block('1 + 1', options=[':show-value:'])}\n"))[1] == "2"


def test_an_error_may_be_meant(chapter):
    built = chapter(f"# Book\n\n{block('1 / 0', options=[':raises: ZeroDivisionError'])}\n\n{block('print(1)')}\n")

    assert blocks(built) == ["1 / 0", "ZeroDivisionError: division by zero", "print(1)", "1"]
    assert built.status == 0


def test_an_error_that_is_meant_and_does_not_come_is_told(chapter):
    built = chapter(f"# Book\n\n{block('print(1)', options=[':raises: ValueError'])}\n")

    assert len(built.warnings) == 1
    assert built.warnings[0].startswith("docs/index.md:3: WARNING: ended without ValueError, ")


def test_a_block_may_show_and_keep_more_or_less_than_others(chapter):
    options = [":shown-bytes: 4", ":captured-bytes: 9000000"]
    built = chapter(f"# Book\n\n{block('print(1)', 'for _ in range(80_000): print(*[0] * 9)', options=options)}\n")

    assert built.warnings == []
    assert blocks(built)[1] == "1"
    assert "… 1,440,000 bytes more are not shown." in built.text()


def test_a_region_and_its_demonstration_have_the_limits_of_their_block(chapter):
    shown = block("print('demonstration')", file="code.py", options=[":tag: said", ":shown-bytes: 5"])

    assert blocks(chapter(f"# Book\n\n{shown}\n", CODE))[2] == "said demon"


@pytest.mark.parametrize(
    ("shown", "where"),
    [
        (block("print(1)", "", "print(2)"), "docs/index.md, lines 5 to 7"),
        (block("print(1)"), "docs/index.md, line 5"),
        (block(file="code.py", options=[":tag: said"]), "scratch/code.py, line 12"),
        (block("print(1)", file="code.py", options=[":tag: softmax"]), "scratch/code.py, lines 5 to 7"),
    ],
    ids=["lines of the page", "one line", "a region", "a region and its demonstration"],
)
def test_an_output_names_the_code_that_made_it(chapter, shown, where):
    source = "https://code.test/{path}#L{first}-L{last}"
    html = chapter(f"# Book\n\n{shown}\n", CODE, builder="html", scratchbook_source=source).file("index.html")

    path, first, *last = re.findall(r"[\w/.]+", where.replace("lines", "").replace("line", "").replace("to", ""))
    address = f"https://code.test/{path}#L{first}-L{(last or [first])[0]}"
    assert f'<span class="scratchbook-origin"><a class="reference external" href="{address}">{where}</a></span>' in html


def test_without_an_address_an_output_still_names_its_code(chapter):
    html = chapter(f"# Book\n\n{block('print(1)')}\n", builder="html").file("index.html")

    assert '<span class="scratchbook-origin">docs/index.md, line 5</span>' in html


def test_an_array_is_a_table(chapter):
    built = chapter(f"# Book\n\n{block('[[1, 2], [3, 4]]', options=[':table:'])}\n")

    assert [entry.astext() for entry in built.doctree().findall(nodes.entry)] == ["1", "2", "3", "4"]


def test_named_columns_are_the_tables_head(chapter):
    built = chapter(f"# Book\n\n{block('[dict(a=1, b=2)]', options=[':table:'])}\n")

    head = next(built.doctree().findall(nodes.thead))
    assert [entry.astext() for entry in head.findall(nodes.entry)] == ["a", "b"]


def test_columns_of_numbers_stand_at_the_right_under_their_names(chapter):
    rows = "[dict(name='GPT-2', share='22.8%', size='1,024', change=-0.5, next='2 heads'), dict(name='7B', share='')]"
    built = chapter(f"# Book\n\n{block(rows, options=[':table:'])}\n")

    at_right = [entry.astext() for entry in built.doctree().findall(nodes.entry) if "text-right" in entry["classes"]]
    assert at_right == ["share", "size", "change", "22.8%", "1,024", "-0.5", "", "", ""]


DRAWING = block(
    "class Drawing:",
    "    def _repr_svg_(self):",
    '        return \'<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/><use href="#a"/></svg>\'',
    "Drawing()",
    options=[":figure: Two <lines>", ":hide-code:"],
)


def test_a_figure_stands_inside_the_page_with_its_words(chapter):
    page = chapter(f"# Book\n\n{DRAWING}\n", builder="html").file("index.html")

    assert re.search(r'<svg role="img" aria-label="Two &lt;lines&gt;"', page)
    name = re.search(r'<g id="(\S+)"', page)[1]
    assert f'<use href="#{name}"' in page
    assert name != "a"


def test_a_figure_is_a_file_where_the_page_cannot_hold_it(chapter):
    built = chapter(f"# Book\n\n{DRAWING}\n", builder="epub")

    assert re.search(r'<img [^>]*src="_images/\w{24}\.svg"', built.file("index.xhtml"))
    assert list((Path(built.app.outdir) / "_images").glob("*.svg"))


def test_a_figure_is_its_words_in_text(chapter):
    assert "[image: Two <lines>]" in chapter(f"# Book\n\n{DRAWING}\n", builder="text").file("index.txt")


@pytest.mark.parametrize("builder", ["html", "latex", "text"])
def test_a_figure_of_matplotlib_is_right_for_each_builder(chapter, builder):
    pytest.importorskip("matplotlib")
    code = ["import matplotlib.pyplot as plt", "plt.plot([1, 2])"]
    built = chapter(f"# Book\n\n{block(*code, options=[':figure: A line'])}\n", builder=builder)

    page = built.file({"html": "index.html", "latex": "book.tex", "text": "index.txt"}[builder])
    assert {"html": "<svg role", "latex": ".pdf}", "text": "[image: A line]"}[builder] in page
    assert built.warnings == []


CAPTION = {"html": "(Fig.|Table) 1 The caption 2", "latex": r"caption\{The caption .*2", "text": "The caption 2\n"}
CAPTIONED = [":caption: The caption {value}`1 + 1`", ":name: fig-one"]


@pytest.mark.skipif(not shutil.which("rsvg-convert"), reason="needs Debian's librsvg2-bin")
def test_a_figure_that_is_only_svg_is_pdf_on_paper(chapter):
    sized = DRAWING.replace("<svg ", '<svg width="20" height="10" ')
    built = chapter(f"# Book\n\n{sized}\n", builder="latex")

    name = re.search(r"includegraphics\{\{(\w{24})\}\.pdf\}", built.file("book.tex"))[1]
    assert (Path(built.app.outdir) / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert built.messages == ""


@pytest.mark.skipif(not shutil.which("rsvg-convert"), reason="needs Debian's librsvg2-bin")
def test_a_figure_that_cannot_be_pdf_is_told_in_every_build_and_is_its_words(project):
    project.write({"docs/index.md": f"# Book\n\n{DRAWING}\n"})
    built, again = project.build("latex"), project.build("latex")

    (warning,) = built.warnings
    assert re.match(r"docs/index.md:3: WARNING: \w+\.svg cannot be drawn on paper: .* has no dimensions", warning)
    assert "Two \\textless{}lines\\textgreater{}" in built.file("book.tex")
    assert ".svg" not in built.file("book.tex")
    assert (built.status, again.status, again.warnings) == (1, 1, built.warnings)


def test_the_file_of_a_figure_that_no_build_uses_is_swept_once_it_is_old(project):
    text = f"# Book\n\n{DRAWING}\n"
    folder = Path(project.write({"docs/index.md": text}).build("text").app.doctreedir) / "scratchbook"
    (used,) = folder.iterdir()
    for name in ("old.svg", used.name):
        (folder / name).write_bytes(used.read_bytes())
        os.utime(folder / name, (0, 0))
    (folder / "new.svg").write_bytes(b"")
    project.write({"docs/index.md": f"{text}\nMore.\n"}).build("text")

    assert sorted(path.name for path in folder.iterdir()) == sorted(["new.svg", used.name])


def test_a_figure_without_a_form_for_a_builder_is_told_in_every_build_and_is_its_words(project, monkeypatch):
    monkeypatch.setenv("PATH", "nowhere")
    project.write({"docs/index.md": f"# Book\n\n{DRAWING}\n"})
    built, again = project.build("latex"), project.build("latex")

    assert "Two \\textless{}lines\\textgreater{}" in built.file("book.tex")
    assert len(built.warnings) == 1
    assert "docs/index.md:3: WARNING: a figure has no form that this builder can show" in built.warnings[0]
    assert (built.status, again.status, again.warnings) == (1, 1, built.warnings)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [("figure", ["import matplotlib.pyplot as plt", "plt.plot([1, 2])"]), ("table", ["[[1, 2]]"])],
)
@pytest.mark.parametrize("builder", ["html", "latex", "text"])
def test_a_caption_and_a_name_are_those_of_the_figure_or_table(chapter, builder, kind, lines):
    options = [f":{kind}:" + (" words" if kind == "figure" else ""), *CAPTIONED]
    text = f"# Book\n\n{block(*lines, options=options)}\n\nSee {{numref}}`fig-one` and {{ref}}`fig-one`.\n"
    built = chapter(text, builder=builder, numfig=True)

    page = re.sub(r"<[^>]+>", "", built.file({"html": "index.html", "latex": "book.tex", "text": "index.txt"}[builder]))
    assert built.warnings == []
    assert re.search(CAPTION[builder], page), page
    assert re.search(r"and \S*The caption 2\b", page), page


def test_values_stand_in_lists_tables_and_captions(chapter):
    built = chapter(
        """
        # Book

        ```{live}
        x = 7
        ```

        - an item {value}`x`

        | head {value}`x + 1` |
        | - |
        | {value}`x + 2` |

        ```{figure} none.png
        A caption {value}`x + 3`
        ```

        ```{live}
        :caption: Code {value}`x + 4`
        x = 10
        ```
        """,
        suppress_warnings=["image.not_readable"],
    )

    text = built.text()
    assert [number for number in ("item 7", "head 8", "9", "caption 10", "Code 14") if number not in text] == []


def test_a_value_in_a_longer_span_or_a_fence_is_text(chapter):
    fence = "````\n```{live}\n1 / 0\n```\n````"
    built = chapter(f"# Book\n\n`` {{value}}`nothing` `` and\n\n{fence}\n\n<!-- {{value}}`no` -->\n")

    assert built.warnings == []
    assert "session" not in built.log


def test_a_claim_that_holds_leaves_no_trace(chapter):
    paragraph = next(chapter("# Book\n\nIt holds. {claim}`1 < 2`\n").doctree().findall(nodes.paragraph))

    assert paragraph.astext() == "It holds."
    assert not list(paragraph.findall(nodes.inline))


def test_a_claim_within_a_sentence_leaves_one_blank(chapter):
    paragraph = next(chapter("# Book\n\nIt {claim}`1 < 2` holds.\n").doctree().findall(nodes.paragraph))

    assert paragraph.astext() == "It holds."


def test_a_claim_that_fails_is_seen(chapter):
    assert chapter("# Book\n\nIt holds. {claim}`1 > 2`\n").text().endswith("It holds. (this was not confirmed)")


def test_a_caption_and_a_name_can_be_referred_to(chapter):
    built = chapter(
        f"# Book\n\n{block('print(1)', options=[':caption: One', ':name: code-one'])}\n\nSee {{ref}}`code-one`.\n"
    )

    assert built.text().endswith("See One.")
    assert built.warnings == []


def test_an_id_stays_when_other_blocks_are_added(project):
    named = block("print(1)", options=[":name: first"])
    before = project.write({"docs/index.md": f"# Book\n\n{named}\n"}).build("html").file("index.html")
    project.write({"docs/index.md": f"# Book\n\n{block('x = 1')}\n\n{named}\n"})
    after = project.build("html").file("index.html")

    assert 'id="output-index-first"' in before
    assert 'id="output-index-first"' in after


def test_code_that_runs_is_never_translated(project):
    code = block("print('word')")
    catalogue = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\nmsgid "print(\'word\')"\nmsgstr "x"\n'
    project.write({"docs/index.md": f"# Book\n\n{code}\n", "docs/locale/de/LC_MESSAGES/index.po": catalogue})
    built = project.build(language="de", locale_dirs=["locale"], gettext_additional_targets=["literal-block"])

    assert blocks(built) == ["print('word')", "word"]


def test_a_translation_cannot_show_what_its_chapter_does_not(project):
    catalogue = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\nmsgid "One."\nmsgstr "{value}`2`"\n'
    project.write({"docs/index.md": "# Book\n\nOne.\n", "docs/locale/de/LC_MESSAGES/index.po": catalogue})

    assert project.build(language="de", locale_dirs=["locale"]).warnings == [
        "docs/index.md:3: WARNING: the translation shows '2', which its chapter does not [scratchbook.value]"
    ]
