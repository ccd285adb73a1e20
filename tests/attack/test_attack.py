"""A short attack: every kind of input, no fault. ``python3 dev.py bench attack`` is the long one; it interrupts too."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from damage import damage_archive, damage_bytes, damage_json, make_object, write_picture, write_table

ROOT = Path(__file__).parents[2]


def attack(*arguments):
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "attack.py", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are forked")
@pytest.mark.parametrize("kind", ["pictures", "tables", "arrays", "saved"])
def test_odd_input_is_answered_or_refused_in_words(kind):
    for module in ("PIL", "skimage", "soundfile", "pyworld", "pandas"):
        pytest.importorskip(module)
    said = attack(kind, "--count", "36", "--seed", "5000")
    counts = dict(re.findall(r"(answered|refused) (\d+)", said))
    assert sum(map(int, counts.values())) == 36
    assert len(counts) == 2 or kind == "pictures", "good and bad cases are drawn; a bad picture spoils no album"
    if kind == "tables":
        assert 10 <= int(counts["answered"]) <= 26, "about half of the tables can be matched"
    assert re.search(r"; peak \d+ MiB \(--seed \d+\), valid \d+ MiB, \d+ above; ", said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are forked")
def test_interrupted_and_killed_commands_leave_nothing_behind():
    for module in ("PIL", "skimage", "soundfile", "pyworld"):
        pytest.importorskip(module)
    said = attack("interruptions", "--count", "6", "--seed", "0")
    counts = dict(re.findall(r"(answered|interrupted|killed|at start) (\d+)", said))
    assert sum(map(int, counts.values())) == 6


def test_damage_is_drawn_from_its_seed_alone(tmp_path):
    def draw(folder):
        rng = np.random.default_rng(7)
        folder.mkdir()
        files = [write_picture(folder / "p", rng), write_table(folder / "t", rng)]
        parts = [path.read_bytes() for path in files]
        parts += [damage_bytes(b"0123456789" * 9, rng), damage_archive(b'{"a": [1, 2]}', rng)]
        return [*parts, repr(damage_json({"a": {"b": [1, 2, 3]}}, rng)), type(make_object(rng)).__name__]

    assert draw(tmp_path / "one") == draw(tmp_path / "two")


def test_most_damage_changes_something():
    rng = np.random.default_rng(0)
    data = rng.bytes(500)
    assert sum(damage_bytes(data, rng) != data for _ in range(100)) > 90
