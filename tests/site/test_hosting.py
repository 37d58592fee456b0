"""The site as a host builds it: with the README's commands, and beside the versions that are there."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SETTINGS = [ROOT / ".readthedocs.yaml", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def commands(value):
    """Return every text within the settings of a host."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in commands(part)]


@pytest.fixture(params=SETTINGS, ids=lambda path: path.name)
def settings(request):
    return commands(yaml.safe_load(request.param.read_text("utf-8")))


def test_a_host_starts_only_targets_that_make_has(settings):
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = [line for text in settings for line in re.findall(r"^make ([a-z ]+)$", text, re.MULTILINE)]

    assert set(" ".join(lines).split()) <= known


def test_hosts_build_the_book_with_the_readme_command_and_the_real_weights():
    for path in (ROOT / ".readthedocs.yaml", ROOT / ".github" / "workflows" / "site.yml"):
        text = path.read_text("utf-8")
        assert re.search(r"make html$", text, re.MULTILINE), path.name
        assert re.search(r"make (PYTHON=python )?weights$", text, re.MULTILINE), path.name


def test_what_pages_printed_is_kept_between_builds():
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text("utf-8")

    assert "path: build/.scratchbook" in text


def test_every_build_of_a_published_site_knows_its_address():
    site = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text("utf-8"))

    assert {"BOOK_URL", "BOOK_REPOSITORY"} <= set(site["env"])  # for `make links` and `make pdf` build too
    assert [step["run"] for step in site["jobs"]["build"]["steps"] if "run" in step and "env" in step] == []


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"BOOK_REPOSITORY": "https://code.test/a/b/", "GITHUB_SHA": "c0ffee"}, "https://code.test/a/b/blob/c0ffee/"),
        (
            {"READTHEDOCS_GIT_CLONE_URL": "https://code.test/a/b.git", "READTHEDOCS_GIT_COMMIT_HASH": "decade"},
            "https://code.test/a/b/blob/decade/",
        ),
        ({"BOOK_REPOSITORY": "https://code.test/a/b"}, "https://code.test/a/b/blob/main/"),
        ({}, ""),
    ],
)
def test_links_to_code_lead_to_the_commit_that_was_built(monkeypatch, variables, address):
    for name in ("BOOK_REPOSITORY", "GITHUB_SHA", "READTHEDOCS_GIT_CLONE_URL", "READTHEDOCS_GIT_COMMIT_HASH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    source = runpy.run_path(str(ROOT / "conf.py"))["scratchbook_source"]
    assert source.partition("{path}")[0] == address


def git(folder, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path):
    """A clone of an empty repository, and a site to publish."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "origin")
    git(tmp_path, "clone", "--quiet", "origin", "clone")
    clone = tmp_path / "clone"
    (clone / "README.md").write_text("A book.\n")
    git(clone, "add", "README.md")
    git(clone, "commit", "--quiet", "-m", "first")
    site = tmp_path / "site"
    (site / "_static").mkdir(parents=True)
    (site / "index.html").write_text("one")
    (site / "404.html").write_text("not here")
    return clone, site


def publish(clone, site, version):
    return subprocess.run(
        [ROOT / ".ci" / "publish", site, version], cwd=clone, check=False, capture_output=True, text=True
    )


def test_a_version_is_published_beside_the_others(repository):
    clone, site = repository
    first = publish(clone, site, "latest")
    (site / "index.html").write_text("two")
    second = publish(clone, site, "v1.0")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    git(clone, "fetch", "--quiet", "origin", "gh-pages")
    files = git(clone, "ls-tree", "-r", "--name-only", "FETCH_HEAD").split()
    assert {"latest/index.html", "v1.0/index.html", "index.html", "404.html", ".nojekyll"} <= set(files)
    assert "README.md" not in files
    assert git(clone, "show", "FETCH_HEAD:latest/index.html") == "one"
    assert '<a href="v1.0/">v1.0</a>' in git(clone, "show", "FETCH_HEAD:index.html")


def test_a_version_that_is_published_meanwhile_stays(repository):
    clone, site = repository
    publish(clone, site, "latest")
    git(clone.parent, "clone", "--quiet", "origin", "other")
    hook = clone / ".git" / "hooks" / "pre-push"
    other = f"cd {clone.parent / 'other'} && env -u GIT_DIR {ROOT / '.ci' / 'publish'} {site} v1.0"
    hook.write_text(f"#!/bin/sh\nrm {hook}\n({other})\n")
    hook.chmod(0o755)
    (site / "index.html").write_text("two")
    done = publish(clone, site, "latest")

    assert done.stdout.endswith("published latest\n"), done.stderr
    git(clone, "fetch", "--quiet", "origin", "gh-pages")
    assert git(clone, "show", "FETCH_HEAD:latest/index.html") == "two"
    assert git(clone, "show", "FETCH_HEAD:v1.0/index.html") == "two"


def test_no_two_versions_share_a_group_that_drops_those_that_wait():
    jobs = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())["jobs"]

    assert "github.ref" in jobs["publish"]["concurrency"]


def test_a_version_replaces_itself_whole(repository):
    clone, site = repository
    publish(clone, site, "latest")
    (site / "404.html").unlink()
    publish(clone, site, "latest")

    git(clone, "fetch", "--quiet", "origin", "gh-pages")
    assert "latest/404.html" not in git(clone, "ls-tree", "-r", "--name-only", "FETCH_HEAD").split()


def test_publishing_the_same_again_changes_nothing(repository):
    clone, site = repository
    publish(clone, site, "latest")

    assert publish(clone, site, "latest").stdout == "nothing changed\n"


@pytest.mark.parametrize("version", ["../main", "a b", ".git", ""])
def test_a_version_that_is_no_name_is_refused(repository, version):
    clone, site = repository

    made = publish(clone, site, version)

    assert made.returncode == 2
    assert "cannot be the name of a folder" in made.stdout
