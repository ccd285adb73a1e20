"""``pairup match``: two tables or two graphs in, pairs out."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pairup.methods import METHODS, METRICS


@click.command()
@click.argument("x", type=click.Path(path_type=Path))
@click.argument("y", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the pairs to this .csv or .json file.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="auto, or one of the paper's.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="auto",
    show_default=True,
    help="How the rows are compared; precomputed: the tables hold distances.",
)
@click.option("--anchors", type=click.Path(path_type=Path), help="Known pairs: a csv of two columns, x and y, by name.")
@click.option("--forbidden", type=click.Path(path_type=Path), help="Pairs known to be wrong, in the form of --anchors.")
@click.option("--prior", type=click.Path(path_type=Path), help="A table of scores of all x (rows) and y (columns).")
@click.option("--overlap", default="1", show_default=True, help="Share of the smaller set with a partner, or auto.")
@click.option("--save", type=click.Path(path_type=Path), help="Save the whole result to this .npz file.")
@click.option("--header/--no-header", default=None, help="Whether text tables have column names [default: detected].")
@click.option("--id-column", help="Name or number (from 0) of a column that names the objects.")
@click.option("--graph", "as_graph", is_flag=True, help="Read csv, tsv and txt files as edge lists.")
@click.option("--directed", is_flag=True, help="Edges of edge lists lead from the first node to the second.")
@click.option("--jobs", "-j", type=int, help="How many tasks run at the same time; -1 for all cores.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask scheduler at this address.")
@click.option("--random-state", "--seed", type=int, default=0, show_default=True, help="Seed of whatever is random.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of csv.")
def command(
    x: Path,
    y: Path,
    output: Path | None,
    method: str,
    metric: str,
    anchors: Path | None,
    forbidden: Path | None,
    prior: Path | None,
    overlap: str,
    save: Path | None,
    header: bool | None,
    id_column: str | None,
    as_graph: bool,
    directed: bool,
    jobs: int | None,
    cluster: str | None,
    random_state: int,
    as_json: bool,
) -> None:
    """Pair up the rows of two tables X and Y (csv, tsv, txt, npy, npz or parquet), or the nodes of two graphs.

    Graphs are edge lists (.edges, .edgelist; csv, tsv and txt with --graph) or GraphML (.graphml).

    Prints the pairs as csv, one line per row of X, by --method auto with the confidence of each; the verdict on the
    whole pairing is printed on stderr.
    """
    from pairup.cli.shell import progress
    from pairup.cluster import on_cluster
    from pairup.edge_lists import SUFFIXES, read_graph
    from pairup.files import check_writable, replace_file
    from pairup.matching import match_steps
    from pairup.result import Matching
    from pairup.tables import read_anchors, read_numbers, read_table

    if output is not None:
        check_writable(output)
        as_json = as_json or output.suffix.lower() == ".json"
        if output.suffix.lower() not in (".csv", ".json"):
            raise click.UsageError(f"{output}: expected a name that ends in .csv or .json")
    if save is not None and check_writable(save).suffix.lower() != ".npz":
        raise click.UsageError(f"{save}: expected a name that ends in .npz")
    try:
        share: Any = "auto" if overlap == "auto" else float(overlap)
    except ValueError:
        raise click.UsageError(f"--overlap must be a number in (0, 1] or auto, got {overlap!r}") from None
    are_graphs = [as_graph or path.suffix.lower() in SUFFIXES for path in (x, y)]
    if any(are_graphs):
        if not all(are_graphs):
            raise click.UsageError(f"{x} and {y}: one is a graph and the other a table; pass --graph for edge lists")
        if id_column is not None:
            raise click.UsageError("--id-column is for tables; the nodes of graphs have names")
        (X, names_x), (Y, names_y) = (read_graph(path, directed=directed, header=header) for path in (x, y))
    else:
        if directed:
            raise click.UsageError("--directed is for graphs; pass --graph for edge lists")
        X, Y = (read_table(path, header=header, id_column=id_column) for path in (x, y))
        names_x, names_y = X.names, Y.names
    known = [] if anchors is None else read_anchors(anchors, names_x, names_y)
    wrong = [] if forbidden is None else read_anchors(forbidden, names_x, names_y, what="forbidden pairs")
    scores = None if prior is None else read_numbers(prior)
    matching: Matching | None = None
    text = f"matching {len(names_x)} with {len(names_y)} {'nodes' if any(are_graphs) else 'objects'}"
    with progress(text) as bar, _name_tables(x, y), on_cluster(cluster):
        steps = match_steps(
            X,
            Y,
            method=method,
            metric=metric,
            anchors=known,
            forbidden=wrong,
            prior=scores,
            overlap=share,
            n_jobs=jobs,
            random_state=random_state,
        )
        for step in steps:
            if isinstance(step, Matching):
                matching = step.with_names(names_x, names_y)
            else:
                bar.update(f"start {step.start + 1}, iteration {step.iteration}: dependence {step.value:.4g}")
    assert matching is not None
    if save is not None:
        matching.save(save)
    if matching.report:
        click.echo(matching.report, err=True)
    text = json.dumps(matching.to_dict(), indent=1) + "\n" if as_json else matching.to_csv()
    if output is None:
        click.echo(text, nl=False)
    else:
        with replace_file(output) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
        click.echo(f"{matching.n_pairs} pairs by {method} written to {output}", err=True)


@contextmanager
def _name_tables(x: Path, y: Path) -> Iterator[None]:
    """Say in an error about X or Y which files they are."""
    try:
        yield
    except ValueError as error:
        if re.search(r"\b[XY]\b", str(error)) is None:
            raise
        raise ValueError(f"{error} (X is {x}, Y is {y})") from error
