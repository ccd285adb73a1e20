"""Tables with columns of any kind, read from files or taken from DataFrames."""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pairup.cells import Cells, read_cells
from pairup.columns import Column, UnknownColumn, count_rows, make_column, number_column
from pairup.encoding import Encoded, Roles, encode_columns
from pairup.types import Array
from pairup.validation import check_set

NO_ID = "none"  # as the name of the id column: there is none


def plain_name(name: Any) -> Any:
    """Return the name of an object as a number or text that can be written to any file.

    Parameters
    ----------
    name : object
        A name, such as a date, a Decimal or bytes.

    Returns
    -------
    int, float, bool, str or None
        The same name; text where it was neither a number nor text.

    Examples
    --------
    >>> import datetime
    >>> [plain_name(name) for name in (3, "ann", b"bob", datetime.date(2024, 5, 1), float("nan"))]
    [3, 'ann', 'bob', '2024-05-01', 'nan']
    """
    if isinstance(name, np.generic):
        name = name.item()
    if name is None or isinstance(name, bool | int) or (isinstance(name, float) and math.isfinite(name)):
        return name
    if isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")  # some text cannot be written as UTF-8


@dataclass(frozen=True, eq=False)
class Table:
    """A table: one object per row, columns of any kind, and the names of the rows.

    Parameters
    ----------
    cells : Cells
        What was read.
    columns : list of Column
        All columns, in their order, each with its kind.
    names : list
        Name of each object, a number or text; its row number where the table has no names.
    id_column : str, optional
        The column that holds the names.
    dropped : frozenset of str, default none
        Columns that are left out because the user asked for it.
    found_id : bool, default False
        Whether the id column was found, not given.
    has_date_names : bool, default False
        Whether the names are the dates of the first column, which are compared too.
    """

    cells: Cells
    columns: list[Column]
    names: list[Any]
    id_column: str | None = None
    dropped: frozenset[str] = frozenset()
    found_id: bool = False
    has_date_names: bool = False

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_cells(
        cls,
        cells: Cells,
        *,
        id_column: str | None = None,
        kinds: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
        names: Sequence[Any] | None = None,
    ) -> "Table":
        """Return the table of cells.

        Parameters
        ----------
        cells : Cells
            What was read.
        id_column : str, optional
            Name, or number from 0, of the column that names the objects; "none" for none. By default it is found.
        kinds : mapping of str to str, optional
            Kinds of columns, by their names or numbers, where the cells would tell another.
        drop : sequence of str, default ()
            Columns to leave out, by their names or numbers.
        names : sequence, optional
            Names of the rows that are in no column, such as the index of a DataFrame.

        Returns
        -------
        Table
            The table.
        """
        source = cells.source
        no_id = id_column == NO_ID and NO_ID not in cells.names
        place = None if id_column is None or no_id else find_column(cells.names, str(id_column), source)
        wanted = {find_column(cells.names, str(name), source): kind for name, kind in (kinds or {}).items()}
        dropped = {find_column(cells.names, str(name), source) for name in drop}
        if place is not None:
            wanted.setdefault(place, "id")
            dropped.discard(place)
        columns = [_column(cells, k, wanted.get(k)) for k in range(len(cells.names))]
        found = False
        if place is None and not no_id:
            place = _find_id(columns, cells, dropped, wanted) if names is None else None
            found = place is not None
        for k, column in enumerate(columns):
            if column.kind == "id" and k != place and k not in wanted and (no_id or _is_needed(columns, dropped, k)):
                columns[k] = _column(cells, k, "number" if column.is_numeric else "text")
        rows = list(range(len(columns[0].cells))) if names is None else list(names)
        if place is not None:
            rows = [plain_name(cell) for cell in columns[place].cells]
        by_date = place is None and not no_id and names is None and _are_days(columns[0])
        if by_date:
            rows = [plain_name(cell) for cell in columns[0].cells]
        if len(columns) == 1 and place is not None:
            raise ValueError(f"{source}: no column but the id column; expected columns of numbers too")
        return cls(
            cells,
            columns,
            rows,
            None if place is None else cells.names[place],
            frozenset(cells.names[k] for k in dropped),
            found,
            by_date,
        )

    @classmethod
    def from_frame(cls, frame: Any, source: str = "the table") -> "Table":
        """Return a DataFrame of pandas or polars as a table.

        Parameters
        ----------
        frame : pandas.DataFrame or polars.DataFrame
            The DataFrame; the index of pandas names the rows, unless it only counts them.
        source : str, default "the table"
            What it is called in messages.

        Returns
        -------
        Table
            The table.
        """
        names = [str(name) for name in frame.columns]
        if not names or not len(frame):
            raise ValueError(
                f"{source} must have at least 1 row and one column, got shape {tuple(frame.shape)}; "
                "pass one object per row"
            )
        named = not all(isinstance(name, int | np.integer) for name in frame.columns)
        if hasattr(frame, "iloc"):
            series = [frame.iloc[:, k] for k in range(len(names))]
            columns = [_series_cells(each) for each in series]
            counted = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
            index = None if counted else list(frame.index)
        else:
            columns, index = [_series_cells(frame[name]) for name in frame.columns], None
        if len(set(names)) < len(names):
            names = [f"{name}.{k}" if names.index(name) < k else name for k, name in enumerate(names)]
        return cls.from_cells(Cells(source, names, columns, named), names=index)

    @classmethod
    def from_array(cls, values: Array, source: str = "the table") -> "Table":
        """Return an array as a table of numbers.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            The numbers.
        source : str, default "the table"
            What it is called in messages.

        Returns
        -------
        Table
            The table.
        """
        names = [str(k) for k in range(values.shape[1])]
        return cls.from_cells(Cells(source, names, list(values.T), False, numbers=values, is_array=True))

    def revise(
        self, *, id_column: str | None = None, kinds: Mapping[str, str] | None = None, drop: Sequence[str] = ()
    ) -> "Table":
        """Return the same table with other decisions about its columns; nothing is read again.

        Parameters
        ----------
        id_column : str, optional
            As in `from_cells`.
        kinds : mapping of str to str, optional
            As in `from_cells`.
        drop : sequence of str, default ()
            As in `from_cells`.

        Returns
        -------
        Table
            The revised table.
        """
        counted = self.names == list(range(len(self)))
        outside = None if self.id_column is not None or self.has_date_names or counted else self.names
        return Table.from_cells(self.cells, id_column=id_column, kinds=kinds, drop=drop, names=outside)

    def encode(self, *, common: Sequence[str] = (), keeps_common: bool = False) -> Encoded:
        """Return the table as numbers, with a record of what was done with each column.

        Parameters
        ----------
        common : sequence of str, default ()
            Columns that are compared directly with those of the other table, and are left out here.
        keeps_common : bool, default False
            Whether the common columns are encoded too, where no others are left.

        Returns
        -------
        Encoded
            The numbers and the record.
        """
        cells = self.cells
        if self.has_date_names:
            cells = replace(cells, notes=(*cells.notes, f"rows named by the dates of {self.columns[0].name!r}"))
        roles = Roles(self.id_column, self.found_id, self.dropped, tuple(common), keeps_common)
        return encode_columns(cells, self.columns, roles)

    @property
    def values(self) -> Array:
        """The table as numbers."""
        return self.encode().values

    def to_dict(self) -> dict[str, Any]:
        """Return what was read as plain numbers, strings and lists.

        Returns
        -------
        dict
            The source, the number of rows, notes, the id column, and for every column its name, kind, use, missing
            values and one sentence.
        """
        return self.encode().record.to_dict()


