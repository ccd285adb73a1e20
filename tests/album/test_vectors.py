import numpy as np
import pytest

from pairup.album.features import photo_features
from pairup.album.photos import Photos
from pairup.album.vectors import read_vectors


@pytest.fixture
def photos(rng):
    images = rng.integers(0, 255, (6, 40, 40, 3), dtype=np.uint8)
    return Photos.from_arrays(images, [f"dir/{i}.jpg" for i in range(6)])


def test_vectors_from_files(photos, tmp_path, rng):
    vectors = rng.random((6, 3))
    np.save(tmp_path / "v.npy", vectors)
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.npy", photos), vectors)
    lines = ["photo,a,b,c"] + [f"{i}.jpg,{','.join(map(str, vectors[i].tolist()))}" for i in (5, 4, 3, 2, 1, 0)]
    (tmp_path / "v.csv").write_text("\n".join([*lines, "stranger.jpg,1,2,3"]))
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.csv", photos), vectors)


def test_vectors_that_do_not_fit(photos, tmp_path, rng):
    np.save(tmp_path / "v.npy", rng.random((5, 3)))
    with pytest.raises(ValueError, match="5 rows for 6 photos"):
        read_vectors(tmp_path / "v.npy", photos)
    with pytest.raises(ValueError, match="5 rows for 6 photos"):
        photo_features(photos, vectors=rng.random((5, 3)))
    (tmp_path / "v.csv").write_text("0.jpg,1,2\n1.jpg,1,x\n")
    with pytest.raises(ValueError, match="line 2"):
        read_vectors(tmp_path / "v.csv", photos)
    (tmp_path / "v.csv").write_text("0.jpg,1,2\n")
    with pytest.raises(ValueError, match=r"no line for 5 of 6 photos, such as 'dir/1\.jpg', 'dir/2\.jpg'"):
        read_vectors(tmp_path / "v.csv", photos)
    (tmp_path / "v.csv").write_text("\n".join(f"{i}.jpg,1" + ",2" * i for i in range(6)))
    with pytest.raises(ValueError, match="different length"):
        read_vectors(tmp_path / "v.csv", photos)


def test_npy_with_a_file_of_names(photos, tmp_path, rng):
    vectors = rng.random((7, 3))
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "names.txt").write_text(
        "\n".join(["5.jpg", "dir/4.jpg", "3.jpg", "other.jpg", "2.jpg", "1.jpg", "0.jpg"])
    )
    found = read_vectors(tmp_path / "v.npy", photos, names=tmp_path / "names.txt")
    np.testing.assert_array_equal(found, vectors[[6, 5, 4, 2, 1, 0]])
    (tmp_path / "names.txt").write_text("5.jpg\n4.jpg\n")
    with pytest.raises(ValueError, match=r"2 names for the 7 rows of .*give a name per row"):
        read_vectors(tmp_path / "v.npy", photos, names=tmp_path / "names.txt")
    (tmp_path / "v.csv").write_text("0.jpg,1")
    with pytest.raises(ValueError, match="has its own names"):
        read_vectors(tmp_path / "v.csv", photos, names=tmp_path / "names.txt")


@pytest.mark.parametrize("form", ["columns", "list"])
def test_parquet(form, photos, tmp_path, rng):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = rng.random((6, 3)).astype(np.float32)
    columns = {"note": ["x"] * 6, "file": [f"{i}.jpg" for i in range(6)]}
    if form == "columns":
        columns |= {f"v{j}": vectors[:, j] for j in range(3)}
    else:
        columns |= {"embedding": vectors.tolist()}
    parquet.write_table(pyarrow.table(columns).take(pyarrow.array([3, 1, 0, 2, 5, 4])), tmp_path / "v.parquet")
    np.testing.assert_allclose(read_vectors(tmp_path / "v.parquet", photos), vectors)


def test_parquet_that_does_not_fit(photos, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, names = tmp_path / "v.parquet", [f"{i}.jpg" for i in range(6)]
    for columns, message in (
        ({"a": [1.0, 2.0]}, "no column of text"),
        ({"name": names}, "no column of numbers"),
        ({"name": names, "v": [[1.0], [1.0, 2.0], [1.0], [1.0], [1.0], [1.0]]}, "lists of different length"),
        (
            {"name": names[:4], "v": [1.0, 2.0, 3.0, 4.0]},
            r"no line for 2 of 6 photos, such as 'dir/4\.jpg', 'dir/5\.jpg'",
        ),
    ):
        parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(ValueError, match=message):
            read_vectors(path, photos)
    path.write_bytes(b"PAR1 no table")
    with pytest.raises(ValueError, match="no parquet file that can be read"):
        read_vectors(path, photos)


def test_numbers_that_are_none(photos, tmp_path):
    np.save(tmp_path / "v.npy", np.array(["a"] * 6))
    with pytest.raises(ValueError, match="should hold a row of numbers per photo"):
        read_vectors(tmp_path / "v.npy", photos)
    np.save(tmp_path / "v.npy", np.float64(3))
    with pytest.raises(ValueError, match="should hold a row of numbers per photo"):
        read_vectors(tmp_path / "v.npy", photos)
    np.save(tmp_path / "v.npy", np.zeros((6, 50)))
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:300])
    with pytest.raises(ValueError, match="cannot be read as an array"):
        read_vectors(tmp_path / "v.npy", photos)
    (tmp_path / "v.csv").write_text("\n".join(f"{i}.jpg,nan" for i in range(6)))
    with pytest.raises(ValueError, match="contains NaN or infinity in 6 of 6 values"):
        read_vectors(tmp_path / "v.csv", photos)


def test_vectors_mix_with_colour_by_weight(photos, rng):
    vectors = rng.random((6, 3))
    mixed = photo_features(photos, {"colour": 0.5, "vectors": 2}, vectors)
    variances = mixed.var(axis=0)
    np.testing.assert_allclose(sorted([variances[:192].sum(), variances[192:].sum()]), [0.25, 4.0])
