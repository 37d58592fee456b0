"""An engine that a project may have already: two processes of dask, as an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from distributed import Client, LocalCluster


def cluster() -> Executor:
    """Start two processes and return what carries functions to them; leaving stops them."""
    workers = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return ClusterExecutor(workers)


class ClusterExecutor(Executor):
    """dask's own executor, which leaves the cluster running, and the cluster."""

    def __init__(self, workers: LocalCluster) -> None:
        self.workers = workers
        self.client = Client(workers)
        self.executor = self.client.get_executor(pure=False)

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """Send one call."""
        return self.executor.submit(function, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the processes."""
        self.executor.shutdown(wait=wait)
        self.client.close()
        self.workers.close()
