"""What a translator is given, and what a translated page shows of it."""

import re

TRANSLATED = """
    # Book

    ```{live}
    :table:
    :caption: Table of {value}`1 + 1`

    [[1, 2]]
    ```

    ```{live} code.py
    :caption: Code of *mine*
    :no-output: none
    ```

    :::{quiz} Which *one*?
    - [x] *This* one.

      It is $a$.

    - [ ] Another.

      ```python
      x
      ```
    :::

    ```{notation}
    x: scalar -- what it counts
    ```

    ```{key-equations}
    eq-a
    ```

    $$a$$ (eq-a)

    :::{exercise} Count *it*
    :name: ex-count

    How many?
    :::

    ```{exercises}
    ```
    """
GERMAN = {
    "Table of {value}`1 + 1`": "Tafel von {value}`1 + 1`",
    "Code of *mine*": "*Mein* Code",
    "Which *one*?": "*Welches*?",
    "*This* one.": "Dies *hier*.",
    "It is $a$.": "Wegen $a$.",
    "Another.": "Das andere.",
    "what it counts": "was es zählt",
    "Count *it*": "*Zähle*",
    "How many?": "Wie viele?",
}


def test_a_catalogue_holds_all_that_an_author_wrote_as_it_was_written(project):
    """Captions, titles and explanations, with their markup; and no word of ours that a translation would break."""
    project.write({"docs/index.md": TRANSLATED, "scratch/code.py": "x = 1\n"})
    built = project.build("gettext")
    found = set(re.findall(r'^msgid "(.+)"$', built.file("index.pot").replace("\\\\", "\\"), re.MULTILINE))
    assert found == {"Book", "Key equations", "a", *GERMAN}

    catalogue = "".join(f'msgid "{said}"\nmsgstr "{german}"\n\n' for said, german in GERMAN.items())
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\n'
    project.write({"docs/locale/de/LC_MESSAGES/index.po": head + catalogue})
    german = project.build("text", language="de", locale_dirs=["locale"])
    text = german.file("index.txt")

    assert german.warnings == []
    shown = ["Tafel von 2", "*Mein* Code", "*Welches*?", "Dies *hier*.", "was es zählt", "**Right.** Wegen a."]
    shown += ["**Not so.**\n", "1. Zähle", "1. *Zähle*"]
    assert [words for words in shown if words not in text] == []
