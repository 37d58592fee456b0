"""A directive or a role that nobody knows: the message names the nearest."""

import logging

import pytest

from scratchbook.ext.misspelt import LOGGER, NearestNames


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("```{liv} a.py\nprint(1)\n```", "'liv'; did you mean 'live'"),
        ("```{exercize} Add\nAdd.\n```", "did you mean 'exercise'"),
        ("```{py:functoin} f\n```", "did you mean 'py:function'"),
        ("```{admonitoin} A\nB\n```", "did you mean 'admonition'"),
        ("It is {valeu}`1 + 1`.", "text role \"valeu\"; did you mean 'value'"),
        ("See {dok}`index`.", "did you mean 'doc'"),
    ],
)
def test_a_misspelt_name_is_told_with_the_nearest(project, text, choice):
    project.write({"docs/index.md": f"# Book\n\n{text}\n"})

    assert choice in project.build("html").messages
    assert choice in project.build("html").messages  # a page with a warning is read again


def test_a_name_like_no_other_is_told_alone(project):
    logging.getLogger(LOGGER).addFilter(NearestNames(None))  # of a build that broke off
    project.write({"docs/index.md": "# Book\n\n```{qqqqqq}\n```\n"})

    assert "did you mean" not in project.build("html").messages
    assert logging.getLogger(LOGGER).filters == []
