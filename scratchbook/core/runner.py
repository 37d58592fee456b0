"""Run sessions in supervised processes of their own, from any process and any thread."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import select
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from scratchbook.core.cells import CellOutcome, Outcome, Session
from scratchbook.core.environment import ENVIRONMENT, IS_LINUX
from scratchbook.core.errors import Mistake
from scratchbook.core.listings import make_listings
from scratchbook.core.records import RecordError, dump, load
from scratchbook.core.versions import versions_of

CLOSING_SECONDS: Final = 5.0
# What NumPy's BLAS must be told alike in every process, so that last digits agree.
PASSED_ON: Final = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class ForkServer:
    """Runs sessions, each in a process of its own, forked from one with NumPy loaded.

    Nothing starts before the first session; several threads may run sessions at once.  With `alone`, or where there is
    no way to hand over a connection, every session starts an interpreter of its own.
    patience: seconds that a session is at work before others get a process of their own.
    hash_seed: of the code's sets; only a check of determinism needs another than 0.
    """

    def __init__(self, *, alone: bool = not IS_LINUX, patience: float = 0.0, hash_seed: int = 0) -> None:
        self._alone = alone
        self._patience = patience
        self._hash_seed = hash_seed
        self._change = threading.Condition()  # of what follows
        self._servers: dict[bool, Server] = {}  # by whether their pages may use the network
        self._idle: list[Line] = []
        self._busy: dict[Line, float] = {}  # since when

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, session: Session) -> Outcome:
        """Run all cells of a session and return what came out.  Never raises for what its code does."""
        run = self._run_alone if self._alone else self._run_forked
        return read_outcome(session, lambda: run(session))

    def start(self) -> None:
        """Start the server before anything is asked of it, so that it loads NumPy while others work."""
        if not self._alone:
            with self._change:
                self._started(network=False)

    def close(self) -> None:
        """Stop what still runs, and the server."""
        with self._change:
            servers, self._servers = self._servers, {}
            idle, self._idle = self._idle, []
            self._change.notify_all()
        for line in idle:
            line.connection.close()
        for server in servers.values():
            server.requests.close()
            _wait_or_kill(server.process)

    def begin(self, session: Session, patience: float = 0.0) -> Begun:
        """Have a session run while this process does something else.  Raises OSError.

        patience: seconds that others have been at work before there is one more process for this session.
        """
        line = self._line(session.network, patience)
        try:
            line.connection.sendall(dump(session) + b"\n")
        except BaseException:
            self.drop(line)
            raise
        return Begun(self, session, line)

    def _run_forked(self, session: Session) -> bytes:
        """Send a session to a process that has nothing to do, or to a new one, and wait for the outcome."""
        return self.answer(self.begin(session, self._patience).line)

    def answer(self, line: Line) -> bytes:
        """Wait for what a process says, and let it wait for its next session.  Raises OSError."""
        try:
            answer = _answer(line.connection)
        except BaseException:
            self.drop(line)
            raise
        with self._change:
            if line.network in self._servers:
                self._busy.pop(line, None)
                self._idle.append(line)
                self._change.notify_all()
                return answer
        self.drop(line)  # closed meanwhile
        return answer

    def drop(self, line: Line) -> None:
        """End a line; its process stops what it runs."""
        line.connection.close()
        with self._change:
            self._busy.pop(line, None)
            self._change.notify_all()

    def _line(self, network: bool, patience: float) -> Line:
        """Return the line to a process that has nothing to do, once there is one; else to a new one."""
        with self._change:
            while not any(line.network == network for line in self._idle):
                began = min((since for line, since in self._busy.items() if line.network == network), default=-math.inf)
                if (left := began + patience - time.monotonic()) <= 0:
                    break
                self._change.wait(left)
            line = self._idle_line(network) or self._new_line(network)
            self._busy[line] = time.monotonic()
            return line

    def _idle_line(self, network: bool) -> Line | None:
        """Take a line that has nothing to do; None when there is none."""
        for line in [line for line in self._idle if line.network == network]:
            self._idle.remove(line)
            if line.is_quiet:
                return line
            line.connection.close()  # its process has ended
        return None

    def _new_line(self, network: bool) -> Line:
        """Have the server serve one more line, and return it."""
        near, far = socket_pair()
        with far:
            socket.send_fds(self._started(network).requests, [b"."], [far.fileno()])
        return Line(near, network)

    def _run_alone(self, session: Session) -> bytes:
        """Start an interpreter for one session, and wait for the outcome."""
        with ForkServer(alone=False, hash_seed=self._hash_seed) as server:
            return server._run_forked(session)

    def _started(self, network: bool) -> Server:
        """Return a living server, started now when there is none."""
        server = self._servers.get(network)
        if server and server.is_alive:
            return server
        if server:
            server.requests.close()
            server.process.wait()
        near, far = socket_pair()
        with far:
            process = _start(far, network, self._hash_seed)
        self._servers[network] = Server(process, near)
        return self._servers[network]


@dataclass(frozen=True)
class Begun:
    """A session that runs, and the line over which its outcome will come."""

    server: ForkServer
    session: Session
    line: Line

    @property
    def has_ended(self) -> bool:
        """Whether the outcome is there."""
        return not self.line.is_quiet

    def outcome(self) -> Outcome:
        """Wait for the outcome.  Never raises for what its code does."""
        return read_outcome(self.session, lambda: self.server.answer(self.line))


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that wait, whatever time limit this process has set for its new sockets."""
    near, far = socket.socketpair()
    near.setblocking(True)
    far.setblocking(True)
    return near, far


