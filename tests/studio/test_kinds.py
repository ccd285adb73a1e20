"""Kinds: every kind of project keeps the contract that routes, service and pages rely on."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pairup.studio.kinds import Kind
from pairup.studio.server import KINDS
from pairup.studio.worker import TASKS


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_new_project_needs_nothing(kind):
    assert isinstance(kind, Kind)
    document = kind.document()
    assert kind.document.model_validate(document.model_dump(mode="json")) == document


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize("nonsense", [{}, {"type": "explode"}, {"task": "explode"}, [], "text", None, 3])
def test_unknown_actions_and_jobs_are_refused(kind, nonsense):
    for union in (kind.action, kind.job):
        with pytest.raises(ValidationError):
            TypeAdapter(union).validate_python(nonsense)


def test_every_task_can_be_found():
    import importlib

    for place in TASKS.values():
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(module), name))
