import pytest

from pairup.paper import toy
from pairup.paper.protocol import IMAGE_METHODS, REPORTED_VOICE_METHODS, Task
from pairup.paper.report import Report
from pairup.paper.runner import FORMAT, append_row, load_rows, run_tasks

pytest.importorskip("matplotlib").use("Agg")


def make_row(task, result):
    """A row as `run_task` returns it."""
    timing = {"seconds": 1.0, "cpu_seconds": 1.0}
    return {
        "kind": "run",
        "format": FORMAT,
        "key": task.key,
        "seed": 0,
        **task.to_dict(),
        "result": result,
        "timing": timing,
    }


def image_rows():
    """Rows of the images experiment with invented accuracies: method k is right in k of ten pairs."""
    for n in (40, 80):
        for k, method in enumerate(IMAGE_METHODS):
            for run in range(4):
                result = {"accuracy": k / 10 + 0.01 * (run % 2), "value": 1.0 + k, "value_truth": 2.0, "kept": k / 10}
                yield make_row(Task("images", method, n, run), result)


def voice_rows(auto):
    """Rows of the voice experiment with invented distances, under a given name for our method."""
    for k, method in enumerate(REPORTED_VOICE_METHODS):
        for run in range(3):
            result = {"lsd": 9 - k + 0.1 * run}
            if run == 0:
                result |= {"envelopes": [[1.0, k]] * 3, "true_envelopes": [[1.0, 2.0]] * 3, "rate": 16000}
            yield make_row(Task("voice", auto if method == "auto" else method, 50, run, "shuffled"), result)


def line_of(method, text):
    return next(line for line in text.splitlines() if line.startswith(f"| {method} |"))


def test_the_toy_is_reported_from_its_rows_alone(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = list(run_tasks([Task("toy", method, 40, 0) for method in ("KS-NOCCO", "LSOM", "pairup")], toy.run, path))
    markdown, page = Report(load_rows(path), tmp_path).save()
    for row in rows:
        accuracies = [row["result"][name] for name in ("accuracy", "accuracy_mirror")]
        cells = line_of(row["method"], markdown.read_text()).strip("| ").split(" | ")[3:]
        assert cells == [f"{value:.3f}" for value in (*accuracies, max(accuracies))]
    assert "figure-1.png" in page.read_text()
    assert (tmp_path / "figure-1.png").stat().st_size > 10_000
    once = markdown.read_bytes(), (tmp_path / "figure-1.svg").read_text().count("<path")
    Report(load_rows(path), tmp_path).save()
    assert (markdown.read_bytes(), (tmp_path / "figure-1.svg").read_text().count("<path")) == once


def test_the_best_method_is_marked_at_each_size(tmp_path):
    markdown, _ = Report(list(image_rows()), tmp_path).save()
    text = markdown.read_text()
    assert line_of("pairup", text).count("∘") == 2
    assert "| LSOM | 0.905 ± 0.006 | 0.905 ± 0.006 |" in text
    assert "| LSOM, literal | 0.705 ± 0.006 | 0.705 ± 0.006 |" in text
    assert (tmp_path / "figure-2.svg").exists()


def test_errors_of_the_search_are_told_from_errors_of_the_measure(tmp_path):
    """Of method k the measure found is (1 + k) / 2 of that at the truth."""
    markdown, _ = Report(list(image_rows()), tmp_path).save()
    text = markdown.read_text()
    assert line_of("KS-MI (n = 80)", text).split(" | ")[1:] == ["0.500", "0%", "0.000 |"]
    assert line_of("KS-HSIC, c = √10 (n = 80)", text).split(" | ")[1:] == ["1.500", "100%", "0.200 |"]
    assert line_of("LSOM (n = 80)", text).split(" | ")[1:] == ["5.000", "100%", "0.900 |"]


@pytest.mark.parametrize("auto", ["auto", "default"])
def test_rows_under_the_former_name_give_the_same_report(tmp_path, auto):
    for row in voice_rows(auto):
        append_row(tmp_path / "rows.jsonl", row)
    markdown, _ = Report(load_rows(tmp_path / "rows.jsonl"), tmp_path).save()
    text = markdown.read_text()
    assert line_of("auto", text) == f"| auto | {9 - REPORTED_VOICE_METHODS.index('auto') + 0.1:.3f} ± 0.100 |"
    assert "| default |" not in text
    assert f"lsom {9 - REPORTED_VOICE_METHODS.index('lsom') + 0.2:.3f}" in text, "the worst split"
    assert "<!-- pairup -->" in (tmp_path / "figure-4.svg").read_text()  # the name of its curve


def test_rows_of_the_first_format_and_interrupted_runs_are_reported(tmp_path):
    """There LSOM took the literal step, toys had no scores, and images no value at the truth."""
    old = {
        "iterations": 1,
        "values": [1.0],
        "start": [0, 1],
        "indices": [0, 1],
        "accuracy": 0.5,
        "accuracy_mirror": 0.0,
    }
    old |= {"nocco": 1.0, "nocco_truth": 1.0, "nocco_mirror": 1.0}
    rows = [make_row(Task("toy", method, 2, 0), old) for method in ("KS-NOCCO", "LSOM")]
    rows.append(make_row(Task("images", "LSOM", 320, 0), {"accuracy": 0.4, "value": 1.0, "value_truth": None}))
    rows += [row for row in voice_rows("auto") if row["method"] != "lsom"]
    rows += [row | {"n": 25} for row in voice_rows("auto") if row["method"] == "lsom"]
    for row in rows:
        append_row(tmp_path / "rows.jsonl", {key: value for key, value in row.items() if key != "format"})
    markdown, _ = Report(load_rows(tmp_path / "rows.jsonl"), tmp_path).save()
    text = markdown.read_text()
    assert "| LSOM, literal | 1 |" in text
    assert "| LSOM, literal | 0.400 |" in text
    assert "| lsom-literal |" in text
    assert "| LSOM |" not in text


def test_nothing_to_report_is_told(tmp_path):
    with pytest.raises(ValueError, match="there are no results to report; run an experiment first"):
        Report([], tmp_path).save()
