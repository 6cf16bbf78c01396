"""The commands: from parsed arguments to calls, and from results to text."""

import dataclasses
import inspect
import shutil
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarry.cli.log_command import PICTURES
from tarry.cli.output import say, say_now, show_records, show_table
from tarry.errors import InputError, OtherExperimentError, UnknownNameError
from tarry.files import check_folder, check_place
from tarry.policies.check import check_choice
from tarry.tables import counted

if TYPE_CHECKING:
    from tarry.experiments.result import Result
    from tarry.problems.problem import Problem

TABLE_KEYS = ("payoff", "horizon", "runs", "seed")


def reproduce(options: Namespace) -> None:
    """`tarry reproduce`."""
    from tarry.reproduction import story
    from tarry.reproduction.found import DATA, read_found
    from tarry.reproduction.reproduce import PARTS
    from tarry.reproduction.reproduce import reproduce as run

    out = Path(options.out or ("results/quick" if options.quick else "results"))
    parts: Sequence[str] = PARTS if options.part == "all" else (options.part,)
    check_folder(out)
    if options.fresh:
        shutil.rmtree(out / DATA, ignore_errors=True)
    try:
        with executor_of(options) as executor:
            report_path = run(
                out,
                parts=parts,
                quick=options.quick,
                runs=options.runs,
                workers=options.workers,
                executor=executor,
            )
    except OtherExperimentError as error:
        hint = "; --fresh forgets earlier results."
        raise OtherExperimentError(f"{str(error).rstrip('.')}{hint}") from error
    claims = read_found(out).claims
    if claims:
        say(story.counts(claims))
    say(f"The report is {report_path}; figures are in {report_path.parent / 'figures'}.")


def compare(options: Namespace) -> None:
    """`tarry compare`."""
    from tarry.experiments.compare import run_experiment
    from tarry.experiments.from_text import experiment_from
    from tarry.experiments.result import drawing

    folder = Path() if options.problem else Path(options.file or "").parent
    experiment = experiment_from(comparison_table(options), folder)
    if options.plot:
        drawing()  # without matplotlib it is better to say so first
        check_place(options.plot, PICTURES)
    if options.out:
        check_folder(options.out)
    if options.against and options.against not in experiment.policies:
        raise UnknownNameError.of("policy in this comparison", options.against, experiment.labels)
    with executor_of(options) as executor:
        result = run_experiment(
            experiment, workers=options.workers, folder=options.out, executor=executor
        )
    if options.plot:
        result.plot(options.plot)
    show_comparison(options, result)


def show_comparison(options: Namespace, result: "Result") -> None:
    """The tables of a comparison: regret, and differences to one policy if asked for.

    Programs get one table, that of the differences where it is asked for.
    """
    table: Any = result.final()
    head = f"Regret at the horizon, {result.payoff}, {counted(result.runs, 'run')}:"
    texts = [head, str(table)]
    if options.against:
        from tarry.experiments.curves import DifferenceTable

        others = [policy for policy in result.policies if policy != options.against]
        table = DifferenceTable(
            [row for policy in others for row in result.differences(policy, options.against)]
        )
        paired = counted(result.runs, "paired run")
        texts += ["", f"Differences at the horizon, {result.payoff}, {paired}:", str(table)]
    if options.plot:
        texts.append(f"The curves are in {options.plot}.")
    records = [{"payoff": result.payoff, **record} for record in table.records()]
    show_records(options, records, lambda: say("\n".join(texts)))


def comparison_table(options: Namespace) -> dict[str, Any]:
    """What the arguments of `compare` ask for, in the form of a TOML file."""
    from tarry.experiments.from_text import read_toml
    from tarry.policies.from_text import parse_call

    table: dict[str, Any] = read_toml(options.file) if options.file else {}
    told = {key: getattr(options, key) for key in TABLE_KEYS if getattr(options, key) is not None}
    table = {"payoff": "cost", **table, **told}
    if options.policies:
        table["policies"] = options.policies
        twice = [text for text in options.policies if options.policies.count(text) > 1]
        if twice:
            raise InputError(f"{twice[0]} is named twice; name each policy and its settings once.")
    settings = {"arms": options.arms, "max_delay": options.max_delay}
    given = {key: value for key, value in settings.items() if value is not None}
    if options.problem or given:
        name, more = parse_call(options.problem or "truncated_normal", "problem")
        table = {key: value for key, value in table.items() if key != "problems"}
        table["problem"] = {"family": name, **more, **given}
    if "policies" not in table:
        raise InputError("No policy is given; name some, such as 'tarry compare BDSE OPSE'.")
    return table


def scaling(options: Namespace) -> None:
    """`tarry scaling`."""
    from tarry.experiments.compare import run_experiment
    from tarry.reproduction.scaling import growths, scaling_experiments, slope_lines, slope_records

    known = scaling_experiments(quick=options.quick)
    for name in options.names:
        if name not in known:
            raise UnknownNameError.of("scaling experiment", name, known)
    if options.out:
        check_folder(options.out)
    records, texts = [], []
    with executor_of(options) as executor:
        for name in options.names or known:
            folder = Path(options.out) / name if options.out else None
            result = run_experiment(
                known[name].experiment(), workers=options.workers, folder=folder, executor=executor
            )
            found = growths(known[name], result)
            records += slope_records(name, known[name], found)
            texts += [f"{name}: {known[name].title}", *slope_lines(found), ""]
            if options.out:
                from tarry.drawing import save_figure
                from tarry.reproduction.gallery import scaling_picture

                picture = scaling_picture(name, known[name], found)
                save_figure(picture.figure, Path(options.out) / f"{name}.svg")
    show_records(options, records, lambda: say("\n".join(texts)))


