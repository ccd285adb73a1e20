"""``pairup paper``: the paper's experiments and their report."""

import json
import os
from pathlib import Path

import click

EXPERIMENTS = ("toy", "images", "voice", "albums")


@click.group()
def command() -> None:
    """Run the paper's experiments and report them."""


@command.command("run")
@click.argument("experiments", nargs=-1, required=True, type=click.Choice(EXPERIMENTS))
@click.option("--runs", type=click.IntRange(min=1), default=100, show_default=True, help="Random draws of each size.")
@click.option("--quick", is_flag=True, help="Few sizes and draws: all experiments in about two minutes.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the original data [default: $PAIRUP_DATA].")
@click.option("--out", type=click.Path(path_type=Path), default=Path("paper"), show_default=True)
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Runs at the same time; -1 for all cores.")
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

    Rows are appended to OUT/rows.jsonl; runs that are there already are not run again, so an interrupted command
    goes on where it stopped.
    """
    from importlib import import_module

    from joblib import parallel_config

    from pairup.cli.shell import progress
    from pairup.paper.protocol import plan
    from pairup.paper.runner import run_tasks
    from pairup.parallel import on_cluster

    if data is None and os.environ.get("PAIRUP_DATA"):
        data = Path(os.environ["PAIRUP_DATA"])
    if data is not None and not data.is_dir():
        raise click.UsageError(f"{data}: no such folder; give the folder of the original data, or leave --data out")
    source = None if data is None else str(data.resolve())
    out.mkdir(parents=True, exist_ok=True)
    for name in experiments:
        tasks = plan(name, runs=runs, quick=quick)
        experiment = import_module(f"pairup.paper.{name}").run
        done = 0
        # A parallel_config takes effect where it is made, and serves one block only.
        where = on_cluster(cluster) if cluster else parallel_config("loky" if processes else "threading", n_jobs=jobs)
        with progress(name, total=len(tasks)) as bar, where:
            for row in run_tasks(tasks, experiment, out / "rows.jsonl", data=source):
                done += 1
                bar.update(f"{name}: {row['method']}, n = {row['n']}, run {row['run']}", done)
        click.echo(f"{name}: {done} of {len(tasks)} runs done now, {len(tasks) - done} were there", err=True)


@command.command("report")
@click.option("--out", type=click.Path(path_type=Path), default=Path("paper"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def report_command(out: Path, as_json: bool) -> None:
    """Write report.html and report.md with figures, from OUT/rows.jsonl alone."""
    from pairup.paper.report import Report
    from pairup.paper.runner import read_rows

    if not (out / "rows.jsonl").exists():
        raise click.UsageError(f"{out / 'rows.jsonl'}: no such file; run an experiment first: pairup paper run toy")
    files = [str(path) for path in Report(read_rows(out / "rows.jsonl"), out).write()]
    click.echo(json.dumps({"files": files}) if as_json else "\n".join(files))
