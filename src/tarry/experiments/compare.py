"""`compare`: policies on problems, many runs, all cores, one result."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import Any, TypeAlias

from tarry.checks import check_whole
from tarry.experiments.experiment import (
    Case,
    Experiment,
    Policies,
    Source,
    Task,
    by_label,
    seeds_of_run,
)
from tarry.experiments.finished_run import FinishedRun
from tarry.experiments.progress_bar import bar, told_if_long
from tarry.experiments.result import Result, assemble
from tarry.experiments.runner import compile_policies, run_tasks
from tarry.problems.problem import Payoff, Problem

Progress: TypeAlias = bool | Callable[[int, int], None] | None
MAKING = "tarry: making the first world"


def compare(
    policies: Policies,
    *,
    problems: Source | Mapping[str, Source],
    payoff: Payoff,
    horizon: int,
    runs: int = 10,
    seed: int = 0,
    workers: int | None = None,
    record: int = 200,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress = None,
) -> Result:
    """Let every policy play every problem `runs` times and return all regret curves.

    The runs are paired: in run r every policy meets the same instance and the same delays.

    Args:
        policies: A list of policies, or a dict with a label for each.
        problems: A `Problem`, or a function from a seed to a `Problem`, which draws a new instance
            for every run; or a dict of such by name.
        payoff: "cost" or "reward".
        horizon: T, the number of plays in a run.
        runs: How many runs; run r is the same whatever this number is.
        seed: All seeds follow from it (`numpy.random.SeedSequence`).
        workers: Threads, by default one for each core. It does not change the result.
        record: How many evenly spaced steps of each run are kept.
        folder: Where finished runs are put as they finish; the same call with the same folder goes
            on where it was interrupted, and with more runs from those that are there.
        executor: Any executor of `concurrent.futures` in place of threads, such as that of
            `tarry.experiments.dask.connect`.
        progress: True for a bar, False for none, a function called with (runs done, runs in all);
            by default a bar on a terminal, and a line now and then elsewhere.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> result = tarry.compare([tarry.SE(), tarry.Uniform()], problems=problem, payoff="cost",
    ...                        horizon=10_000, runs=3, progress=False)
    >>> print(result.final())
    policy    mean    std   95 % interval  runs
    SE       1 999      0  1 999 to 1 999     3
    Uniform  4 907  50.95  4 781 to 5 034     3
    """
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    first = None
    if not isinstance(problems, Mapping):
        with told_if_long(MAKING, quiet=is_quiet(progress)):
            first = Case("problem", problems, 1).draw(seeds_of_run(seed, 0).problem)
        problems = {problem_name(problems, first): problems}
    cases = [Case(name, source, horizon, record) for name, source in problems.items()]
    if first is not None:
        cases[0].drawn[seeds_of_run(seed, 0).problem] = first
    experiment = Experiment(by_label(policies), cases, payoff, runs, seed)
    return run_experiment(
        experiment, workers=workers, folder=folder, executor=executor, progress=progress
    )


def run_experiment(
    experiment: Experiment,
    *,
    workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress = None,
) -> Result:
    """Run what is not yet in the folder, and return the whole result."""
    with told_if_long(
        MAKING, quiet=is_quiet(progress)
    ):  # held, it is drawn once for all that ask for it
        first = experiment.cases[0].draw(seeds_of_run(experiment.seed, 0).problem)
    kept = None
    runs_done: dict[Task, FinishedRun] = {}
    if folder is not None:
        from tarry.experiments.result_folder import (
            ResultFolder,  # pyarrow is loaded when first needed
        )

        kept = ResultFolder(folder, experiment)
        whole = kept.complete()
        if whole is not None:
            return whole
        runs_done = kept.finished()
    if executor is None and len(runs_done) < experiment.size:
        with told_if_long(MAKING, quiet=is_quiet(progress)):
            first.world()  # with the tables that runs look delays up in
        compile_policies(experiment)  # before the bar starts its clock
    with ExitStack() as stack:
        tell = reporter(progress, experiment.size, len(runs_done), stack)

        def receive(finished: FinishedRun) -> None:
            if kept is not None:
                kept.add(finished)
            runs_done[finished.task] = finished
            tell(len(runs_done), experiment.size)

        try:
            done = set(runs_done)
            run_tasks(experiment, receive, finished=done, workers=workers, executor=executor)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(interrupted(len(runs_done), experiment.size, folder)) from None
    result = assemble(experiment.description, runs_done.values())
    if kept is not None:
        kept.finish(result)
    return result


def is_quiet(progress: Progress) -> bool:
    """Whether nothing is shown, or a function is told instead."""
    return progress is False or callable(progress)


def reporter(
    progress: Progress, total: int, done: int, stack: ExitStack
) -> Callable[[int, int], None]:
    """The function that is told how many runs are done."""
    if callable(progress):
        return progress
    if progress is False:
        return lambda _done, _total: None
    advance = stack.enter_context(bar("runs", total, done=done))
    return lambda _done, _total: advance(1)


def interrupted(done: int, total: int, folder: str | os.PathLike[str] | None) -> str:
    """The one sentence about an interruption."""
    if folder is None:
        return f"Interrupted with {done} of {total} runs finished; nothing is kept without folder."
    return (
        f"Interrupted with {done} of {total} runs finished; they are kept in {str(folder)!r}, "
        f"and the same call goes on from there."
    )


def problem_name(source: Any, problem: Problem) -> str:
    """What to call the only problem of a comparison: how it was made, but for its seed."""
    label = problem.label or "problem"
    return label if isinstance(source, Problem) else problem.family or label
