import pytest
from pydantic import TypeAdapter, ValidationError

from pairup.studio.album_document import LEVELS, MOST_PHOTOS, Action, Document, Frame, Job, Style, Weights


def test_a_document_survives_json():
    document = Document(photos=[0, 1], rotations={1: 3}, frame={"kind": "text", "text": " Ü "}, cells=[[0, 0], [0, 1]])
    assert document.frame.text == "Ü"
    assert Document.model_validate_json(document.model_dump_json()) == document


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "grid", "rows": 1000, "columns": 1000},
        {"kind": "grid", "rows": 0, "columns": 3},
        {"kind": "auto", "aspect": float("nan")},
        {"kind": "text", "text": "   "},
        {"kind": "text", "text": "x" * 25},
        {"kind": "shape", "name": "../heart"},
        {"kind": "mask", "file": "../../etc/passwd"},
        {"kind": "cells", "lines": ["..."]},
        {"kind": "cells", "lines": ["#" * 101]},
        {"kind": "cells", "lines": ["<b>"]},
        {"kind": "points", "path": "/etc/passwd"},
    ],
)
def test_frames_out_of_bounds_are_refused(frame):
    with pytest.raises(ValidationError):
        TypeAdapter(Frame).validate_python(frame)


@pytest.mark.parametrize(
    "action",
    [
        {"type": "swap", "first": -1, "second": 0},
        {"type": "pin", "photos": [], "pinned": True},
        {"type": "rotate", "photos": [0], "quarters": 4},
        {"type": "remove", "photos": [0] * (MOST_PHOTOS + 1)},
        {"type": "keep", "cells": [[0, 0, 0]], "order": [0]},
        {"type": "keep", "cells": [[0, 10**9]], "order": [0]},
        {"type": "swap", "first": 0, "second": 0, "extra": 1},
    ],
)
def test_actions_out_of_bounds_are_refused(action):
    with pytest.raises(ValidationError):
        TypeAdapter(Action).validate_python(action)


@pytest.mark.parametrize(
    "job",
    [
        {"task": "export", "format": "exe"},
        {"task": "export", "format": "pdf", "dpi": 10**6},
        {"task": "tiles", "level": LEVELS[-1] + 1},
        {"task": "arrange", "seed": -1},
    ],
)
def test_jobs_out_of_bounds_are_refused(job):
    with pytest.raises(ValidationError):
        TypeAdapter(Job).validate_python(job)


def test_weights_and_looks_are_bounded():
    with pytest.raises(ValidationError, match="all weights are 0"):
        Weights(colour=0, edges=0, date=0)
    with pytest.raises(ValidationError):
        Style(background="url(x)")
    with pytest.raises(ValidationError):
        Style(gap=float("inf"))
