"""Models: identifiers are no paths, and unknown fields are refused."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pairup.studio.models import KINDS, Identifier, NewProject, Rename
from pairup.studio.server import KINDS as KNOWN


@pytest.mark.parametrize("text", ["..", "../..", "a" * 15, "A" * 16, "g" * 16, "a" * 16 + "\n", "", "0" * 17])
def test_identifiers_are_sixteen_hexadecimal_digits(text):
    assert TypeAdapter(Identifier).validate_python("0123456789abcdef")
    with pytest.raises(ValidationError):
        TypeAdapter(Identifier).validate_python(text)


def test_unknown_fields_and_kinds_are_refused():
    for wrong in ({"kind": "album", "path": "/etc"}, {"kind": "film"}, {}):
        with pytest.raises(ValidationError):
            NewProject.model_validate(wrong)


@pytest.mark.parametrize("name", ["", "   ", "x" * 201])
def test_names_have_something_to_show(name):
    with pytest.raises(ValidationError):
        Rename(name=name)
    assert Rename(name="  Us ").name == "Us"


def test_the_kinds_are_those_that_are_served():
    assert set(KINDS) == set(KNOWN)
