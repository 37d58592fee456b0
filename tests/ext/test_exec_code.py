"""{exec_code}: the same pages as with sphinx-exec-code 0.18, each block in a session of its own."""

import pytest

PAGES = {
    "plain": """
        # Plain

        ```{exec_code}
        print("first")

        print("second")
        ```

        ```{exec_code}
        nothing = 1
        ```

        ```{exec_code}


        # a comment
        print()
        print("  indented")
        print("end   ")
        print()
        ```
        """,
    "options": """
        # Options

        ```{exec_code}
        :linenos:
        :lineno-start: 5
        :emphasize-lines: 1,3
        :caption: The *code*
        :name: code-one
        :class: special
        :force:
        :language: python3
        :linenos_output:
        :lineno-start_output: 7
        :emphasize-lines_output: 2
        :caption_output: The **output**
        :name_output: output-one
        :class_output: other
        :force_output:
        :language_output: text
        print("one")
        print("two")
        print("three")
        ```

        ```{exec_code}
        :caption: Named once
        :name: code-two
        :caption_output: Its output
        print("x")
        ```

        ```{exec_code}
        :dedent:
        :dedent_output: 1
        print(" a")
        print("  b")
        ```
        """,
    "hidden": """
        # Hidden

        ```{exec_code}
        :hide:
        print("only the output")
        ```

        ```{exec_code}
        :hide_output:
        print("only the code")
        ```

        ```{exec_code}
        :hide:
        :hide_output:
        print("neither")
        ```
        """,
    "markers": """
        # Markers

        ```{exec_code}
        # --- hide: start ---
        secret = "hidden but run"
        # --- hide: stop ---

        print(secret)
        #skip:start
        print("shown but not run")
        #skip:stop
        #hide:toggle
        print("toggled")
        #hide:toggle
        print("end")
        ```
        """,
    "nested": """
        # Nested

        - a list

          ```{exec_code}
          import os
          from inside import VALUE
          print(VALUE, os.path.basename(os.getcwd()))
          ```

        :::{note}
        ```{exec_code}
        :filename: example.py
        ```
        :::

        ```{eval-rst}
        .. exec_code::
           :caption: In other markup

           for number in range(3):
               print(number)
        ```
        """,
}
FILES = {
    "docs/index.md": "# Book\n\n```{toctree}\n" + "\n".join(PAGES) + "\n```\n",
    "examples/example.py": "# an example\nprint('from a file')\n",
    "src/inside/__init__.py": "VALUE = 'imported'\n",
    "work/data.txt": "",
    **{f"docs/{name}.md": text for name, text in PAGES.items()},
}
SETTINGS = """
exec_code_example_dir = "examples"
exec_code_working_dir = "work"
exec_code_source_folders = ["src"]
exec_code_set_utf8_encoding = True
"""


@pytest.fixture(scope="module")
def book(new_project):
    project = new_project().write(FILES)
    conf = (project.root / "conf.py").read_text()
    return project.write({"conf.py": conf + SETTINGS})


@pytest.fixture(scope="module")
def ours(book):
    return book.build()


@pytest.fixture(scope="module")
def theirs(book):
    book.clean()
    built = book.build(extensions=["myst_parser", "sphinx_exec_code"])
    return {name: normal(built.doctree(name)) for name in PAGES}


def normal(doctree):
    """Return a doctree as text, without what names the folder of the build."""
    return doctree.pformat().replace(doctree["source"], "SOURCE")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_same_doctree_as_with_the_stock_extension(ours, theirs, name):
    assert normal(ours.doctree(name)) == theirs[name]


def test_ours_has_no_message(ours):
    assert ours.messages == ""


def test_blocks_share_nothing(chapter):
    blocks = "\n\n".join(f"```{{exec_code}}\n{code}\n```" for code in ("x = 1", "print(x)", "print(2)"))
    built = chapter(f"# Book\n\n{blocks}\n")

    assert built.warnings == ["docs/index.md:8: WARNING: NameError: name 'x' is not defined [scratchbook.run]"]
    assert built.text().endswith("print(2)\n\n2")
    assert "3 sessions: 3 run, 0 cached, 1 failed" in built.log


