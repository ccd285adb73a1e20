import json

import pytest

from pairup.paper import toy
from pairup.paper.comparison import comparable
from pairup.paper.protocol import IMAGE_METHODS, Task, plan
from pairup.paper.report import Report
from pairup.paper.runner import read_rows, run_tasks

pytest.importorskip("matplotlib")


def image_rows():
    """Rows as the images experiment writes them, with made accuracies: method k is right in k of ten pairs."""
    for n in (40, 80):
        for k, method in enumerate(IMAGE_METHODS):
            for run in range(4):
                task = Task("images", method, n, run)
                accuracy = k / 10 + 0.01 * (run % 2)
                result = {"accuracy": accuracy, "value": 1.0 + k, "value_truth": 2.0}
                yield {"kind": "run", "key": task.key, "seed": 0, **task.to_dict(), "result": result} | {
                    "timing": {"seconds": 1.0, "cpu_seconds": 1.0}
                }


def test_the_toy_is_reported_from_its_rows_alone(tmp_path):
    path = tmp_path / "rows.jsonl"
    list(run_tasks(plan("toy", runs=1), toy.run, path))
    markdown, page = Report(read_rows(path), tmp_path).write()
    assert "KS-NOCCO | 1 | 1 |" in markdown.read_text()
    assert "figure-1.png" in page.read_text()
    assert (tmp_path / "figure-1.png").stat().st_size > 10_000
    once = markdown.read_bytes(), (tmp_path / "figure-1.svg").read_text().count("<path")
    Report(read_rows(path), tmp_path).write()
    assert (markdown.read_bytes(), (tmp_path / "figure-1.svg").read_text().count("<path")) == once


def test_the_best_method_is_marked_at_each_size(tmp_path):
    markdown, _ = Report(list(image_rows()), tmp_path).write()
    text = markdown.read_text()
    line = next(line for line in text.splitlines() if line.startswith("| pairup"))
    assert line.count("∘") == 2
    assert "| LSOM | 0.705 ± 0.006 | 0.705 ± 0.006 |" in text
    assert (tmp_path / "figure-2.svg").exists()


def test_ties_are_comparable_and_single_runs_are_not_tested():
    equal = {"a": {0: 1.0, 1: 2.0, 2: 3.0}, "b": {0: 1.0, 1: 2.0, 2: 3.0}}
    assert comparable(equal, smaller_is_better=True) == {"a", "b"}
    assert comparable({"a": {0: 1.0}, "b": {0: 2.0}}, smaller_is_better=True) == set()


def test_nothing_to_report_is_told(tmp_path):
    with pytest.raises(ValueError, match="there are no rows to report"):
        Report([], tmp_path).write()


def test_rows_are_json(tmp_path):
    list(run_tasks(plan("toy", runs=1)[:1], toy.run, tmp_path / "rows.jsonl"))
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert kinds == ["session", "run"]