def _column(cells: Cells, k: int, kind: str | None) -> Column:
    """Return a column of a table, of a given kind or of the one its cells show."""
    if cells.is_array and kind in (None, "number"):
        return Column(cells.names[k], "number", cells.columns[k], cells.columns[k], 0)  # NaN is refused, not filled in
    if cells.numbers is not None and kind in (None, "number") and len(cells.numbers):
        values = np.ascontiguousarray(cells.numbers[:, k])
        column = number_column(cells.names[k], cells.columns[k], values, kind, named=cells.named)
        return count_rows(column) if k == 0 and kind is None and cells.named else column
    return make_column(
        cells.names[k], cells.columns[k], kind=kind, decimal=cells.decimal, is_first=k == 0, named=cells.named
    )


def _series_cells(series: Any) -> Any:
    """Return the cells of a column of a DataFrame: floats as an array, anything else as a list."""
    kind = getattr(getattr(series, "dtype", None), "kind", "")
    is_float = (
        getattr(series.dtype, "is_float", lambda: False)() or getattr(series.dtype, "is_integer", lambda: False)()
    )
    if kind in ("i", "u", "f") and isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    if is_float and series.null_count() == 0:  # polars
        return series.to_numpy()
    return series.to_list()


def find_column(columns: Sequence[str], wanted: str, source: str) -> int:
    """Return the number of the column of that name or number.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    wanted : str
        A name, or a number from 0.
    source : str
        What the table is called in messages.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> find_column(["a", "b"], "b", "x.csv"), find_column(["a", "b"], "0", "x.csv")
    (1, 0)
    """
    if wanted in columns:
        return list(columns).index(wanted)
    if wanted.isdecimal() and int(wanted) < len(columns):
        return int(wanted)
    raise UnknownColumn(f"{source}: no column {wanted!r}; the columns are {', '.join(columns[:20])}")


def _are_days(column: Column) -> bool:
    """Tell whether a column holds different dates, which name the rows as well as they describe them."""
    return column.kind == "date" and not column.missing and len(set(column.values)) == len(column.values) > 1


def _find_id(columns: list[Column], cells: Cells, dropped: set[int], wanted: Mapping[int, str]) -> int | None:
    """Return the number of the column that names the rows, if there is one."""
    usable = [k for k, column in enumerate(columns) if k not in dropped and column.kind not in ("empty", "constant")]
    ids = [k for k in usable if columns[k].kind == "id"]
    if not ids or (len(usable) == 1 and wanted.get(ids[0]) != "id"):
        return None
    return ids[0]