ORIGINS = {
    "paper": "a policy of the paper",
    "baseline": "a baseline",
    "ours": "ours, not of the paper",
}


def policies(options: Namespace) -> None:
    """`tarry policies`."""
    from tarry.policies import POLICIES, by_name

    if options.name:
        cls = by_name(options.name)
        text = inspect.getdoc(cls) or ""
        head = f"{cls.__name__} ({', '.join(cls.payoffs)}; {ORIGINS[cls.origin]})"
        records = [{**policy_record(cls.__name__, cls), "text": text}]
        show_records(options, records, lambda: say(f"{head}\n\n{text}"))
        return
    records = [policy_record(name, cls) for name, cls in POLICIES.items()]
    rows = [list(record.values()) for record in records]
    heads = ["policy", "from", "payoff", "what it does, and its settings"]
    show_records(options, records, lambda: show_table(heads, rows))


def policy_record(name: str, cls: type[Any]) -> dict[str, str]:
    """A policy in a row."""
    return {
        "policy": name,
        "from": cls.origin,
        "payoffs": " ".join(cls.payoffs),
        "what": first_line(cls),
        "settings": settings_text(cls),
    }


def problems(options: Namespace) -> None:
    """`tarry problems`."""
    from tarry.experiments.from_text import OF_TABLES, problem_from
    from tarry.policies.from_text import parse_call
    from tarry.problems import CHANGES, FAMILIES, HARD, REGRESSIONS
    from tarry.problems.problem import Problem

    if options.name:
        name, settings = parse_call(options.name, "problem")
        source = problem_from({"family": name, **settings})
        made = source if isinstance(source, Problem) else source(0)
        show_records(options, arm_records(made), lambda: say(str(made)))
        return
    listed: dict[str, tuple[Any, str]] = {
        name: (maker, ", ".join(arguments_text(maker)))
        for name, maker in {**FAMILIES, **REGRESSIONS, **CHANGES, **HARD}.items()
    }
    rows = [
        [name, first_line(maker), settings]
        for name, (maker, settings) in {**listed, **OF_TABLES}.items()
    ]
    records = [dict(zip(("problem", "what", "settings"), row, strict=True)) for row in rows]
    show_records(
        options, records, lambda: show_table(["problem", "what it is, and its settings"], rows)
    )


def arm_records(problem: "Problem") -> list[dict[str, Any]]:
    """The arms of a problem."""
    return [
        {"arm": name, "mean_delay": law.mean, "variance": law.variance, "mean": float(mean)}
        for name, law, mean in zip(problem.names, problem.laws, problem.means, strict=True)
    ]


def report(options: Namespace) -> None:
    """`tarry report`."""
    from tarry.reproduction.found import read_found, verdict_records
    from tarry.reproduction.report import write_report

    check_folder(options.folder)
    path = write_report(options.folder)
    if options.json or options.csv:
        records = verdict_records(read_found(Path(options.folder)).claims)
        show_records(options, records, lambda: None)
        return
    say(f"The report is {path}.")


def demo(options: Namespace) -> None:
    """`tarry demo`."""
    if options.what != "routes":
        raise UnknownNameError.of("demo", options.what, ["routes"])
    from tarry.demo.routes import demo_routes
    from tarry.experiments.result import drawing

    drawing()
    check_place(options.figure, PICTURES)
    result = demo_routes(
        change=options.change,
        requests=options.requests,
        seed=options.seed,
        workers=options.workers,
    )
    from tarry.demo.figure import plot_routes

    plot_routes(options.figure, **result.for_figure())
    say(f"The figure is {options.figure}.")


def serve(options: Namespace) -> None:
    """`tarry serve`."""
    from tarry.service.extra import check_extra

    check_extra()
    from tarry.service.run import Serving
    from tarry.service.run import serve as run

    check_choice("--log", options.log, ("info", "warning", "error"))
    check_choice("--durability", options.durability, ("full", "normal"))
    told = Serving(
        store=options.store,
        host=options.host,
        port=options.port,
        keys=options.keys,
        origins=options.origin,
        secret=options.secret,
        durability=options.durability,
        log=options.log,
        demo=options.demo,
        behind=options.behind,
    )
    for name in ("rate", "page_rate"):
        if getattr(options, name) is not None:
            setattr(told, name, float(getattr(options, name)))
    run(told, say_now)


def key(options: Namespace) -> None:
    """`tarry key`."""
    from tarry.service.extra import check_extra

    check_extra()
    from tarry.service.keys import append_key, new_key

    origins = tuple(options.origin)
    secret, made = new_key(options.name, options.role, origins, tuple(options.agent))
    append_key(options.keys, made)
    say(secret)


@contextmanager
def executor_of(options: Namespace) -> Iterator[Executor | None]:
    """The executor that `--dask` asks for, None for threads of our own."""
    if options.dask is None:
        yield None
        return
    from tarry.experiments.dask import connect

    with connect(options.dask) as executor:
        yield executor


def settings_text(cls: type[Any]) -> str:
    """The settings of a policy with their defaults."""
    return ", ".join(
        field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default!r}"
        for field in dataclasses.fields(cls)
    )


def arguments_text(maker: Any) -> Iterator[str]:
    """The arguments of a problem family with their defaults, but for the seed."""
    for name, parameter in inspect.signature(maker).parameters.items():
        if name != "seed":
            default = parameter.default
            yield name if default is inspect.Parameter.empty else f"{name}={default!r}"


def first_line(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]
