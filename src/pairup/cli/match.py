"""``pairup match``: two tables or two graphs in, pairs out."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pairup.methods import METHODS, METRICS, SOLVERS

PATH = click.Path(path_type=Path)
EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("x", type=EXISTING)
@click.argument("y", type=EXISTING)
@click.option("-o", "--output", type=PATH, help="Write the pairs to this .csv, .json, .parquet or .xlsx file.")
@click.option("--rows", "with_rows", is_flag=True, help="Put both rows of every pair side by side.")
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
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
@click.option(
    "--on",
    default="auto",
    show_default=True,
    help="Columns of both tables to compare directly, such as city,age; auto finds them, none compares none.",
)
@click.option("--anchors", type=EXISTING, help="Known pairs: a csv of two columns, x and y, by name.")
@click.option("--forbidden", type=EXISTING, help="Pairs known to be wrong, in the form of --anchors.")
@click.option("--prior", type=EXISTING, help="A table of scores of all x (rows) and y (columns).")
@click.option(
    "--solver", type=click.Choice(SOLVERS), default="auto", show_default=True, help="For few objects, or for many."
)
@click.option("--overlap", default="1", show_default=True, help="Share of the smaller set with a partner, or auto.")
@click.option("--save", type=PATH, help="Save the whole result to this .npz file.")
@click.option("--header/--no-header", default=None, help="Whether text tables have column names [default: detected].")
@click.option(
    "--id-column",
    "id_columns",
    multiple=True,
    help="Name or number (from 0) of the column that names the rows, x=NAME and y=NAME for each table; or none.",
)
@click.option("--drop", multiple=True, help="Column to leave out, of one table as x=NAME or y=NAME; may be repeated.")
@click.option("--kind", "kinds", multiple=True, help="Kind of a column, such as plz=category; may be repeated.")
@click.option("--explain", is_flag=True, help="Tell what is done with every column before the search.")
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
    with_rows: bool,
    force: bool,
    method: str,
    metric: str,
    on: str,
    anchors: Path | None,
    forbidden: Path | None,
    prior: Path | None,
    solver: str,
    overlap: str,
    save: Path | None,
    header: bool | None,
    id_columns: tuple[str, ...],
    drop: tuple[str, ...],
    kinds: tuple[str, ...],
    explain: bool,
    as_graph: bool,
    directed: bool,
    jobs: int | None,
    cluster: str | None,
    random_state: int,
    as_json: bool,
) -> None:
    """Pair up the rows of two tables X and Y (csv, tsv, txt, xlsx, parquet, npy or npz), or the nodes of two graphs.

    Columns may hold numbers, text, categories, dates, truth values and gaps. Columns that both tables have are compared
    directly; the others pair by dependence. Graphs are edge lists (.edges, .edgelist; csv, tsv and txt with --graph) or
    GraphML (.graphml).

    Prints the pairs as csv, one line per row of X, by --method auto with the confidence of each; the verdict on the
    whole pairing is printed on stderr.

    \b
    Examples:
      pairup match customers.csv orders.xlsx --explain -o pairs.xlsx --rows
      pairup match a.csv b.csv --id-column x=customer --on city,age
    """
    from pairup.cells import map_numbers
    from pairup.cli.shell import progress, refuse_existing
    from pairup.cluster import on_cluster
    from pairup.edge_lists import SUFFIXES, are_edge_columns, read_graph
    from pairup.files import check_writable
    from pairup.matching import match_steps
    from pairup.pairs import SUFFIXES as WRITABLE
    from pairup.pairs import check_extra, format_pairs, write_pairs
    from pairup.progress import describe_step, warn_if_long
    from pairup.result import Matching
    from pairup.tables import read_anchors, read_numbers

    if output is not None:
        if output.suffix.lower() not in WRITABLE:
            raise click.UsageError(f"{output}: expected a name that ends in {', '.join(WRITABLE)}")
        check_extra(output)
        if as_json and output.suffix.lower() == ".csv":
            raise click.UsageError(f"{output}: --json writes a .json file; name it so, or leave --json out")
    if save is not None and save.suffix.lower() != ".npz":
        raise click.UsageError(f"{save}: expected a name that ends in .npz")
    for path in (output, save):
        if path is not None:
            if any(path.exists() and path.samefile(given) for given in (x, y)):
                raise click.UsageError(f"{path} is one of the tables; choose another output")
            refuse_existing([path], force)
            check_writable(path)
    try:
        share: Any = "auto" if overlap == "auto" else float(overlap)
    except ValueError:
        share = 0.0
    if share != "auto" and not 0 < share <= 1:
        raise click.UsageError(f"--overlap must be a number in (0, 1] or auto, got {overlap!r}")
    are_graphs = [as_graph or path.suffix.lower() in SUFFIXES for path in (x, y)]
    tables = None
    names_x: list[Any]
    names_y: list[Any]
    if any(are_graphs):
        if not all(are_graphs):
            raise click.UsageError(
                f"{x} and {y}: one is a graph and the other a table; pass --graph if both are edge lists"
            )
        for given, name in ((id_columns, "--id-column"), (drop, "--drop"), (kinds, "--kind"), (with_rows, "--rows")):
            if given:
                raise click.UsageError(f"{name} is for tables; the nodes of graphs have names")
        (X, names_x), (Y, names_y) = (read_graph(path, directed=directed, header=header) for path in (x, y))
    else:
        if directed:
            raise click.UsageError("--directed is for graphs; pass --graph for edge lists")
        wants_table = bool(id_columns or drop or kinds or with_rows or explain) or metric == "precomputed"
        X, Y = (None if wants_table else map_numbers(path) for path in (x, y))
        if X is not None and Y is not None:  # too large to be copied
            names_x, names_y = (list(range(len(Z))) for Z in (X, Y))
        else:
            ids = ["none" if metric == "precomputed" else None] * 2 if not id_columns else _per_table(id_columns)
            with _name_tables(x, y):
                tables = _read_tables(x, y, header, ids, drop, kinds)
            X, Y = tables
            if all(are_edge_columns(table.cells.names) for table in tables):
                click.echo(f"{x} and {y} look like edge lists; --graph matches the nodes of two graphs.", err=True)
            names_x, names_y = X.names, Y.names
    known = [] if anchors is None else read_anchors(anchors, names_x, names_y)
    wrong = [] if forbidden is None else read_anchors(forbidden, names_x, names_y, what="forbidden pairs")
    scores = None if prior is None else read_numbers(prior)
    if explain and tables is not None:
        from pairup.linkage import pair_tables

        on_now = "none" if metric == "precomputed" or (scores is not None and on == "auto") else on
        with _name_tables(x, y):
            click.echo(str(pair_tables(*tables, on=on_now, compares=method == "auto")), err=True)
    # the estimate is that of tables
    if tables is not None and (slow := warn_if_long(len(names_x), len(names_y), method)):
        click.echo(slow, err=True)
    matching: Matching | None = None
    text = f"matching {len(names_x)} with {len(names_y)} {'nodes' if any(are_graphs) else 'objects'}"
    with progress(text, unit="steps") as bar, _name_tables(x, y), on_cluster(cluster):
        steps = match_steps(
            X,
            Y,
            method=method,
            metric=metric,
            anchors=known,
            forbidden=wrong,
            prior=scores,
            solver=solver,
            overlap=share,
            on=on,
            n_jobs=jobs,
            random_state=random_state,
        )
        for done, step in enumerate(steps):
            if isinstance(step, Matching):
                matching = step.with_names(names_x, names_y)
            else:
                bar.update(describe_step(step), done)
    assert matching is not None
    if save is not None:
        matching.save(save)
    if matching.report:
        click.echo(matching.report, err=True)
    shown = tables if with_rows else None
    if output is None:
        click.echo(format_pairs(matching, shown, as_json=as_json), nl=False)
    else:
        write_pairs(matching, output, shown)
        pairs = f"{matching.n_pairs} pair{'' if matching.n_pairs == 1 else 's'}"
        click.echo(f"{pairs} by {method} written to {output}", err=True)


def _per_table(values: Sequence[str]) -> list[str | None]:
    """Return what an option says for each table: one value for both, two in their order, or x=VALUE and y=VALUE."""
    found: list[str | None] = [None, None]
    plain = [value for value in values if not value.startswith(("x=", "y="))]
    for value in values:
        if value.startswith(("x=", "y=")):
            found["xy".index(value[0])] = value[2:]
    if len(plain) > 2 or (plain and len(plain) < len(values)):
        raise click.UsageError(
            f"--id-column: expected one value, two, or x=NAME and y=NAME, got {', '.join(values)}; give one per table"
        )
    return [plain[0], plain[-1]] if plain else found


def _read_tables(
    x: Path, y: Path, header: bool | None, ids: list[Any], drop: Sequence[str], kinds: Sequence[str]
) -> tuple[Any, Any]:
    """Read both tables; at least one has to have a column of --drop, of --kind, or one --id-column for both."""
    from pairup.columns import UnknownColumn
    from pairup.tables import read_table

    wanted = {}
    for kind in kinds:
        name, equals, value = kind.rpartition("=")
        if not equals:
            raise click.UsageError(f"--kind: expected NAME=KIND, such as plz=category, got {kind!r}")
        wanted[name] = value
    tables: list[Any] = []
    for place, path in enumerate((x, y)):
        try:
            tables.append(read_table(path, header=header, id_column=ids[place]))
        except UnknownColumn:
            if ids[0] != ids[1] or ids[0].isdecimal() or (place and tables[0].id_column != ids[0]):
                raise
            ids = [*ids]
            ids[place] = None
            tables.append(read_table(path, header=header))
    for place, side in enumerate("xy"):
        columns = tables[place].cells.names
        here = [name[2:] if name.startswith(f"{side}=") else name for name in drop]
        here = [name for name, given in zip(here, drop, strict=True) if given != name or name in columns]
        of_kind = {name: kind for name, kind in wanted.items() if name in columns}
        if here or of_kind:
            tables[place] = tables[place].revise(id_column=ids[place], kinds=of_kind, drop=here)
    everything = [*tables[0].cells.names, *tables[1].cells.names]
    for name in [*wanted, *(name for name in drop if not name.startswith(("x=", "y=")))]:
        if name not in everything:
            raise click.UsageError(f"no column {name!r} in {x} or {y}; the columns are {', '.join(everything[:20])}")
    return tables[0], tables[1]


@contextmanager
def _name_tables(x: Path, y: Path) -> Iterator[None]:
    """Say in an error about X or Y which files they are; a column that does not exist is a wrong call."""
    from pairup.columns import UnknownColumn

    try:
        yield
    except UnknownColumn as error:
        raise click.UsageError(str(error)) from error
    except ValueError as error:
        if re.search(r"\b[XY]\b", str(error)) is None:
            raise
        raise ValueError(f"{error} (X is {x}, Y is {y})") from error
