"""Uploads: whole or not at all, never larger than allowed."""

import asyncio

import pytest

from pairup.studio.kinds import RefusedError
from pairup.studio.uploads import LONGEST_NAME, TooLargeUploadError, clean_name, receive_file


async def pieces(*parts):
    for part in parts:
        yield part


def take(folder, limit, *parts):
    async def run():
        async with receive_file(pieces(*parts), folder, limit) as path:
            return path.read_bytes(), path

    return asyncio.run(run())


def test_a_file_comes_in_pieces_and_goes_with_the_block(tmp_path):
    content, path = take(tmp_path, 10, b"abc", b"", b"defg")
    assert content == b"abcdefg"
    assert not path.exists()


def test_a_file_may_have_the_limit_and_no_more(tmp_path):
    assert take(tmp_path, 4, b"abcd")[0] == b"abcd"
    with pytest.raises(TooLargeUploadError, match="MB at most"):
        take(tmp_path, 4, b"abc", b"de")
    with pytest.raises(RefusedError, match="empty"):
        take(tmp_path, 4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.jpg", "a.jpg"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\photo.heic", "photo.heic"),
        ("..", "file"),
        ("", "file"),
        ("\x00\x07", "file"),
        ("<img src=x>.png", "<img src=x>.png"),
        ("Übung 🎞️.jpg", "Übung 🎞️.jpg"),
    ],
)
def test_names_are_shown_and_never_paths(name, shown):
    assert clean_name(name) == shown


def test_long_names_keep_their_suffix():
    assert clean_name("x" * 1000 + ".jpg").endswith("x.jpg")
    assert len(clean_name("x" * 1000)) == LONGEST_NAME
