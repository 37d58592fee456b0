"""Make Sphinx's incremental build equal a clean one.  Knows documents and builders, nothing of live code.

Sphinx decides by time stamps what to read, and writes only what was read.  So a page keeps old numbers, titles and
citation labels of other pages, an edit whose stamp was kept is missed, and a deleted chapter stays on the site.
Five small hooks mend that; each is named after the event that it answers.
"""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import docutils
import myst_parser
import pygments
import sphinx
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.index_entries import split_index_msg

from scratchbook.core.digests import code_digest, file_digest
from scratchbook.ext import interrupted
from scratchbook.ext.interrupted import Lost, begin_writing, end, record_path, was_interrupted

RECORD_FORMAT = 5
DEPENDS_EVENT = "scratchbook-depends"
TEMPLATE = re.compile(r"(_t|\.jinja)$")  # such a static file is written under the name without it
CITATION_KEY = re.compile(r"[^,{}\s]+")

logger = logging.getLogger(__name__)


class PagesDomain(Domain):
    """Remember what each page was read from and which names it refers to.

    sources: docname -> path from the source folder -> SHA-256 of the bytes, None for a file that was not there.
    targets: docname -> sorted names, as its cross references write them.
    bibliographies: path -> SHA-256 of each file of references as it was parsed.
    """

    name = "scratchbook-pages"
    label = "pages"
    data_version = 1
    initial_data: ClassVar[dict[str, dict[str, Any]]] = {"sources": {}, "targets": {}, "bibliographies": {}}

    @property
    def sources(self) -> dict[str, dict[str, str | None]]:
        """What each page was read from."""
        return self.data["sources"]  # type: ignore[no-any-return]

    @property
    def targets(self) -> dict[str, list[str]]:
        """Which names each page refers to."""
        return self.data["targets"]  # type: ignore[no-any-return]

    def clear_doc(self, docname: str) -> None:
        """Forget a page."""
        self.sources.pop(docname, None)
        self.targets.pop(docname, None)

    def merge_domaindata(self, docnames: Set[str], otherdata: dict[str, Any]) -> None:
        """Take over the pages that another process has read."""
        for docname in docnames:
            for kind in ("sources", "targets"):
                if docname in otherdata[kind]:
                    self.data[kind][docname] = otherdata[kind][docname]


def pages_of(env: BuildEnvironment) -> PagesDomain:
    """Return the domain, typed."""
    domain = env.domains["scratchbook-pages"]
    assert isinstance(domain, PagesDomain)
    return domain


# Reading: by content, not by time stamps.


def on_builder_inited(app: Sphinx) -> None:
    """Have a file of references parsed again when its bytes have changed, whatever its time stamp says."""
    filecmp.clear_cache()  # it goes by stamps: a process that builds twice would not copy a file that kept its own
    bibdata: Any = app.env.domaindata.get("cite", {}).get("bibdata")
    known = pages_of(app.env).data["bibliographies"]
    for path, file in bibdata.bibfiles.items() if bibdata else ():
        if known.get(str(path)) != file_digest(path):
            bibdata.bibfiles[path] = file._replace(mtime=-1.0)


