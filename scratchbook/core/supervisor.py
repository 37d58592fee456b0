"""Watch the process that runs one page: its time, its output, its end, and whatever it leaves behind."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from scratchbook.core.capture import Splitter
from scratchbook.core.cells import Cell, Outcome, Session, own_limit
from scratchbook.core.errors import Mistake, Place
from scratchbook.core.failures import fatal_place, machine_folders
from scratchbook.core.ledger import Entry, Ledger, raising
from scratchbook.core.listings import Listing
from scratchbook.core.processes import (
    command_of,
    descendants_of,
    kill_all_children,
    kill_below,
    living_children,
)

READ_BYTES: Final = 256 * 1024
# For the place where a block was when its time was up: until its first line comes, and between two lines.
REPORT_SECONDS: Final = 0.2
NEXT_LINE_SECONDS: Final = 0.03
GATHERING_SECONDS: Final = 0.001  # for more to come: waking up for every line takes longer than the line
COUNTING_SECONDS: Final = 0.25  # between two looks at how many processes there are
# Of Python's own: it ends by itself once the page has.
QUIET_COMMAND: Final = "multiprocessing.resource_tracker"


@dataclass(frozen=True)
class Channels:
    """What joins a page's process to its supervisor.

    reports: lines of JSON.   output: all that is printed.   fatal: the last places, written by `faulthandler`.
    token: of the marks in the output and of the reports.
    home, temporary: folders of the session's own, removed with it.
    """

    reports: int
    output: int
    fatal: int
    token: str
    home: str
    temporary: str


Start = Callable[[Session, dict[str, Listing], Channels], int]


class Supervisor:
    """One page's run, from the fork to the outcome.

    start: runs the page in a child of this process and returns the child's number.
    watched: what to do, meanwhile, when another of the process's descriptors can be read.
    """

    def __init__(self, session: Session, start: Start, watched: Mapping[int, Callable[[], None]]) -> None:
        self.session = session
        self._watched = watched
        self._folder = os.path.join(os.path.realpath(os.environ["TMPDIR"]), f"scratchbook-{os.urandom(8).hex()}")
        far = self._open_channels()
        folders = machine_folders(session.root, far.home, far.temporary)
        self._signature = far.token.encode()
        self.splitter = Splitter(far.token)
        self.ledger = Ledger(session, self.splitter, folders)
        self._rest = b""
        self._fatal = b""
        self._is_killed = False
        self._next_count = time.monotonic() + COUNTING_SECONDS
        self._child = start(session, self.ledger.listings, far)
        for handle in (far.reports, far.output, far.fatal):
            os.close(handle)

    def _open_channels(self) -> Channels:
        """Make the pipes and folders of a page; keep the near ends."""
        (self._reports, reports), (self._output, output), (self._fatal_reports, fatal) = (os.pipe() for _ in range(3))
        for handle in (self._reports, self._output, self._fatal_reports):
            os.set_blocking(handle, False)
        home, temporary = (os.path.join(self._folder, name) for name in ("home", "tmp"))
        for folder in (self._folder, home, temporary):
            os.mkdir(folder, 0o700)
        return Channels(reports, output, fatal, os.urandom(16).hex(), home, temporary)

    def run(self) -> Outcome:
        """Wait for the page's end, or make it; return what came out.  May raise what `watched` raises."""
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        try:
            status = self._watch(wake)
            for handle in (self._reports, self._output, self._fatal_reports):
                self._read_all(handle)
            self.splitter.finish()
            self.ledger.finish()
            if not self._is_killed:
                self.ledger.note_death(status, self._fatal_place())
            self._note_left_processes()
        finally:
            kill_all_children()
            signal.set_wakeup_fd(-1)
            for handle in (self._reports, self._output, self._fatal_reports, wake, woken):
                os.close(handle)
            remove_folders(self._folder)
        return self.ledger.outcome()

    def _watch(self, wake: int) -> int:
        """Read what comes and keep the limits until the page's process has ended; return its status."""
        poll = select.poll()
        for handle in (self._reports, self._output, self._fatal_reports, wake, *self._watched):
            poll.register(handle, select.POLLIN)
        while True:
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                return status
            wait = min(max(0.0, self._seconds_left()), COUNTING_SECONDS)
            events = poll.poll(wait * 1000)
            if events and all(handle != wake for handle, _ in events):
                time.sleep(GATHERING_SECONDS)
            for handle, event in events:
                if handle in self._watched:
                    self._watched[handle]()
                elif not self._read(handle) and event & (select.POLLHUP | select.POLLERR):
                    poll.unregister(handle)
            self._keep_limits()

    def _read_all(self, handle: int) -> None:
        """Read what a pipe still holds."""
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
        elif handle == self._fatal_reports:
            self._fatal += data
        elif handle == self._reports:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._take(line)
        return bool(data)

    def _take(self, line: bytes) -> None:
        """Note a line that the page's process said."""
        _, signature, data = line.rpartition(self._signature)
        if signature:  # else it is of code that writes into every descriptor it finds
            self.ledger.take(json.loads(data), self._child)

    def _block_seconds(self, cell: Cell) -> float:
        return own_limit(cell, "seconds") or self.session.limits.block_seconds

    @functools.cached_property
    def _page_seconds(self) -> float:
        """The page's limit; a block with a longer one of its own has its time on top."""
        usual = self.session.limits.block_seconds
        more = sum(max(0.0, self._block_seconds(cell) - usual) for cell in self.session.cells)
        return self.session.limits.page_seconds + more

    def _seconds_left(self) -> float:
        """Return the time until the next limit."""
        now, entry = time.monotonic(), self.ledger.open
        left = self.ledger.started + self._page_seconds - now
        return min(left, entry.started + self._block_seconds(entry.cell) - now) if entry else left

    def _keep_limits(self) -> None:
        """Stop what has printed too much, run too long or started too many processes."""
        if self._is_killed:
            return
        entry = self.ledger.open
        if entry and self.splitter.size_since(entry.begin) > self.ledger.captured_bytes(entry.cell):
            self._stop(self.ledger.overrun(entry.cell))
        elif self._seconds_left() <= 0:
            self._stop(self._late_text(entry))
        elif time.monotonic() >= self._next_count:
            self._next_count = time.monotonic() + COUNTING_SECONDS
            if len(descendants_of(os.getpid())) > self.session.limits.processes:
                most = self.session.limits.processes
                self._stop(f"started more than {most} processes and was stopped; raise it with scratchbook_processes")

    def _late_text(self, entry: Entry | None) -> str:
        seconds = self._block_seconds(entry.cell) if entry else 0.0
        if entry and time.monotonic() - entry.started >= seconds:
            choice = raising(entry.cell, ":timeout:", "scratchbook_block_seconds")
            if entry.thread:
                fact = f"its thread {entry.thread!r} ran longer than {seconds:g} s and was stopped"
                return f"{fact}; let it end, make it a daemon, or {choice}"
            return f"ran longer than {seconds:g} s and was stopped; {choice}"
        choice = "raise it with scratchbook_page_seconds"
        return f"the page ran longer than {self._page_seconds:g} s and was stopped here; {choice}"

    def _stop(self, text: str) -> None:
        """Ask what runs where it is, then kill it with all below it; a branch ends alone."""
        entry = self.ledger.open
        process = entry.process if entry else self._child
        self._read_all(self._reports)
        is_there = self.ledger.open is entry  # else the place would be one of a later cell
        self._fatal = b""
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGUSR1)
        wait = REPORT_SECONDS
        while select.select([self._fatal_reports], [], [], wait)[0] and self._read(self._fatal_reports):
            wait = NEXT_LINE_SECONDS
        kill_below(process)
        self._is_killed = self._is_killed or process == self._child
        if entry:
            self.ledger.fail(entry, text, self._fatal_place() if is_there else None)
        else:
            self.ledger.mistakes.append(Mistake("run", text))

    def _fatal_place(self) -> Place | None:
        chapters = {cell.place.path for cell in self.session.cells}
        return fatal_place(self._fatal.decode("utf-8", "replace"), self.session.root, chapters)

    def _note_left_processes(self) -> None:
        """Tell of the processes that a block has left behind."""
        left: dict[str, list[str]] = {}
        for process in [] if self._is_killed else living_children():
            command = command_of(process)
            last = next(reversed(self.ledger.entries.values()), None)
            entry = self.ledger.starters.get(process) or self.ledger.last_starter or last
            if command is not None and entry is not None and QUIET_COMMAND not in command:
                left.setdefault(entry.cell.id, []).append(command)
        for cell, commands in left.items():
            what = "a fork of itself" if "scratchbook.core.worker" in commands[0] else commands[0][:80]
            more = f" and {len(commands) - 1} more" if len(commands) > 1 else ""
            text = f"left a process running, which was stopped: {what}{more}; wait for it or end it"
            self.ledger.entries[cell].mistakes.append(Mistake("run", text))


def remove_folders(folder: str) -> None:
    """Remove the folders of a page.  Most pages leave nothing in them."""
    try:
        for path in (os.path.join(folder, "home"), os.path.join(folder, "tmp"), folder):
            os.rmdir(path)
    except OSError:
        import shutil  # takes longer to load than all pages take that need none

        shutil.rmtree(folder, ignore_errors=True)
