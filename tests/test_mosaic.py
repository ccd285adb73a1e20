import numpy as np

from pairup.mosaic import MARK, PAPER, mosaic, side_by_side


def test_true_partners_restore_the_pictures():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (5, 4, 6, 3), dtype=np.uint8)
    order = rng.permutation(5)
    restored = side_by_side(images[:, :, :2], images[order, :, 2:], np.argsort(order))
    assert np.array_equal(restored, images)


def test_a_missing_partner_leaves_paper():
    half = np.zeros((2, 4, 3, 3), dtype=np.uint8)
    joined = side_by_side(half, half, [-1, 0])
    assert (joined[0, :, 3:] == PAPER).all()
    assert not joined[0, :, :3].any()
    assert not joined[1].any()


def test_every_tile_lies_on_the_sheet_in_order_within_its_frame():
    tiles = np.random.default_rng(0).integers(0, 200, (7, 5, 4, 3), dtype=np.uint8)
    marked = np.arange(7) % 2 == 0
    sheet = mosaic(tiles, marked=marked, columns=3, gap=4, frame=1)
    for i in range(7):
        top, left = 4 + i // 3 * 9, 4 + i % 3 * 8
        assert np.array_equal(sheet[top : top + 5, left : left + 4], tiles[i])
        assert tuple(sheet[top - 1, left - 1]) == (MARK if marked[i] else PAPER)
    assert (sheet[-9:, -8:] == PAPER).all()  # the places after the last tile


def test_gray_tiles_become_gray_colours():
    sheet = mosaic(np.full((2, 3, 3), 77, dtype=np.uint8))
    assert (sheet == 77).all(axis=2).sum() == 18
