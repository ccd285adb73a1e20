import numpy as np
import pytest

from pairup.cells import Cells
from pairup.columns import make_column
from pairup.encoding import (
    MOST_LEVELS,
    TEXT_COMPONENTS,
    Roles,
    count_columns,
    encode_column,
    encode_columns,
    fill_in,
    is_plain,
    weigh_pieces,
)


def encode(columns, **roles):
    cells = Cells("t", list(columns), list(columns.values()), named=True)
    return encode_columns(cells, [make_column(name, c) for name, c in columns.items()], Roles(**roles))


def test_every_column_gets_the_same_variance(rng):
    encoded = encode({
        "pay": [f"{v:.2f}" for v in rng.lognormal(10, 1, size=60)],
        "town": [str(v) for v in rng.choice(["Ulm", "Kiel", "Bonn"], size=60)],
        "day": [f"2024-01-{d:02d}" for d in rng.integers(1, 29, size=60)],
    })  # fmt: skip
    assert encoded.values.shape == (60, 5)
    variances = encoded.values.var(axis=0)
    np.testing.assert_allclose([variances[0], variances[1:4].sum(), variances[4]], 1.0)


def test_nothing_is_dropped_in_silence():
    columns = {
        "id": ["A1", "B2", "C3"],
        "other_id": ["7", "8", "9"],
        "nothing": ["", "", ""],
        "same": ["x", "x", "x"],
        "unwanted": ["1", "4", "9"],
        "common": ["1", "4", "9"],
        "size": ["1", "", "3"],
    }
    record = encode(columns, id_column="id", dropped=frozenset({"unwanted"}), common=("common",)).record
    assert [column.name for column in record.columns] == list(columns)
    told = {column.name: (column.use, column.text) for column in record.columns}
    assert told["id"] == ("names", "names the rows, not compared")
    assert told["other_id"] == ("dropped", "dropped: an id, each value once")
    assert told["nothing"] == ("dropped", "dropped: no values")
    assert told["same"] == ("dropped", "dropped: the same value in all rows")
    assert told["unwanted"] == ("dropped", "dropped, as asked for")
    assert told["common"][0] == "common"
    assert told["size"] == ("encoded", "as a number, standardized; missing ones filled in from similar rows")
    assert "not used: other_id, nothing, same, unwanted" in record.summary
    assert str(record).count("\n") == len(columns)


def test_many_categories_share_a_column():
    column = make_column("c", [f"v{k % 50}" for k in range(200)], kind="category")
    values, text = encode_column(column)
    assert values.shape == (200, MOST_LEVELS + 1)
    assert count_columns(column) == MOST_LEVELS + 1
    assert "of 50 categories, the 20 rarest together" in text
    np.testing.assert_array_equal(values.sum(axis=1), 1.0)


def test_similar_texts_are_near_each_other():
    texts = ["wooden spoon", "wooden spoons", "bicycle helmet", "bicycle helmets", "office chair", "office chairs"]
    values, text = encode_column(make_column("c", texts, kind="text"))
    assert values.shape[1] <= TEXT_COMPONENTS
    assert "tf-idf" in text
    D = np.linalg.norm(values[:, None] - values, axis=2) + 10 * np.eye(6)
    assert D.argmin(axis=1).tolist() == [1, 0, 3, 2, 5, 4]
    assert weigh_pieces(texts).shape[0] == 6


@pytest.mark.parametrize("texts", [["a", "b", "a b"], ["", "word", ""], ["!!", "??", "!?"]])
def test_odd_texts_are_encoded(texts):
    values, _ = encode_column(make_column("c", texts, kind="text"))
    assert len(values) == 3


def test_times_of_day_lie_on_a_circle():
    values, text = encode_column(make_column("c", ["2024-01-01 23:50", "2024-01-02 00:10", "2024-01-01 12:00"]))
    assert "time of day" in text
    circle = values[:, 1:]
    assert np.linalg.norm(circle[0] - circle[1]) < 0.2 < np.linalg.norm(circle[0] - circle[2])


def test_missing_numbers_come_from_similar_rows():
    values = np.array(
        [[0.0, 1.0], [0.1, 1.1], [5.0, 9.0], [5.1, np.nan], [5.2, 9.2], [0.2, 0.9], [4.9, 9.1], [5.3, 9.3]]
    )
    assert fill_in(values)[3, 1] > 5
    whole = np.zeros((2, 2))
    assert fill_in(whole) is whole


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="column 'a' holds infinity in 1 rows, the first is row 1; write such cells"):
        encode({"a": ["1", "inf", "3"], "b": ["x", "y", "x"]})


def test_plain_columns():
    assert is_plain(make_column("a", ["1", "2"]))
    assert is_plain(make_column("a", [True, False]))
    assert not is_plain(make_column("a", ["yes", "no"]))
    assert not is_plain(make_column("a", ["1", ""]))