@dataclass(frozen=True)
class Server:
    """A process that serves a line and forks one like itself for each further line, and where to ask it."""

    process: subprocess.Popen[bytes]
    requests: socket.socket

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked.  Of one that is killed, the other end of the socket goes first."""
        return self.process.poll() is None and not select.select([self.requests], [], [], 0)[0]


@dataclass(frozen=True)
class Line:
    """A connection to a process that runs one session after another."""

    connection: socket.socket
    network: bool

    @property
    def is_quiet(self) -> bool:
        """Whether nothing waits to be read, not even an end."""
        return not select.select([self.connection], [], [], 0)[0]


def _start(handle: socket.socket, network: bool, hash_seed: int) -> subprocess.Popen[bytes]:
    """Start a worker that inherits one socket and a named environment."""
    words = ["network" if network else "no-network", str(handle.fileno())]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "scratchbook.core.worker", *words],
        env=worker_environment(hash_seed),
        stdin=subprocess.DEVNULL,
        pass_fds=[handle.fileno()],
        start_new_session=True,
    )


def worker_environment(hash_seed: int) -> dict[str, str]:
    """Return the variables of a worker: ours, and the few that its numbers and its packages depend on."""
    package = Path(__file__).resolve().parents[2]
    own = {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(package), "TMPDIR": tempfile.gettempdir()}
    environment = ENVIRONMENT | own
    del environment["PYTHONDONTWRITEBYTECODE"]  # our own modules need not be compiled by every build
    environment |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if site.ENABLE_USER_SITE:
        environment["PYTHONUSERBASE"] = site.getuserbase()
    return environment


def read_outcome(session: Session, answer: Callable[[], bytes]) -> Outcome:
    """Return the outcome that a worker answers with, with the versions of what it used; or say that it has ended."""
    try:
        outcome = load(Outcome, answer())
    except (OSError, RecordError) as error:
        return failed_outcome(session, f"the process that runs pages has ended: {error or type(error).__name__}")
    return replace(outcome, uses=replace(outcome.uses, modules=versions_of(outcome.uses.modules)))


def _answer(connection: socket.socket) -> bytes:
    """Return the line that comes back for a session.  Raises OSError when none does."""
    with connection.makefile("rb") as stream:
        line = stream.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError("it ended without an answer")
    return line


def _wait_or_kill(process: subprocess.Popen[Any]) -> None:
    """Wait for a process that has been told to end; kill it when it does not."""
    try:
        process.wait(CLOSING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def failed_outcome(session: Session, text: str) -> Outcome:
    """Return the outcome of a session that never ran: its listings, and one mistake."""
    shown = show_session(session)
    return Outcome(shown.cells, (Mistake("run", text),), shown.uses)


def show_session(session: Session) -> Outcome:
    """Return the listings of a session and run nothing."""
    listings = make_listings(session)
    cells = {}
    for cell in session.cells:
        listing = listings.get(cell.id)
        parts = (listing.part,) if listing and listing.part else ()
        cells[cell.id] = CellOutcome("not run", parts, listing.mistakes if listing else ())
    return Outcome(cells)


def run_session(session: Session) -> Outcome:
    """Run a session with a server that this process keeps for it: a plain function for any executor."""
    return _own_server(os.getpid()).run(session)


# The server of this process, by its number: a forked process gets one of its own.
_SERVERS: Final[dict[int, ForkServer]] = {}


def _own_server(process: int) -> ForkServer:
    """Return the server of this process, the same for all its threads: of two made at once, one is never started."""
    return _SERVERS.setdefault(process, ForkServer())


def _close_own_server() -> None:
    """Stop the server of this process as it ends."""
    if server := _SERVERS.pop(os.getpid(), None):
        server.close()


atexit.register(_close_own_server)
with contextlib.suppress(AttributeError):
    os.register_at_fork(after_in_child=_SERVERS.clear)
