"""``pairup paper``: the paper's experiments and their report."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from pairup.cli.shell import progress, refuse_existing, show_help

EXPERIMENTS = ("toy", "images", "voice", "albums")


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run the paper's experiments and report them.

    \b
    Examples:
      pairup paper run toy images --quick
      pairup paper report
    """
    show_help(ctx)


@command.command("run", short_help="Run experiments; an interrupted run goes on.")
@click.argument("experiments", nargs=-1, required=True, type=click.Choice(EXPERIMENTS))
@click.option("--runs", type=click.IntRange(min=1), default=100, show_default=True, help="Random draws of each size.")
@click.option("--quick", is_flag=True, help="Few sizes, draws and albums: all experiments in about two minutes.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the original data [default: $PAIRUP_DATA].")
@click.option("--out", type=click.Path(path_type=Path), default=Path("paper"), show_default=True, help="Output folder.")
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Parallel runs; -1 for all cores.")
@click.option("--processes", is_flag=True, help="Use processes instead of threads.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask scheduler at this address.")
def run_command(
    experiments: tuple[str, ...],
    runs: int,
    quick: bool,
    data: Path | None,
    out: Path,
    jobs: int,
    processes: bool,
    cluster: str | None,
) -> None:
    """Run EXPERIMENTS (toy, images, voice, albums).

    Results are appended to OUT/rows.jsonl, one row per run. Runs that are already on disk are not computed again:
    repeat an interrupted command to continue it.

    \b
    Examples:
      pairup paper run toy images voice albums --quick
      pairup paper run toy --runs 100 --jobs -1
    """
    from functools import partial
    from importlib import import_module

    from joblib import parallel_config

    from pairup.cluster import on_cluster
    from pairup.paper.protocol import plan
    from pairup.paper.runner import run_tasks
    from pairup.parallel import in_processes
    from pairup.validation import check_jobs

    if data is None and os.environ.get("PAIRUP_DATA"):
        data = Path(os.environ["PAIRUP_DATA"])
    if data is not None and not data.is_dir():
        raise click.UsageError(f"{data}: no such folder; pass the folder of the original data, or omit --data")
    check_jobs(jobs)
    source = None if data is None else str(data.resolve())
    out.mkdir(parents=True, exist_ok=True)
    where: Callable[[], AbstractContextManager[Any]]
    if cluster:
        where = partial(on_cluster, cluster)
    else:
        where = partial(in_processes, jobs) if processes else partial(parallel_config, "threading", n_jobs=jobs)
    for name in experiments:
        tasks = plan(name, runs=runs, quick=quick)
        experiment = import_module(f"pairup.paper.{name}").run
        done = 0
        try:
            with progress(name, total=len(tasks), unit="runs") as bar, where():
                for row in run_tasks(tasks, experiment, out / "rows.jsonl", data=source):
                    done += 1
                    bar.update(f"{name}: {row['method']}, n = {row['n']}, run {row['run']}", done)
        except ConnectionError as error:
            raise ConnectionError(f"{error}; runs already on disk are kept") from error
        click.echo(f"{name}: {done} runs computed, {len(tasks) - done} already on disk", err=True)


@command.command("report", short_help="Write the report with its figures.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("paper"), show_default=True,
              help="Folder of the rows and of the report.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing report.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def report_command(out: Path, force: bool, as_json: bool) -> None:
    """Write report.html and report.md with figures from the rows in OUT/rows.jsonl.

    \b
    Examples:
      pairup paper report
      pairup paper report --out results --force
    """
    from pairup.paper.report import Report
    from pairup.paper.runner import load_rows

    if not (out / "rows.jsonl").exists():
        raise click.UsageError(f"{out / 'rows.jsonl'}: no such file; run an experiment first: pairup paper run toy")
    refuse_existing([out / "report.html", out / "report.md"], force)
    files = [str(path) for path in Report(load_rows(out / "rows.jsonl"), out).save()]
    click.echo(json.dumps({"files": files}) if as_json else "\n".join(files))
