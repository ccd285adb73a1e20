"""The document of a match: what is bounded, and what is refused."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pairup.methods import METHODS, METRICS
from pairup.studio.match_document import Action, Answer, Document, Settings

ACTIONS = TypeAdapter(Action)


def test_a_document_survives_json():
    document = Document(anchors=[(1, 2)], forbidden=[(3, 4)])
    assert Document.model_validate_json(document.model_dump_json()) == document


def test_the_methods_and_metrics_are_those_of_the_library():
    fields = Settings.model_json_schema()["properties"]
    assert tuple(fields["method"]["enum"]) == METHODS
    assert tuple(fields["metric"]["enum"]) == METRICS


@pytest.mark.parametrize(
    "action",
    [
        {"type": "judge", "x": -1, "y": 0, "as": "confirmed"},
        {"type": "judge", "x": 0, "y": 10**9, "as": "confirmed"},
        {"type": "judge", "x": 0, "y": 0, "as": "perhaps"},
        {"type": "choose", "side": "z", "file": "0" * 16},
        {"type": "choose", "side": "x", "file": "../../etc/passwd"},
        {"type": "read", "side": "x", "id_column": "a" * 501},
        {"type": "options", "overlap": 0},
        {"type": "options", "overlap": float("nan")},
        {"type": "options", "method": "magic"},
        {"type": "forget", "more": 1},
        {"type": "explode"},
    ],
)
def test_what_is_malformed_is_refused(action):
    with pytest.raises(ValidationError):
        ACTIONS.validate_python(action)


def test_an_answer_is_finite():
    with pytest.raises(ValidationError):
        Answer(
            id="0" * 16, settings=Settings(), rows=(1, 1), pairs=1, tone="good", verdict="", reliability=float("inf")
        )
