"""Random requests: whatever is sent, no answer is a failure of the studio itself."""

import os

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairup.studio.server import KINDS, create_app
from pairup.studio.service import Studio
from pairup.studio.workspace import Workspace

REQUESTS = int(os.environ.get("PAIRUP_REQUESTS", "250"))  # by `bench studio fuzz` some thousands

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    studio = Studio(Workspace(tmp_path_factory.mktemp("workspace")), KINDS)
    with TestClient(create_app(studio), base_url="http://localhost", raise_server_exceptions=False) as client:
        client.made = {kind: client.post("/api/projects", json={"kind": kind}).json()["id"] for kind in KINDS}
        yield client


def values(schema, parts):
    """Return a strategy for what a schema describes, and now and then for anything else."""
    return st.one_of(*5 * [fitting(schema, parts)], ANYTHING)


def fitting(schema, parts):
    """Return a strategy for what a schema describes, but for patterns and lengths."""
    if "$ref" in schema:
        return fitting(parts[schema["$ref"].rpartition("/")[2]], parts)
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return st.one_of([fitting(each, parts) for each in schema[union]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    low, high = schema.get("minimum", -5), schema.get("maximum", 10_000)
    if kind == "integer":
        return st.integers(int(low), int(high))
    if kind == "number":
        return st.floats(low, high)
    if kind == "boolean":
        return st.booleans()
    if kind == "array":
        return st.lists(st.deferred(lambda: values(schema.get("items", {}), parts)), max_size=3)
    if kind == "object":
        fields = {
            name: st.deferred(lambda part=part: values(part, parts))
            for name, part in schema.get("properties", {}).items()
        }
        return st.fixed_dictionaries(fields)
    return st.sampled_from(["0" * 16, "1", "#ffffff", "auto"]) | st.text(max_size=8) if kind == "string" else ANYTHING


@settings(max_examples=REQUESTS, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_answer_is_a_failure_of_the_studio(fuzzed, data):
    description = fuzzed.app.openapi()
    parts = description["components"]["schemas"]
    method, path, asked = data.draw(
        st.sampled_from(
            [
                (method, path, asked)
                for path, methods in sorted(description["paths"].items())
                for method, asked in sorted(methods.items())
                if not path.endswith("/events") and method != "delete"  # endless, and the end of the projects
            ]
        )
    )
    kind = next((kind for kind in KINDS if path.startswith(f"/api/{kind}/")), None) or data.draw(
        st.sampled_from(sorted(KINDS))
    )
    query = {}
    for parameter in asked.get("parameters", ()):
        name, drawn = parameter["name"], str(data.draw(fitting(parameter["schema"], parts)))
        if name == "project_id":
            path = path.replace("{project_id}", fuzzed.made[kind])
        elif parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", "".join(letter for letter in drawn if letter.isalnum()) or "x")
        else:
            query[name] = drawn
    body = {}
    if "requestBody" in asked:
        schema = next(iter(asked["requestBody"]["content"].values()))["schema"]
        body = data.draw(fitting(schema, parts))
    answer = fuzzed.request(method, path, params=query, json=body)
    assert answer.status_code < 500, (method, path, query, body, answer.text)
