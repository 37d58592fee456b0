"""Accepted outcomes: a build tells of each that differs, at its line, and of nothing else."""

import pytest

PAGE = """
# Page

```{{live}}
print("loss", {0})
```

The loss is {{value}}`{0}`.
"""
PIN = """
format = 1

[code-1]
shows = 'print("loss", 0.25)'
text = '''
loss {0}
'''

[value-1]
shows = "0.25"
value = "{1}"
"""


@pytest.fixture
def pinned(project):
    project.settings["scratchbook_pins"] = "pins"
    return project.write({"docs/index.md": PAGE.format("0.25")})


def test_an_accepted_outcome_is_quiet(pinned):
    assert pinned.write({"pins/index.toml": PIN.format("0.25", "0.25")}).build().messages == ""


def test_another_outcome_is_told_at_its_line_old_beside_new(pinned):
    built = pinned.write({"pins/index.toml": PIN.format("0.75", "0.25")}).build()

    assert built.status == 1
    assert built.messages == (
        "docs/index.md:3: WARNING: output was 'loss 0.75' when it was accepted and is 'loss 0.25'; "
        "accept it or refuse it with `scratchbook review` [scratchbook.pin]\n"
        "--- accepted\n+++ now\n@@ -1 +1 @@\n-loss 0.75\n+loss 0.25\n"
    )


def test_a_number_in_a_sentence_is_told_at_its_sentence(pinned):
    built = pinned.write({"pins/index.toml": PIN.format("0.25", "0.5")}).build()

    assert built.warnings == [
        "docs/index.md:7: WARNING: value was '0.5' when it was accepted and is '0.25'; "
        "accept it or refuse it with `scratchbook review` [scratchbook.pin]"
    ]


def test_the_last_digits_of_a_float_may_differ(pinned):
    assert pinned.write({"pins/index.toml": PIN.format("0.25000001", "0.25")}).build().warnings == []


def test_how_much_they_may_differ_is_a_setting(pinned):
    pinned.write({"pins/index.toml": PIN.format("0.25000001", "0.25")})

    assert len(pinned.build(scratchbook_pins_rtol=1e-9).warnings) == 1


def test_a_difference_is_told_by_every_build(pinned):
    pinned.write({"pins/index.toml": PIN.format("0.75", "0.25")}).build()

    assert len(pinned.build().warnings) == 1


def test_a_page_without_a_file_is_not_pinned(pinned):
    assert pinned.build().messages == ""


def test_a_block_that_is_not_in_the_file_is_told(pinned):
    built = pinned.write({"pins/index.toml": PIN.format("0.25", "0.25").partition("[value-1]")[0]}).build()

    assert built.warnings == [
        "docs/index.md:7: WARNING: value has no accepted outcome: '0.25'; "
        "accept it or refuse it with `scratchbook review` [scratchbook.pin]"
    ]


def test_a_block_that_is_gone_is_told_at_the_page(pinned):
    pinned.write({"pins/index.toml": PIN.format("0.25", "0.25") + '\n[code-2]\nshows = "x"\ntext = "1"\n'})

    assert pinned.build().warnings == [
        "docs/index.md:1: WARNING: output is gone; accepted was '1'; "
        "accept it or refuse it with `scratchbook review` [scratchbook.pin]"
    ]


def test_code_that_fails_has_one_message(pinned):
    pinned.write({"pins/index.toml": PIN.format("0.25", "0.25"), "docs/index.md": PAGE.format("1 / 0")})

    assert [line.partition("[")[2] for line in pinned.build().warnings] == ["scratchbook.run]"]


def test_a_block_that_cannot_be_read_has_one_message(pinned):
    torn = PAGE.format("0.25").replace("{live}", "{live} nowhere.py")
    files = {"docs/index.md": torn, "pins/index.toml": PIN.format("0.25", "0.25")}
    (warning,) = pinned.write(files).build().warnings

    assert warning.startswith("docs/index.md:3: WARNING: no file 'nowhere.py'")


def test_a_torn_file_is_told_at_the_file(pinned):
    built = pinned.write({"pins/index.toml": "format = 1\n[code-1\n"}).build()

    assert len(built.warnings) == 1
    assert built.warnings[0].startswith("pins/index.toml:1: WARNING: pins/index.toml cannot be read as accepted")


def test_every_state_of_a_page_is_pinned(project):
    project.settings["scratchbook_pins"] = "pins"
    project.write(
        {
            "docs/index.md": "# Page\n\n```{states} word\ncat, dog\n```\n\n```{live}\nprint(word)\n```\n",
            "pins/index.toml": """
                format = 1
                ["code-1 word=cat"]
                shows = "print(word)"
                text = "cat"
                ["code-1 word=dog"]
                shows = "print(word)"
                text = "cow"
                """,
        }
    )

    assert project.build().warnings == [
        "docs/index.md:7: WARNING: output was 'cow' when it was accepted and is 'dog'; "
        "accept it or refuse it with `scratchbook review` [scratchbook.pin]"
    ]
