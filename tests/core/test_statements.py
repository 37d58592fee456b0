"""Compiling: marks between statements, true lines for every node, and lines that tracebacks can quote."""

import builtins
import linecache

import pytest

from scratchbook.core.statements import MARK, compile_file, compile_page, is_project, remember_lines


@pytest.fixture
def marks(monkeypatch):
    """The marks that code makes while it runs, by the body's name and the statement's index."""
    made = []
    monkeypatch.setattr(builtins, MARK, lambda name, index: made.append((name, index)), raising=False)
    return made


def lines_of(body):
    return [(statement.first, statement.last) for statement in body.statements]


def test_every_statement_is_marked_in_order_and_the_end_last(marks):
    file = compile_file("x = 1\n\nfor i in range(2):\n    x += i\n", "a.py")
    exec(file.body.code, {})

    assert marks == [("a.py", 0), ("a.py", 1), ("a.py", -1)]
    assert lines_of(file.body) == [(1, 1), (3, 4)]


def test_a_docstring_and_future_imports_stay_first(marks):
    namespace = {}
    exec(
        compile_file('"""Doc."""\nfrom __future__ import annotations\ndef f(x: y): pass\n', "a.py").body.code, namespace
    )

    assert namespace["__doc__"] == "Doc."
    assert namespace["f"].__annotations__ == {"x": "y"}
    assert marks == [("a.py", 2), ("a.py", -1)]


def test_a_decorator_belongs_to_its_statement():
    assert lines_of(compile_file("@str\n@repr\ndef f():\n    pass\n", "a.py").body) == [(1, 4)]


@pytest.mark.parametrize("test", ['__name__ == "__main__"', "'__main__' == __name__", '(__name__) == ("__main__")'])
def test_a_guard_is_known_whichever_way_it_is_written(test, marks):
    file = compile_file(f"x = 1\nif {test}:\n    x = 2\n    x = 3\n", "a.py")

    assert lines_of(file.guards[0]) == [(3, 3), (4, 4)]


@pytest.mark.parametrize("test", ['__name__ != "__main__"', '__name__ == "main"', "__main__ == __name__", "x"])
def test_other_conditions_are_no_guard(test):
    assert compile_file(f"if {test}:\n    pass\n", "a.py").guards == []


def test_a_guard_keeps_the_files_future_imports(marks):
    text = 'from __future__ import annotations\nif __name__ == "__main__":\n    def f(x: y): pass\n'
    namespace = {}
    exec(compile_file(text, "a.py").guards[0].code, namespace)

    assert namespace["f"].__annotations__ == {"x": "y"}


@pytest.mark.parametrize("numbers", [(11, 12, 13), (11, 14, 20)], ids=["together", "apart"])
def test_code_of_a_page_has_the_chapters_lines(numbers):
    code = compile_page("x = 1\ny = 2\nz = 3", numbers, "docs/a.md", 0, wants_last=False)

    assert {line for _, _, line in code.body.co_lines() if line} >= set(numbers)


@pytest.mark.parametrize("numbers", [(11, 12, 13), (11, 14, 20)], ids=["together", "apart"])
def test_wrong_syntax_has_the_chapters_line(numbers):
    with pytest.raises(SyntaxError) as caught:
        compile_page("x = 1\ny = = 2\nz = 3", numbers, "docs/a.md", 0, wants_last=False)

    assert caught.value.lineno == numbers[1]


def test_a_string_over_lines_that_were_apart_stays_as_it_is():
    code = compile_page('x = """a\nb"""', (3, 9), "docs/a.md", 0, wants_last=False)
    namespace = {}
    exec(code.body, namespace)

    assert namespace["x"] == "a\nb"


@pytest.mark.parametrize(("text", "value"), [("x = 1\nx + 1", 2), ("3", 3)])
def test_the_last_expression_is_apart_when_it_is_wanted(text, value):
    code = compile_page(text, (1, 2), "docs/a.md", 0, wants_last=True)
    namespace = {}
    exec(code.body, namespace)

    assert eval(code.last, namespace) == value


@pytest.mark.parametrize("text", ["", "x = 1", "pass"])
def test_what_does_not_end_with_an_expression_has_no_last_one(text):
    assert compile_page(text, (1,), "docs/a.md", 0, wants_last=True).last is None


def test_remembered_lines_are_quoted_and_make_a_path_the_projects():
    remember_lines("docs/only-here.md", {3: "x = 1"})
    remember_lines("docs/only-here.md", {5: "y = 2"})

    assert [linecache.getline("docs/only-here.md", number) for number in (3, 4, 5)] == ["x = 1\n", "\n", "y = 2\n"]
    assert is_project("docs/only-here.md")
    assert not is_project(linecache.__file__)
    assert not is_project("<string>")
