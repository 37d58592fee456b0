"""Watch the process that runs one page: its time, its output, its end.  Makes the page's outcome of what it said."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from scratchbook.core.capture import Splitter
from scratchbook.core.cells import BranchCell, Cell, CellOutcome, Outcome, Part, Session, Uses
from scratchbook.core.errors import Mistake
from scratchbook.core.failures import describe_death, fatal_place, machine_folders
from scratchbook.core.listings import Listing, make_listings
from scratchbook.core.printed import show_bytes
from scratchbook.core.processes import children_of, command_of, kill_all_children, kill_below
from scratchbook.core.records import from_json

READ_BYTES: Final = 256 * 1024
REPORT_SECONDS: Final = 0.05  # for the place where a block was when its time was up


@dataclass
class Channels:
    """What joins a page's process to its supervisor.

    reports: lines of JSON.   output: all that is printed.   fatal: the last places, written by `faulthandler`.
    token: of the marks in the output.   home, temporary: folders of the session's own, removed with it.
    """

    reports: int
    output: int
    fatal: int
    token: str
    home: str
    temporary: str


@dataclass
class Seen:
    """What is known of a cell so far.   begin: its first mark.   line: what its process said at its end."""

    begin: int
    started: float
    process: int
    line: dict[str, Any] | None = None
    mistakes: list[Mistake] = field(default_factory=list)


class Supervisor:
    """One page's run, from the fork to the outcome.

    start: runs the page in a child of this process and returns the child's number.
    connection: to who asked; its end means that nobody waits any more.
    """

    def __init__(
        self,
        session: Session,
        start: Callable[[Session, dict[str, Listing], Channels], int],
        connection: socket.socket | None,
    ) -> None:
        self.session = session
        self.connection = connection
        self.listings = make_listings(session)
        self.cells: dict[str, Cell] = {cell.id: cell for cell in session.cells}
        self.seen: dict[str, Seen] = {}
        self.open: str | None = None
        self.uses = Uses()
        self.mistakes: list[Mistake] = []
        self.starters: dict[int, str] = {}
        self._folder = tempfile.mkdtemp(prefix="scratchbook-")
        self._rest = b""
        self._fatal = b""
        self._ended = False
        self.started = time.monotonic()
        self._open_channels()
        self._child = start(session, self.listings, self._far)
        for handle in (self._far.reports, self._far.output, self._far.fatal):
            os.close(handle)

    def _open_channels(self) -> None:
        token = os.urandom(16).hex()
        self.splitter = Splitter(token)
        self._reports, reports = os.pipe()
        self._output, output = os.pipe()
        self._report_of_fatal, fatal = os.pipe()
        for handle in (self._reports, self._output, self._report_of_fatal):
            os.set_blocking(handle, False)
        folders = [os.path.join(self._folder, name) for name in ("home", "tmp")]
        for folder in folders:
            os.mkdir(folder)
        self._far = Channels(reports, output, fatal, token, *folders)

    def run(self) -> Outcome:
        """Wait for the page's end, or make it; return what came out."""
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        try:
            status = self._watch(wake)
            self._read_all()
            self.splitter.finish()
            self._note_death(status)
            self._note_left_processes()
        finally:
            kill_all_children()
            signal.set_wakeup_fd(-1)
            shutil.rmtree(self._folder, ignore_errors=True)
        return self._outcome()

    def _watch(self, wake: int) -> int:
        """Read what comes and keep the limits until the page's process has ended; return its status."""
        poll = select.poll()
        handles = [self._reports, self._output, self._report_of_fatal, wake]
        if self.connection:
            handles.append(self.connection.fileno())
        for handle in handles:
            poll.register(handle, select.POLLIN)
        while True:
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                return status
            left = self._seconds_left()
            for handle, event in poll.poll(max(0.0, left) * 1000):
                if self.connection and handle == self.connection.fileno():
                    raise ConnectionAbortedError("nobody waits for this page")
                if not self._read(handle) and event & (select.POLLHUP | select.POLLERR):
                    poll.unregister(handle)
            self._keep_limits()

    def _read_all(self) -> None:
        """Read what is left in the pipes of a page that has ended."""
        for handle in (self._reports, self._output, self._report_of_fatal):
            while self._read(handle):
                pass

    def _read(self, handle: int) -> bool:
        """Take what a pipe holds; return whether there was anything."""
        try:
            data = os.read(handle, READ_BYTES)
        except BlockingIOError:
            return False
        if handle == self._output:
            self.splitter.feed(data)
        elif handle == self._report_of_fatal:
            self._fatal += data
        elif handle == self._reports:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):  # code that writes into every descriptor of its process
                    self._take(json.loads(line))
        return bool(data)

    def _take(self, line: dict[str, Any]) -> None:
        """Note one line that the page's process said."""
        if "begin" in line:
            self.open = line["begin"]
            process = line.get("process", self._child)
            self.seen[self.open] = Seen(line["mark"], time.monotonic(), process)
        elif "end" in line:
            seen = self.seen[line["end"]]
            if seen.line is None:
                seen.line = line
            self._note_starter(line["end"])
            self.open = None
        elif "uses" in line:
            self.uses = from_json(Uses, line["uses"])
        elif "broken" in line:
            self.mistakes.append(Mistake("run", "scratchbook itself failed while it ran this page", None, line["broken"]))

    def _note_starter(self, cell: str) -> None:
        """Remember which block a process is from; one that is still there after the page is told."""
        for process in (*children_of(self._child), *children_of(os.getpid())):
            self.starters.setdefault(process, cell)

    def _block_seconds(self, cell: Cell) -> float:
        return getattr(cell, "seconds", None) or self.session.limits.block_seconds

    def _page_seconds(self) -> float:
        """Return the page's limit; a block with a longer one of its own has its time on top."""
        usual = self.session.limits.block_seconds
        more = sum(max(0.0, self._block_seconds(cell) - usual) for cell in self.session.cells)
        return self.session.limits.page_seconds + more

    def _seconds_left(self) -> float:
        """Return the time until the next limit."""
        now = time.monotonic()
        left = self.started + self._page_seconds() - now
        if self.open:
            left = min(left, self.seen[self.open].started + self._block_seconds(self.cells[self.open]) - now)
        return left

    def _keep_limits(self) -> None:
        """Kill the open block when it has printed too much or run too long."""
        if self.open is None:
            if self._seconds_left() <= 0 and not self._ended:
                self._stop(None, Mistake("run", self._page_text()))
            return
        seen, cell = self.seen[self.open], self.cells[self.open]
        most = self.session.limits.captured_bytes
        if self.splitter.size_since(seen.begin) > most:
            text = f"printed more than {say_bytes(most)} and was stopped; raise it with scratchbook_captured_bytes"
            self._stop(seen, Mistake("run", text))
        elif self._seconds_left() <= 0:
            seconds = self._block_seconds(cell)
            is_page = time.monotonic() - seen.started < seconds
            text = (
                f"ran longer than {seconds:g} s and was stopped; "
                "raise it with :timeout: or scratchbook_block_seconds"
            )
            self._stop(seen, Mistake("run", self._page_text() if is_page else text))

    def _page_text(self) -> str:
        seconds = self._page_seconds()
        return f"the page ran longer than {seconds:g} s and was stopped here; raise it with scratchbook_page_seconds"

    def _stop(self, seen: Seen | None, mistake: Mistake) -> None:
        """Ask the open block where it is, then kill it with all below it."""
        process = seen.process if seen else self._child
        self._fatal = b""
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGUSR1)
        select.select([self._report_of_fatal], [], [], REPORT_SECONDS)
        while self._read(self._report_of_fatal):
            pass
        kill_below(process)
        place = self._fatal_place()
        self._ended = self._ended or process == self._child
        if seen is None:
            self.mistakes.append(mistake)
            return
        text = mistake.text if place is None else self._with_origin(mistake.text, place.path)
        seen.mistakes.append(Mistake(mistake.kind, text, place))
        seen.line = {"status": "failed"}
        self.open = None

    def _with_origin(self, text: str, path: str) -> str:
        cell = self.cells[self.open or ""]
        return text if path == cell.place.path else f"{text} (run by {cell.place})"

    def _fatal_place(self) -> Any:
        paths = {path for path, _ in self.session.sources} | {cell.place.path for cell in self.session.cells}
        return fatal_place(self._fatal.decode("utf-8", "replace"), lambda path: path in paths)

    def _note_death(self, status: int) -> None:
        """Tell why the page's process ended while a block was open."""
        if self.open is None:
            if status and not self._ended and not self.mistakes:
                self.mistakes.append(describe_death(status, "", lambda path: False))
            return
        mistake = describe_death(status, "", lambda path: False)
        place = self._fatal_place()
        text = mistake.text if place is None else self._with_origin(mistake.text, place.path)
        seen = self.seen[self.open]
        seen.mistakes.append(Mistake(mistake.kind, text, place))
        seen.line = {"status": "failed"}

    def _note_left_processes(self) -> None:
        """Tell of each process that a block left behind."""
        for process in children_of(os.getpid()):
            command = command_of(process)
            cell = self.starters.get(process) or (list(self.seen)[-1] if self.seen else None)
            if command is None or cell is None or "multiprocessing.resource_tracker" in command:
                continue
            text = f"left a process running, which was stopped: {command[:80] or process}; wait for it or end it"
            self.seen[cell].mistakes.append(Mistake("run", text))

    def _outcome(self) -> Outcome:
        """Make the outcome of each cell from what is known."""
        cells = {cell.id: self._cell_outcome(cell) for cell in self.session.cells}
        return Outcome(cells, tuple(self.mistakes), self.uses, time.monotonic() - self.started)

    def _cell_outcome(self, cell: Cell) -> CellOutcome:
        listing = self.listings.get(cell.id, Listing())
        parts = [listing.part] if listing.part else []
        seen = self.seen.get(cell.id)
        if seen is None or seen.line is None:
            return CellOutcome("not run", tuple(parts), listing.mistakes)
        line, mistakes = seen.line, list(seen.mistakes)
        spans = line.get("spans", [[seen.begin, max(self.splitter.pieces) + 1]])
        if not isinstance(cell, BranchCell):
            parts += self._text_parts(spans, mistakes)
        parts += [Part(part["kind"], part["data"]) for part in line.get("parts", ())]
        mistakes += [Mistake.from_json(mistake) for mistake in line.get("mistakes", ())]
        for check, mistake in line.get("checks", ()):
            if self.splitter.join(check):
                mistakes.append(Mistake.from_json(mistake))
        status = "failed" if seen.mistakes else line["status"]
        return CellOutcome(status, tuple(parts), (*listing.mistakes, *mistakes))

    def _text_parts(self, spans: list[tuple[int, int]], mistakes: list[Mistake]) -> list[Part]:
        """Return what a block printed, as a page can show it."""
        data = self.splitter.join(spans)
        if not data:
            return []
        folders = machine_folders(self.session.root, self._far.home, self._far.temporary)
        printed = show_bytes(data, self.session.limits.shown_bytes, folders)
        if printed.wrong:
            text = f"printed {printed.wrong} bytes that are not UTF-8, shown as \ufffd; decode them first"
            mistakes.append(Mistake("output", text))
        return [Part("text", {"text": printed.text, "cut": printed.cut})]


def say_bytes(count: int) -> str:
    """Return a number of bytes in the unit that an author would use."""
    for unit, size in (("MiB", 1024 * 1024), ("KiB", 1024)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} bytes"
