"""A pool that computes in this process, at once: for tests of what comes of a measurement."""

from collections.abc import Callable

from ffnviz.jobs.job import Contention, Job, JobStatus, Order, outcome
from ffnviz.jobs.job_pool import JobPool
from ffnviz.state.run_factory import make_run


class AtOnce(JobPool):
    """Its jobs are done when they are submitted."""

    def submit(self, order: Order, wanted: Callable[[], bool] = lambda: True) -> Job:
        """Compute it."""
        run = make_run(order.state, order.device, order.networks) if order.state else None
        result = outcome(order.work(run, lambda _: None, *order.args))
        return Job(order, wanted, JobStatus.DONE, result=result, contention=Contention(1.0, 0.0))

    def warm_up(self) -> None:
        """Nothing."""