def on_source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Note the bytes that a page is read from; `content` proves that they are the ones that Sphinx has."""
    path = app.env.doc2path(docname)
    data = path.read_bytes()
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    is_same = text == content[0].replace("\r\n", "\n").replace("\r", "\n")
    # A file that changed while it was read is read once more by the next build.
    digest = hashlib.sha256(data).hexdigest() if is_same else None
    pages_of(app.env).sources[docname] = {relative(app, path): digest}


def on_doctree_read(app: Sphinx, doctree: nodes.document) -> None:
    """Note what else the page was read from, and the names that it refers to."""
    env, docname = app.env, app.env.current_document.docname
    pages = pages_of(env)
    sources = pages.sources.setdefault(docname, {})
    for dependency in sorted(str(path) for path in env.dependencies.get(docname, ())):
        sources.setdefault(dependency, file_digest(app.srcdir / dependency))
        if env.path2doc(str(app.srcdir / dependency)) in env.found_docs:
            env.note_included(str(app.srcdir / dependency))  # or it is said to be in no table of contents
    names = {name for node in doctree.findall(addnodes.pending_xref) for name in target_names(node)}
    pages.targets[docname] = sorted(names)


def on_get_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages of which some source has other bytes than when it was read, or that list a chapter which
    is gone."""
    digests: dict[str, str | None] = {}

    def digest(path: str) -> str | None:
        if path not in digests:
            digests[path] = file_digest(app.srcdir / path)
        return digests[path]

    known = pages_of(env).sources
    return [
        docname
        for docname in env.found_docs - added - changed
        if removed.intersection(env.toctree_includes.get(docname, ()))
        or any(digest(path) != before for path, before in known.get(docname, {"": "unknown"}).items())
    ]


# Resolving: a page is written again when anything that it shows of other pages has changed.