def test_a_failure_is_a_box_and_the_page_stays(chapter):
    built = chapter("# Book\n\n```{exec_code}\n1 / 0\n```\n\nAfter.\n")

    assert "This block failed" in built.text()
    assert built.text().endswith("After.")


def test_an_edit_of_an_example_is_noticed(project):
    project.write({"docs/index.md": "# Book\n\n```{exec_code}\n:filename: example.py\n```\n"})
    project.write({"example.py": "print('old')\n"}).build()
    built = project.write({"example.py": "print('fresh')\n"}).build()

    assert built.text().endswith("fresh")


def test_lines_of_an_example_are_those_of_its_file(project):
    project.write({"docs/index.md": "# Book\n\n```{exec_code}\n:filename: example.py\n```\n"})
    built = project.write({"example.py": "# one\n\n#hide:start\n\n#hide:stop\n1 / 0\n"}).build()

    assert built.warnings == [
        "example.py:6: WARNING: ZeroDivisionError: division by zero [scratchbook.run]"
    ]


def test_an_emphasis_beyond_the_output_is_told(chapter):
    built = chapter("# Book\n\n```{exec_code}\n:emphasize-lines_output: 4\nprint(1)\n```\n")

    assert built.warnings == [
        "docs/index.md:3: WARNING: option 'emphasize-lines_output' is '4', and the block has 1 line; "
        "they are counted from its first [scratchbook.option]"
    ]


def test_a_block_sets_limits_of_its_own(chapter):
    code = "for _ in range(80_000):\n    print(*[0] * 9)"
    options = ":shown-bytes: 18\n:captured-bytes: 9000000\n"
    built = chapter(
        f"# Book\n\n```{{exec_code}}\n{options}{code}\n```\n\n```{{exec_code}}\n:timeout: 0.2\nwhile True: pass\n```\n"
    )

    assert "\n\n0 0 0 0 0 0 0 0 0\n" in built.text()
    assert built.text().count("0 0 0 0 0 0 0 0 0") == 1
    assert built.warnings == [
        "docs/index.md:12: WARNING: ran longer than 0.2 s and was stopped; raise it with :timeout: or "
        "scratchbook_block_seconds [scratchbook.run]"
    ]


# what stands behind ```{exec_code} -> its one message, on the file x.py
MESSAGES = {
    "nothing": ("", "docs/index.md:3: WARNING: {exec_code} has neither code nor a :filename:, so it shows nothing"),
    "no name": (":filename:\n", "docs/index.md:4: WARNING: option 'filename' of {exec_code} is '': it needs a value"),
    "hidden letter": (
        ":filename: x.py\n",
        "x.py:2: WARNING: hidden character U+202E RIGHT-TO-LEFT OVERRIDE in column 4; remove it",
    ),
    "empty file": (":filename: empty.py\n", "docs/index.md:3: WARNING: empty.py has no line to show"),
    "emphasis": (
        ":emphasize-lines: 2\nprint(1)\n",
        "docs/index.md:3: WARNING: option 'emphasize-lines' is '2', and the block has 1 line; they are counted from "
        "its first",
    ),
    "dedent": (
        ":dedent: 4\nprint(1)\n",
        "docs/index.md:3: WARNING: option 'dedent' is 4, which would take away more than blanks",
    ),
    "number": (
        ":lineno-start_output: x\nprint(1)\n",
        "docs/index.md:4: WARNING: option 'lineno-start_output' of {exec_code} is 'x': it must be a whole number",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_block_that_would_show_nothing_or_something_else_is_told(project, name):
    text, message = MESSAGES[name]
    project.write({"x.py": "y = 1\nx='\u202e'\n", "empty.py": "\n"})
    built = project.write({"docs/index.md": f"# Book\n\n```{{exec_code}}\n{text}```\n"}).build()

    (warning,) = built.warnings
    assert warning.startswith(message)
