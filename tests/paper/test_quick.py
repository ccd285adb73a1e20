"""Every experiment, quickly, on data that ship or are made: run, report, look at what came out."""

import os
import subprocess
import sys

import pytest

from pairup.paper.protocol import ALBUMS, EXPERIMENTS
from pairup.paper.runner import read_rows


def test_all_experiments_run_and_are_reported(tmp_path):
    for module in ("matplotlib", "skimage", "soundfile", "pyworld"):
        pytest.importorskip(module)
    command = (sys.executable, "-c", "from pairup.cli import main; main()", "paper")
    environment = {name: value for name, value in os.environ.items() if name != "PAIRUP_DATA"}
    for arguments in (["run", *EXPERIMENTS, "--quick"], ["report"]):
        done = subprocess.run(
            [*command, *arguments, "--out", tmp_path], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    rows = [row for row in read_rows(tmp_path / "rows.jsonl") if row["kind"] == "run"]
    assert {row["experiment"] for row in rows} == set(EXPERIMENTS)
    best = {}
    for row in rows:
        if row["experiment"] == "images" and not row["variant"]:
            best.setdefault(row["method"], []).append(row["result"]["accuracy"])
    chance = 1 / 40
    assert all(sum(values) / len(values) > chance for values in best.values())
    assert max(best, key=lambda method: sum(best[method])) == "pairup"
    by_variant = {
        (row["variant"], row["method"]): row["result"]["dpq"] for row in rows if row["experiment"] == "albums"
    }
    assert all(by_variant[name, "pairup"] > by_variant[name, "LSOM"] for name in ALBUMS)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "none of the originals were given" in text
    for figure in ("figure-1.png", "figure-2.svg", "figure-4.png", "figure-5-shuffled.png"):
        assert (tmp_path / figure).stat().st_size > 5_000