def on_updated(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Put what pages were read in any order into one order, before anything is numbered by it."""
    cited = env.domaindata.get("cite", {})
    bibliographies = cited.get("bibliographies", {})
    if bibliographies:
        pages_of(env).data["bibliographies"] = {str(path): file_digest(path) for path in cited["bibdata"].bibfiles}
        ordered = sorted(bibliographies.items(), key=lambda item: (item[0].docname, item[1].line))
        bibliographies.clear()
        bibliographies.update(ordered)
    return []


def page_digests(app: Sphinx, late: list[Any]) -> dict[str, str]:
    """Return a digest of all that each page shows: its sources, what it takes from other pages, and late settings."""
    env = app.env
    numbers, contents = cache(partial(numbers_of, env)), cache(partial(contents_of, env))
    names = known_names(env, numbers)
    navigation = content_of_navigation(env)
    settings = [[value.name, value.value] for value in late]
    pages = pages_of(env)
    shown = app.emit(DEPENDS_EVENT)  # each room goes through the book once, not once a page
    return {
        docname: digest_of(
            [
                own_digest(),
                settings,
                navigation,
                pages.sources.get(docname),
                [names.get(target.lower()) for target in pages.targets.get(docname, ())],
                numbers(docname),
                [contents(child) for child in descendants(env, docname)],
                [room.get(docname) for room in shown],
            ]
        )
        for docname in sorted(env.found_docs & env.all_docs.keys())
    }


@cache
def own_digest() -> str:
    """Return the digest of our own code and of what it stands on: another version may read and write other pages."""
    versions = [sphinx.__version__, docutils.__version__, myst_parser.__version__, pygments.__version__]
    return digest_of([versions, code_digest(str(Path(__file__).parent.parent))])


def known_names(env: BuildEnvironment, numbers: Callable[[str], str]) -> dict[str, str]:
    """Return, for each name that a reference can have, a digest of all that the reference would show.

    numbers: of the sections and figures of a page.
    """
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for domain in env.domains.sorted():
        for name, shown, kind, docname, anchor, _ in domain.get_objects():
            found[name.lower()].append([domain.name, kind, str(shown), docname, anchor])
    standard = env.domains.standard_domain
    for name, label in [*standard.labels.items(), *standard.anonlabels.items()]:
        found[name.lower()].append([*map(str, label), numbers(label[0])])
    for name, (docname, number) in env.domains.math_domain.equations.items():
        found[name.lower()].append([docname, number, str(env.toc_secnumbers.get(docname, {}).get(""))])
    for citation in env.domaindata.get("cite", {}).get("citations", ()):
        where = citation.bibliography_key.docname
        entry = citation.formatted_entry
        found[citation.key.lower()].append([where, citation.citation_id, entry.label, str(entry.text)])
    for docname, title in env.titles.items():
        found[docname.lower()].append([title.astext(), numbers(docname)])
    return {name: digest_of(sorted(shown, key=str)) for name, shown in found.items()}


def content_of_navigation(env: BuildEnvironment) -> str:
    """Return a digest of what every page shows of the whole book: titles, their order and their numbers."""
    titles = {docname: title.astext() for docname, title in env.titles.items()}
    order = dict(sorted(env.toctree_includes.items()))
    first_numbers = {docname: str(numbers.get("")) for docname, numbers in sorted(env.toc_secnumbers.items())}
    return digest_of([titles, order, first_numbers])


def numbers_of(env: BuildEnvironment, docname: str) -> str:
    """Return the section and figure numbers of one page."""
    return str([sorted(numbers.get(docname, {}).items()) for numbers in (env.toc_secnumbers, env.toc_fignumbers)])


def contents_of(env: BuildEnvironment, docname: str) -> str:
    """Return what a table of contents shows of one page."""
    toc = env.tocs.get(docname)
    return toc.pformat() if toc is not None else ""


def descendants(env: BuildEnvironment, docname: str) -> Iterator[str]:
    """Go through all pages below one, each once."""
    seen: set[str] = set()
    waiting = list(env.toctree_includes.get(docname, ()))
    while waiting:
        child = waiting.pop(0)
        if child not in seen:
            seen.add(child)
            yield child
            waiting += env.toctree_includes.get(child, ())


def target_names(node: addnodes.pending_xref) -> Iterator[str]:
    """Return each name under which a reference may be looked up."""
    target = str(node.get("reftarget", ""))
    yield target
    yield from CITATION_KEY.findall(target) if node.get("refdomain") == "cite" else ()
    yield target.lstrip("#/").rpartition("#")[2]


# Writing: what a clean build would not have is taken away.


@dataclass
class Written:
    """What this build knows of its output folder: what each page should show, and which pages it writes.

    early: the settings that Sphinx compares with those of the build before; those of a theme come too late for that.
    others: pages that no chapter is, such as the index.
    """

    early: frozenset[str] = frozenset()
    others: set[str] = field(default_factory=set)
    digests: dict[str, str] = field(default_factory=dict)
    shown: dict[str, list[str]] = field(default_factory=dict)  # by page: pictures and downloads in the output folder
    lost: Lost = field(default_factory=Lost)

    def on_get_updated(self, app: Sphinx, env: BuildEnvironment) -> list[str]:
        """Return the pages that would be written differently from the way they stand in the output folder."""
        self.shown.clear()  # a process that builds again and again keeps this object
        self.others.clear()
        self.digests = page_digests(app, [value for value in app.config if value.name not in self.early])
        record = read_record(app)
        if not files_of(app.outdir).issuperset(record["whole"]):
            record = empty_record()
        if record["site"] not in ("", site_digest(app)):
            record = empty_record()
            for folder in ("_static", "_sources") if app.builder.format == "html" else ():
                shutil.rmtree(Path(app.outdir) / folder, ignore_errors=True)  # of another theme, language or choice
        before, now = set(record["copied"]), set(copied_files(app))
        # Before the theme's are copied: one may have the same name.  Pages that no chapter is are made anew in every
        # build, and whoever goes by their time stamps would leave them as they are.
        for file in (before - now).union(record["others"]):
            remove_output(Path(app.outdir), file)
        pages = {} if was_interrupted(app) else record["pages"]
        known = {
            docname: page["digest"]
            for docname, page in pages.items()
            if not (before | now) & {*page["files"]} and all((app.outdir / file).is_file() for file in page["files"])
        }
        begin_writing(app)
        return [docname for docname, digest in self.digests.items() if known.get(docname) != digest]

    def on_doctree_resolved(self, app: Sphinx, doctree: nodes.document, docname: str) -> None:
        """Note that a page is being written, and what it shows from files."""
        self.shown[docname] = shown_files(app.builder, doctree)

    def on_page_context(self, app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        """Note a page that no chapter is."""
        if doctree is None:
            self.others.add(pagename)

    def on_build_finished(self, app: Sphinx, exception: Exception | None) -> None:
        """Delete what no page has or shows any more, then record what now stands in the output folder.

        After an exception, or when a page could not be written, the next build writes every page, see `interrupted`.
        """
        if exception is not None or self.lost.paths:
            return
        record = read_record(app)
        before = recorded_files(record)
        for docname in record["pages"].keys() - app.env.all_docs.keys():
            del record["pages"][docname]
        for docname in self.shown.keys() & self.digests.keys():
            record["pages"][docname] = {
                "digest": self.digests[docname],
                "files": [
                    file
                    for file in (*output_files(app.builder, docname), *self.shown[docname])
                    if (app.outdir / file).is_file()
                ],
            }
        record["others"] = [file for name in sorted(self.others) for file in output_files(app.builder, name)[:1]]
        for file in before - recorded_files(record):
            remove_output(Path(app.outdir), file)
        record["copied"] = copied_files(app)
        record["whole"] = sorted(files_of(app.outdir) - recorded_files(record))
        record["site"] = site_digest(app)
        write_record(app, record)
        end(app)


def on_collect_pages(app: Sphinx) -> Iterable[tuple[str, dict[str, Any], str]]:
    """Mend the search index, which Sphinx has read back from its own output and lost things on the way."""
    indexer = getattr(app.builder, "indexer", None)
    if indexer is not None:
        for terms in (indexer._mapping, indexer._title_mapping):
            for word in [word for word, docnames in terms.items() if not docnames]:
                del terms[word]
        entries = app.env.domains.index_domain.entries
        indexer._index_entries = {
            docname: sorted(index_words(entries.get(docname, ()))) for docname in sorted(indexer._titles)
        }
    return []


def index_words(entries: Iterable[tuple[str, str, str, str, str | None]]) -> set[tuple[str, str, str]]:
    """Return the search words of one page's index entries, as Sphinx's own indexer makes them."""
    words: set[tuple[str, str, str]] = set()
    for kind, value, target, main, _ in entries:
        with contextlib.suppress(ValueError):
            parts = split_index_msg(kind, value)
            shown = parts[:1] + parts if kind in {"see", "seealso"} else parts
            words |= {(part, target or "", main) for part in shown}
    return words


def output_files(builder: Builder, docname: str) -> list[str]:
    """Return the files that one page has in the output folder, relative to it."""
    outdir, files = Path(builder.outdir), []
    if hasattr(builder, "get_output_path"):
        files.append(Path(builder.get_output_path(docname)).relative_to(outdir).as_posix())
        source = builder.env.doc2path(docname, base=False)
        files.append(f"_sources/{source}{builder.config.html_sourcelink_suffix}")
        files.append(f"_sources/{source}")
    elif suffix := getattr(builder, "out_suffix", ""):
        files.append(docname + suffix)
    return files


def shown_files(builder: Builder, doctree: nodes.document) -> list[str]:
    """Return the pictures and downloads of a page that the builder copies, relative to the output folder."""
    if not hasattr(builder, "copy_image_files") or builder.format not in ("html", "latex"):
        return []
    folder = f"{builder.imagedir}/" if builder.imagedir else ""
    found = set()
    for image in doctree.findall(nodes.image):
        for uri in (image["uri"], *image.get("candidates", {}).values()):
            if uri in builder.env.images:
                found.add(folder + builder.env.images[uri][1])
    for download in doctree.findall(addnodes.download_reference):
        if download.get("filename"):
            found.add(f"_downloads/{download['filename']}")
    return sorted(found)


def copied_files(app: Sphinx) -> list[str]:
    """Return what the project's own folders put into the output folder."""
    if app.builder.format != "html":
        return []
    static = {f"_static/{TEMPLATE.sub('', file)}" for file in files_in(app, app.config.html_static_path)}
    return sorted(static.union(files_in(app, app.config.html_extra_path)))


def files_in(app: Sphinx, entries: Iterable[str]) -> Iterator[str]:
    """Yield the files in folders beside conf.py, as paths from those; an entry may be a file too."""
    for entry in entries:
        path = Path(app.confdir) / entry
        yield from [file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()] or [path.name]


def recorded_files(record: dict[str, Any]) -> set[str]:
    """Return every file of a page that the record knows."""
    return {*record["others"], *(file for page in record["pages"].values() for file in page["files"])}


def files_of(folder: Path) -> set[str]:
    """Return the names of the files in a folder but those that are hidden, and of none in the folders below."""
    return {entry.name for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith(".")}


def remove_output(outdir: Path, file: str) -> None:
    """Remove a file and the folders that it leaves empty."""
    path = outdir / file
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == outdir or not folder.is_dir() or any(folder.iterdir()):
            return
        folder.rmdir()


# The record of what stands in one builder's output folder.


def read_record(app: Sphinx) -> dict[str, Any]:
    """Read the record; an odd one is an empty one, and then every page is written."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(record_path(app).read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.get("format") == RECORD_FORMAT:
            return record
    return empty_record()


def empty_record() -> dict[str, Any]:
    """Return the record of an output folder in which nothing stands.

    site: a digest of settings.   pages: by page, a digest of what it shows, and its files.   others: files of pages
    that no chapter is.   copied: from the project's folders.   whole: that only all pages together give.
    """
    return {"format": RECORD_FORMAT, "site": "", "pages": {}, "others": [], "copied": [], "whole": []}


def site_digest(app: Sphinx) -> str:
    """Return a digest of the settings that decide which files stand beside the pages; Sphinx takes none away."""
    chosen = [value for value in app.config if value.name.startswith("html_") and value.name != "html_context"]
    return digest_of([app.config.language, app.config.extensions, *([value.name, value.value] for value in chosen)])


def write_record(app: Sphinx, record: dict[str, Any]) -> None:
    """Write the record whole; where that cannot be, have none, and the next build writes every page."""
    path = record_path(app)
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps(record, sort_keys=True), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        path.unlink(missing_ok=True)
        fact = f"{path} cannot be written: {error.strerror or error}; the next build writes every page"
        logger.warning(fact, type="scratchbook", subtype="cache")


def relative(app: Sphinx, path: Path) -> str:
    """Return a path from the source folder, as Sphinx notes dependencies."""
    return path.relative_to(app.srcdir).as_posix() if path.is_relative_to(app.srcdir) else str(path)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def register(app: Sphinx) -> None:
    """Connect the hooks, if the project wants them."""
    app.add_domain(PagesDomain)
    app.add_event(DEPENDS_EVENT)
    app.add_config_value("scratchbook_incremental", True, "env", types=frozenset({bool}))
    app.connect("config-inited", connect_hooks)


def connect_hooks(app: Sphinx, config: Any) -> None:
    """Connect the hooks once it is known that they are wanted."""
    if not config.scratchbook_incremental:
        return
    written = Written(frozenset(value.name for value in config))
    interrupted.connect(app, written.lost)
    app.connect("builder-inited", on_builder_inited, priority=1)
    app.connect("source-read", on_source_read, priority=1)
    app.connect("doctree-read", on_doctree_read)
    app.connect("env-get-outdated", on_get_outdated)
    app.connect("env-updated", on_updated, priority=1)
    app.connect("env-get-updated", written.on_get_updated, priority=900)
    app.connect("doctree-resolved", written.on_doctree_resolved, priority=900)
    app.connect("html-collect-pages", on_collect_pages)
    app.connect("html-page-context", written.on_page_context)
    app.connect("build-finished", written.on_build_finished)
