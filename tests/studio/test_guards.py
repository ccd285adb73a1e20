"""Guards: what other sites, other names and strangers get is a refusal."""

import itertools
import re

import pytest
from fastapi.testclient import TestClient

from pairup.studio.guards import COOKIE, LARGEST_JSON
from pairup.studio.server import create_app


def test_pages_carry_a_strict_policy(client):
    for path in ("/", "/static/js/app.js", "/api/projects", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "", "127.0.0.1.nip.io"])
def test_a_foreign_host_is_refused(client, host):
    for path in ("/", "/api/projects", "/static/style.css"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 421
        assert "address that it printed" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
def test_this_computer_is_answered(client, host):
    assert client.get("/api/projects", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_a_cross_site_request_is_refused(client, headers):
    for method, path in (("POST", "/api/projects"), ("GET", "/api/projects")):
        answer = client.request(method, path, json={"kind": "album"}, headers=headers)
        assert answer.status_code == 403
    assert client.get("/api/projects").json()["projects"] == []


def test_a_link_from_elsewhere_opens_the_page(client):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200


def test_own_requests_are_answered(client):
    headers = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert client.post("/api/projects", json={"kind": "album"}, headers=headers).status_code == 201


def test_too_much_json_is_refused(client):
    answer = client.post("/api/projects", json={"kind": "album", "name": "x" * LARGEST_JSON})
    assert answer.status_code == 413
    pieces = (b"x" * 100_000 for _ in range(1 + LARGEST_JSON // 100_000))  # a size that is not said beforehand
    answer = client.post("/api/projects", content=pieces, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert client.get("/api/projects").json()["projects"] == []


@pytest.fixture
def guarded(studio):
    app = create_app(studio, hosts=frozenset({"*"}), token="a-very-secret-token")
    with TestClient(app, base_url="http://192.0.2.7:8000") as made:
        yield made


def test_strangers_need_the_token(guarded):
    for path in ("/", "/api/projects", "/static/style.css", "/?token=wrong", "/?token=", "/api/projects?token=x"):
        assert guarded.get(path).status_code == 401
    for cookie in (f"{COOKIE}=wrong", f"{COOKIE}=", "\x01;=;;", f"other=a; {COOKIE}=a-very-secret-toke"):
        assert guarded.get("/", headers={"cookie": cookie}).status_code == 401


def test_the_token_is_taken_into_a_cookie_once(guarded):
    answer = guarded.get("/?token=a-very-secret-token", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert guarded.get("/api/projects").status_code == 200
    guarded.cookies.clear()
    answer = guarded.get(f"/album/{'0' * 16}?token=a-very-secret-token", follow_redirects=False)
    assert answer.headers["location"] == f"/album/{'0' * 16}"
    cookie = {"cookie": f"a,b=1; {COOKIE}=a-very-secret-token"}
    assert guarded.get("/api/projects", headers=cookie).status_code == 200
    guarded.cookies.clear()
    assert guarded.get("/api/projects?token=a-very-secret-token").status_code == 401


# As a client sends them that does not tidy paths; `test_server` sends plain ones to a server.
WALKS = ("%2e%2e", "..%2f..%2fetc%2fpasswd", "%2e%2e%2fproject.sqlite", "..%5c..", "%00", "~", "C:%5cWindows")


def test_no_part_of_any_address_is_a_path(client):
    """Every address of the description, each of its parts in turn a way out."""
    made = {
        kind: client.post("/api/projects", json={"kind": kind}).json()["id"] for kind in ("album", "match", "voice")
    }
    tried = 0
    for path, methods in client.app.openapi()["paths"].items():
        kind = next((kind for kind in made if path.startswith(f"/api/{kind}/")), "album")
        names = re.findall(r"{(\w+)}", path)
        if path.endswith("/events"):
            continue  # endless where it is answered; its only part is that of all others
        for method, name, walk in itertools.product(methods, names, WALKS):
            parts = dict.fromkeys(names, "0" * 16) | {"project_id": made[kind]} | {name: walk}
            answer = client.request(method, path.format(**parts))
            assert answer.status_code in (307, 404, 405, 413, 422), (method, path, parts, answer.status_code)
            assert b"root:" not in answer.content
            tried += 1
    assert tried > 300
    assert len(client.get("/api/projects").json()["projects"]) == 3
