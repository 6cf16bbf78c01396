"""The runner: the tasks of an experiment on threads, or on any executor of concurrent.futures.

The compiled loop releases Python's lock, so threads use all cores. Seeds belong to the run and not
to the worker, so the results are the same for any number of workers, anywhere.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager

from tarry.checks import check_whole
from tarry.errors import ExecutorError
from tarry.experiments.experiment import Experiment, Task, problem_digest, seeds_of_run
from tarry.experiments.finished_run import FinishedRun, Work, play_task
from tarry.fingerprint import source_fingerprint
from tarry.simulation.play import play

Receive = Callable[[FinishedRun], None]
TASKS_PER_WORKER = 3  # kept ready for each worker; more would hold more worlds in memory


class StoppedError(Exception):
    """A run was given up because the whole experiment was."""


def run_tasks(
    experiment: Experiment,
    receive: Receive,
    *,
    finished: Collection[Task] = (),
    workers: int | None = None,
    executor: Executor | None = None,
) -> None:
    """Carry out the tasks that are not in `finished`, handing each finished run to `receive`.

    `receive` is called in this thread, as runs finish. Whatever ends the work early, Ctrl-C
    included, all runs that are finished by then are handed over before the exception goes on.
    """
    todo = [task for task in experiment.tasks() if task not in finished]
    if not todo:
        return
    if executor is not None:
        slots = getattr(executor, "slots", getattr(executor, "_max_workers", None)) or 32
        try:
            feed(executor, slots, works(experiment, todo), play_task, receive)
        except CancelledError as error:
            what = getattr(executor, "lost", "The executor gave up what it had been given")
            raise ExecutorError(f"{what}; finished runs are kept.") from error
        return
    count = worker_count(workers)
    stop = threading.Event()

    def play_unless_stopped(work: Work) -> FinishedRun:
        return play_task(work, watch=lambda _done, _horizon: raise_if(stop))

    with ThreadPoolExecutor(count, thread_name_prefix="tarry") as pool, setting_at_exit(stop):
        feed(pool, count, works(experiment, todo), play_unless_stopped, receive)


def works(experiment: Experiment, todo: list[Task]) -> Iterator[Work]:
    """What each task needs; the world is drawn once for all policies of a run."""
    policies = list(experiment.policies.values())
    place = None
    for task in todo:
        case = experiment.cases[task.case]
        if place != (task.run, task.case):
            place = (task.run, task.case)
            seeds = seeds_of_run(experiment.seed, task.run)
            problem = case.draw(seeds.problem)
            world = problem_digest(problem)
        policy = policies[task.policy]
        payoff = experiment.payoff
        yield Work(task, policy, problem, payoff, case.horizon, seeds, case.steps, world)


def feed(
    executor: Executor,
    slots: int,
    supply: Iterator[Work],
    carry: Callable[[Work], FinishedRun],
    receive: Receive,
) -> None:
    """Keep the executor busy without giving it everything at once."""
    pending: list[Future[FinishedRun]] = []
    try:
        for work in supply:
            while len(pending) >= TASKS_PER_WORKER * slots:
                pending = collect(pending, receive)
            pending.append(executor.submit(carry, work))
        while pending:
            pending = collect(pending, receive)
    except BaseException:
        for future in pending:
            future.cancel()
        for future in pending:
            if future.done() and not future.cancelled() and future.exception() is None:
                receive(future.result())
        raise


def collect(pending: list[Future[FinishedRun]], receive: Receive) -> list[Future[FinishedRun]]:
    """Wait for the next finished runs and hand them over; return what is still pending."""
    done = wait(pending, return_when=FIRST_COMPLETED).done
    for future in [each for each in pending if each in done]:
        try:
            finished = future.result()
        except BrokenExecutor as error:
            raise ExecutorError(
                f"The executor broke down ({str(error).rstrip('.')}); finished runs are kept."
            ) from error
        check_version(finished)
        receive(finished)
    return [future for future in pending if future not in done]


def check_version(finished: FinishedRun) -> None:
    """Refuse results of another version of tarry, which need not be the same."""
    if finished.code != source_fingerprint():
        raise ExecutorError(
            "A worker runs another version of tarry than this process; install the same one "
            "everywhere."
        )


def compile_policies(experiment: Experiment) -> None:
    """Compile what is not compiled yet, one policy after another, before the clock of the bar."""
    problem = experiment.cases[0].draw(seeds_of_run(experiment.seed, 0).problem)
    for policy in experiment.policies.values():
        play(policy, problem, payoff=experiment.payoff, horizon=1, record=1)


def worker_count(workers: int | None) -> int:
    """How many threads: as asked, by default one for each core this process may use."""
    if workers is None:
        if hasattr(os, "sched_getaffinity"):  # Linux: fewer than all where the process is confined
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return check_whole("number of workers", workers, 1, 4096)


def raise_if(stop: threading.Event) -> None:
    """End the run of this thread if the experiment was given up."""
    if stop.is_set():
        raise StoppedError


@contextmanager
def setting_at_exit(stop: threading.Event) -> Iterator[None]:
    """Set the event when the block is left, so that the threads that still run come to an end."""
    try:
        yield
    finally:
        stop.set()
