"""Frozen blocks: shown with the day and the machine of their run, run by the review alone, seen by nothing else."""

import os
import re
from datetime import date

import pytest

from scratchbook.cli import main
from scratchbook.core.frozen import this_machine

PAGE = """
# Page

```{live}
size = 3
print("before")
```

```{live}
:frozen:

import os, pathlib
late = size * 2
pathlib.Path(os.environ["COUNT"]).open("a").write("ran\\n")
print("late", late)
```
"""
TABLE = """
# Page

```{live}
:frozen:
:table:

[[1, 2], [3, 4]]
```
"""
FIGURE = """
# Page

```{live}
:frozen:
:figure: A line.

import matplotlib.pyplot as plt
plt.plot([1, 2, 4])
```
"""
AFTER = "\n```{live}\nprint(late)\n```\n"


@pytest.fixture
def frozen(project, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    count = project.root / "build" / "count"
    count.parent.mkdir()
    count.write_text("")
    conf = (project.root / "conf.py").read_text()
    conf += f"scratchbook_pins = 'pins'\nscratchbook_environment = {{'COUNT': {str(count)!r}}}\n"
    return project.write({"conf.py": conf, "docs/index.md": PAGE})


@pytest.fixture
def refresh(frozen, capsys, recwarn):
    def run(*pages):
        words = ["--conf", str(frozen.root), "--build", str(frozen.root / "build")]
        status = main(["review", "--refresh", *pages, *words])
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


def runs(frozen):
    return (frozen.root / "build" / "count").read_text().count("ran")


def test_a_frozen_block_without_a_stored_outcome_is_one_message(frozen):
    built = frozen.build()

    assert built.warnings == [
        "docs/index.md:8: WARNING: this frozen block has no stored outcome; "
        "run `scratchbook review --refresh index` [scratchbook.pin]"
    ]
    assert built.status == 1
    assert runs(frozen) == 0


def test_the_review_runs_it_after_the_blocks_above_it_and_stores_what_it_gave(frozen, refresh):
    status, said = refresh("index")

    assert (status, runs(frozen)) == (0, 1)
    assert said.startswith("wrote ")
    written = (frozen.root / "pins" / "index.toml").read_text()
    assert f'frozen = "{date.today()} on {this_machine()}"' in written
    assert "text = '''\nlate 6\n'''\n" in written


def test_a_build_shows_it_with_its_day_and_machine_and_runs_nothing(frozen, refresh):
    refresh("index")
    built = frozen.build()

    assert built.messages == ""
    assert runs(frozen) == 1
    assert f"Output, run on {date.today()} on {this_machine()}" in built.text()
    assert "late 6" in built.text()


def test_a_stored_outcome_pins_nothing_else_of_its_page(frozen, refresh):
    refresh("index")
    frozen.write({"docs/index.md": PAGE.replace("before", "other")})

    assert frozen.build().warnings == []


def test_a_later_block_knows_no_name_of_a_frozen_one(frozen, refresh):
    refresh("index")
    frozen.write({"docs/index.md": PAGE + AFTER})

    (warning,) = frozen.build().warnings
    assert warning.startswith("docs/index.md:18: WARNING: NameError: name 'late' is not defined")


def test_nothing_of_a_frozen_block_is_in_the_key_of_its_page(frozen, refresh):
    refresh("index")
    frozen.build()
    frozen.write({"docs/index.md": re.sub(r"print\(.late.*\)", "print('changed')", PAGE)})

    assert "0 run, 1 cached" in frozen.build().log


def test_code_that_has_changed_since_is_told_and_not_shown_with_the_old_outcome(frozen, refresh):
    refresh("index")
    built = frozen.write({"docs/index.md": PAGE.replace("size * 2", "size * 3")}).build()

    assert built.warnings == [
        f"docs/index.md:8: WARNING: the code of this frozen block has changed since it was run on {date.today()} on "
        f"{this_machine()}; run `scratchbook review --refresh index` [scratchbook.pin]"
    ]
    assert "late 6" not in built.text()


def test_a_table_is_stored_whole(frozen, refresh):
    frozen.write({"docs/index.md": TABLE})
    refresh("index")

    assert "1\n\n2\n\n3\n\n4" in frozen.build().text()


@pytest.mark.parametrize(
    ("page", "whole", "damaged", "told"),
    [
        (TABLE, '["3", "4"]', '["3"]', "the rows of its table have unlike lengths"),
        (FIGURE, 'pdf = "', 'pdf = "*', "Only base64 data is allowed"),
    ],
)
def test_a_damaged_stored_outcome_is_told_and_not_shown(frozen, refresh, page, whole, damaged, told):
    frozen.write({"docs/index.md": page})
    refresh("index")
    stored = frozen.root / "pins" / "index.toml"
    stored.write_text(stored.read_text().replace(whole, damaged))

    (warning,) = frozen.build("latex").warnings
    assert f"the stored outcome of this frozen block cannot be read: {told}" in warning


@pytest.mark.parametrize(("builder", "file", "sign"), [("html", "index.html", "<svg"), ("latex", "book.tex", ".pdf")])
def test_a_figure_is_stored_whole_for_every_builder(frozen, refresh, builder, file, sign):
    frozen.write({"docs/index.md": FIGURE})
    refresh("index")

    built = frozen.build(builder)
    assert built.warnings == []
    assert sign in built.file(file)


def test_a_frozen_block_that_fails_is_told_and_keeps_what_was_stored(frozen, refresh):
    refresh("index")
    before = (frozen.root / "pins" / "index.toml").read_text()
    frozen.write({"docs/index.md": PAGE.replace("size * 2", "1 / 0")})

    status, said = refresh("index")

    assert status == 1
    assert said == "docs/index.md:8: this frozen block cannot be stored: ZeroDivisionError: division by zero\n"
    assert (frozen.root / "pins" / "index.toml").read_text() == before


def test_a_page_without_a_frozen_block_cannot_be_refreshed(frozen, refresh):
    frozen.write({"docs/index.md": "# Page\n\n```{live}\nprint(1)\n```\n"})

    assert refresh("index") == (2, "scratchbook: none of these pages has a frozen block\n")


def test_every_state_is_stored(frozen, refresh):
    frozen.write(
        {
            "docs/index.md": "# Page\n\n```{states} word\ncat, dog\n```\n\n"
            "```{live}\n:frozen:\n\nprint('a', word)\n```\n\n{value}`word`\n"
        }
    )
    refresh("index")
    text = frozen.build().text()

    assert "a cat" in text
    assert "a dog" in text


def test_what_is_stored_can_be_read_by_a_person(frozen, refresh):
    refresh("index")
    tampered = (frozen.root / "pins" / "index.toml").read_text().replace("text = ", "voice = ")
    built = frozen.write({"pins/index.toml": tampered}).build()

    assert built.warnings == [
        "docs/index.md:8: WARNING: the stored outcome of this frozen block cannot be read: a cell gives no part "
        "'voice' of that form; run `scratchbook review --refresh index` [scratchbook.pin]"
    ]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("```{live} code.py\n:frozen:\n\nprint(1)\n```", "option 'frozen' keeps what code of the page gave"),
        ("```{live}\n:frozen:\n:no-output: reason\n\nprint(1)\n```", "a frozen block is there for its output"),
    ],
)
def test_frozen_on_what_cannot_be_is_refused(frozen, block, text):
    (warning,) = frozen.write({"docs/index.md": f"# Page\n\n{block}\n"}).build().warnings

    assert text in warning


def test_the_machine_is_told_without_its_name():
    assert os.uname().nodename not in this_machine()
