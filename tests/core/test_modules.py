"""Which files are the project's, and under which name each is imported."""

import os

import pytest

from scratchbook.core.modules import Found, Project


@pytest.fixture
def project(tmp_path):
    for path in (
        "scratch/model.py",
        "scratch/parts/__init__.py",
        "scratch/parts/norm.py",
        ".venv/lib/site.py",
        "conf.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    return Project(str(tmp_path), ("scratch",), {"docs/beside.py": b"x = 1"}, (str(tmp_path / ".venv"),))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("scratch/model.py", "model"),
        ("scratch/parts/norm.py", "parts.norm"),
        ("scratch/parts/__init__.py", "parts"),
        ("docs/beside.py", "beside"),
        ("deep/down/01-first.py", "01-first"),
    ],
)
def test_a_file_is_imported_by_its_path_from_its_source_folder(project, path, name):
    assert project.import_name(path) == name


def test_the_innermost_source_folder_counts(project):
    inner = Project(project.root, ("scratch", "scratch/parts"), {})

    assert inner.import_name("scratch/parts/norm.py") == "norm"


def test_a_module_is_looked_for_as_a_package_first_and_where_it_is_not_is_noted(project):
    assert project.look_up("model", ("scratch",)) == Found("scratch/model.py", False)
    assert project.look_up("parts", ("scratch",)) == Found("scratch/parts/__init__.py", True)
    assert project.look_up("numpy", ("scratch", "")) is None
    assert project.absent == {
        "scratch/model/__init__.py",
        "scratch/numpy/__init__.py",
        "scratch/numpy.py",
        "numpy/__init__.py",
        "numpy.py",
    }


def test_the_virtual_environment_below_the_root_is_not_the_projects(project):
    assert project.relative(os.path.join(project.root, ".venv", "lib", "site.py")) is None
    assert project.relative(os.path.join(project.root, "conf.py")) == "conf.py"


def test_a_path_outside_is_not_the_projects_and_a_link_to_the_root_is(project, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "book"
    link.symlink_to(project.root)

    assert project.relative("/etc/passwd") is None
    assert project.relative(f"{project.root}-other/x.py") is None
    assert project.relative(str(link / "conf.py")) == "conf.py"


def test_the_text_of_a_page_counts_before_the_one_on_disk(project):
    assert project.read("docs/beside.py") == b"x = 1"