def _is_needed(columns: list[Column], dropped: set[int], k: int) -> bool:
    """Tell whether nothing but ids would be left to compare."""
    return all(column.kind in ("id", "empty", "constant") or j in dropped for j, column in enumerate(columns) if j != k)


def read_table(
    path: str | Path,
    *,
    header: bool | None = None,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
) -> Table:
    """Read a table by its suffix: csv, tsv, txt, npy, npz (one array), parquet, xlsx or xlsm.

    The separator, the decimal mark and the encoding of text tables are found, as are the kinds of the columns and a
    column of ids.

    Parameters
    ----------
    path : str or Path
        The file.
    header : bool, optional
        Whether the first row of a text table or spreadsheet holds column names; by default the cells tell.
    id_column : str, optional
        Name, or number counted from 0, of a column that names the objects; "none" for none. By default it is found.
    kinds : mapping of str to str, optional
        Kinds of columns, where the cells would tell another.
    drop : sequence of str, default ()
        Columns to leave out.

    Returns
    -------
    Table
        The table.
    """
    cells = read_cells(path, header=header, id_column=None if id_column == NO_ID else id_column)
    return Table.from_cells(cells, id_column=id_column, kinds=kinds, drop=drop)


def read_numbers(path: str | Path, *, header: bool | None = None) -> Array:
    """Read a table that must hold nothing but numbers.

    Parameters
    ----------
    path : str or Path
        The file.
    header : bool, optional
        As in `read_table`.

    Returns
    -------
    ndarray of shape (n, d)
        The numbers.
    """
    table = read_table(path, header=header, id_column=NO_ID)
    for column in table.columns:
        if not column.is_numeric:
            row = next(k for k, cell in enumerate(column.cells) if not isinstance(cell, int | float))
            raise ValueError(
                f"{path}: row {row + 1 + table.cells.named}, column {column.name!r} holds {column.cells[row]!r:.80}, "
                "expected a number; drop the column"
            )
    return np.column_stack([column.values for column in table.columns])


def is_table(Z: Any) -> bool:
    """Tell whether an object has columns: a Table, or a DataFrame of pandas or polars; nothing is imported for that.

    Parameters
    ----------
    Z : object
        What was passed as a set.

    Returns
    -------
    bool
        Whether `as_table` takes it for its columns.

    Examples
    --------
    >>> is_table([[1.0]])
    False
    """
    homes = {cls.__module__.partition(".")[0] for cls in type(Z).__mro__ if cls.__name__ == "DataFrame"}
    return isinstance(Z, Table) or bool(homes & {"pandas", "polars"})


def as_table(Z: Any, name: str) -> Table:
    """Return a set as a table.

    Parameters
    ----------
    Z : Table, DataFrame or array_like
        The set.
    name : str
        What it is called in messages.

    Returns
    -------
    Table
        The table; the columns of an array are numbers.
    """
    if isinstance(Z, Table):
        return Z
    return Table.from_frame(Z, name) if is_table(Z) else Table.from_array(check_set(Z, name, at_least=1), name)


def read_anchors(
    path: str | Path, x_names: list[Any], y_names: list[Any], *, what: str = "anchors"
) -> list[tuple[int, int]]:
    """Read known or forbidden pairs from a csv of two columns: the name (or row number) of an x and that of its y.

    A first line "x,y" and columns after the second are skipped: the pairs that `pairup match` writes can be read as
    anchors.

    Parameters
    ----------
    path : str or Path
        The csv file.
    x_names : list
        Names of the rows of X.
    y_names : list
        Names of the rows of Y.
    what : str, default "anchors"
        What the pairs are called in messages.

    Returns
    -------
    list of tuple of two int
        Pairs (i, j) of row i of X and row j of Y.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path}: cannot be read as {what} ({error}); pass a csv file of two columns, x and y"
        ) from error
    if lines and [cell.strip().lower() for cell in lines[0][:2]] == ["x", "y"]:
        lines = lines[1:]
    x_names, y_names = ([str(plain_name(name)).strip() for name in names] for names in (x_names, y_names))
    of_x, of_y = ({name: k for k, name in enumerate(names)} for names in (x_names, y_names))
    repeated = {side: Counter(names) for side, names in (("X", x_names), ("Y", y_names))}
    anchors = []
    for number, line in enumerate(lines, start=1):
        if len(line) < 2:
            raise ValueError(
                f"{path}: expected two columns, x and y, got {line} as pair {number}; separate them by a comma"
            )
        for cell, known, side in ((line[0], of_x, "X"), (line[1], of_y, "Y")):
            if cell.strip() not in known:
                raise ValueError(
                    f"{path}: pair {number} names {cell.strip()!r}, which is no row of {side}; "
                    "use the names of the id column, or row numbers counted from 0 if there is none"
                )
            if (rows := repeated[side][cell.strip()]) > 1:
                raise ValueError(
                    f"{path}: pair {number} names {cell.strip()!r}, as {rows} rows of {side} are called; "
                    "give every row a name of its own"
                )
        anchors.append((of_x[line[0].strip()], of_y[line[1].strip()]))
    return anchors
