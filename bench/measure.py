"""Measure one command: seconds by the clock, seconds of processor, and the memory of its whole process tree."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.05
CGROUPS = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))


@dataclass(frozen=True)
class Cost:
    """What one run took.  wall, cpu: seconds.   memory: peak of the summed PSS in MB; 0 when it was not sampled."""

    wall: float
    cpu: float
    memory: float = 0.0
    status: int = 0
    said: str = ""


def measure(command: Sequence[str], folder: Path, *, samples_memory: bool = False) -> Cost:
    """Run a command in a folder and return what it took.  Sampling memory takes time of its own."""
    environment = {
        **os.environ, "PYTHONDONTWRITEBYTECODE": "", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
        "PYTHONPATH": str(folder / "scratch"),
    }  # fmt: skip
    with own_group() as group:
        started = time.perf_counter()
        place = str(group / "cgroup.procs") if group else ""
        process = subprocess.Popen(
            ["sh", "-c", 'test -z "$0" || echo $$ > "$0"; exec "$@"', place, *command],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        sampler = Sampler(process.pid) if samples_memory else None
        assert process.stdout
        with process.stdout:
            said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        memory = sampler.stop() if sampler else 0.0
        cpu = group_seconds(group) if group else usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu, memory, process.returncode, said)


@contextlib.contextmanager
def own_group() -> Iterator[Path | None]:
    """Give a run a control group, which also counts processes that nobody waits for; None where we may make none."""
    for root in CGROUPS:
        group = root / f"bench-{os.getpid()}-{time.monotonic_ns()}"
        with contextlib.suppress(OSError):
            if any((root / name).exists() for name in ("cpuacct.usage", "cgroup.controllers")):
                group.mkdir()
                try:
                    yield group
                finally:
                    leave(group)
                return
    yield None


def leave(group: Path) -> None:
    """Remove a control group once its last process has gone."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.02)


def group_seconds(group: Path) -> float:
    """Return the processor time of all processes that were ever in a group."""
    if (group / "cpuacct.usage").exists():
        return int((group / "cpuacct.usage").read_text()) / 1e9
    usage = next(line for line in (group / "cpu.stat").read_text().splitlines() if line.startswith("usage_usec"))
    return int(usage.split()[1]) / 1e6


class Sampler(threading.Thread):
    """Look again and again how much memory a process and all below it share out among them."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.peak, self.is_over = root, 0.0, threading.Event()
        self.start()

    def run(self) -> None:
        """Sample until the run is over."""
        while not self.is_over.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(proportional, tree(self.root))))

    def stop(self) -> float:
        """Return the peak in MB."""
        self.is_over.set()
        self.join()
        return self.peak


def tree(process: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                if not has_parents_memory(child, process):
                    yield from tree(child)


def has_parents_memory(process: int, parent: int) -> bool:
    """Tell whether a process was made by `vfork` and has not begun its own program: its parent waits for that."""
    with contextlib.suppress(OSError):
        is_same = os.readlink(f"/proc/{process}/exe") == os.readlink(f"/proc/{parent}/exe")
        waits = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[0] == "D"
        return is_same and waits
    return False


def proportional(process: int) -> float:
    """Return the proportional set size of a process in MB; 0 for one that has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
