"""The server in a process of its own: started, asked as no browser would, stopped and killed."""

import http.client
import json
import socket

import psutil
import pytest

from pairup.studio.server import STATIC, bind


def ask(url, method, path, body=None, headers=None):
    """Send a request as it is: no client tidies the path."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    connection.putrequest(method, path, skip_host="host" in (headers or {}), skip_accept_encoding=True)
    for name, value in {**(headers or {}), **({"content-length": str(len(body))} if body else {})}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_it_says_where_it_runs_and_stops_quietly(run_studio):
    studio = run_studio()
    assert studio.said.startswith("The studio runs at http://localhost:")
    status, content = ask(studio.url, "GET", "/")
    assert (status, content) == (200, (STATIC / "index.html").read_bytes())
    children = psutil.Process(studio.process.pid).children(recursive=True)
    assert studio.stop() == 0
    assert studio.rest == "Stop it with Ctrl-C; nothing is lost.\nThe studio has stopped.\n"
    assert not psutil.wait_procs(children, timeout=5)[1]


def test_a_second_studio_on_the_workspace_is_refused(run_studio, tmp_path):
    import subprocess
    import sys

    studio = run_studio()
    second = subprocess.run(
        [sys.executable, "-m", "pairup", "studio", "--no-browser", "--workspace", str(tmp_path / "workspace")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert second.returncode == 1
    assert f"another studio has the workspace {tmp_path / 'workspace'} open at {studio.url}/" in second.stderr
    assert len(second.stderr.splitlines()) == 1


def test_raw_paths_lead_nowhere(run_studio):
    studio = run_studio()
    for path in ("/..", "/../../etc/passwd", "/static/../server.py", "/static/%2e%2e/server.py"):
        for address in (path, f"/api/projects{path}", f"/api/projects/{'0' * 16}/files{path}", f"/album{path}"):
            status, content = ask(studio.url, "GET", address)
            assert status in (400, 404, 405, 422), address
            assert b"root:" not in content
            assert b"import" not in content


def test_a_port_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port}: .*; choose another --port"):
            bind("127.0.0.1", port)


def test_beyond_this_computer_a_token_is_demanded(run_studio):
    studio = run_studio("--host", "0.0.0.0")
    assert "?token=" in studio.address
    token = studio.address.partition("?token=")[2]
    assert len(token) >= 20
    assert ask(studio.url, "GET", "/api/projects")[0] == 401
    assert ask(studio.url, "GET", "/?token=wrong")[0] == 401
    assert ask(studio.url, "GET", f"/?token={token}")[0] == 303
    assert ask(studio.url, "GET", "/api/projects", headers={"cookie": f"pairup_token={token}"})[0] == 200


def test_a_page_that_is_closed_while_it_sends_leaves_nothing_and_is_no_failure(run_studio):
    studio = run_studio()
    made = json.loads(
        ask(studio.url, "POST", "/api/projects", b'{"kind": "album"}', {"content-type": "application/json"})[1]
    )
    host, port = studio.url.removeprefix("http://").split(":")
    head = f"POST /api/projects/{made['id']}/files?role=photo&name=a.jpg HTTP/1.1\r\nHost: {host}:{port}\r\n"
    with socket.create_connection((host, int(port))) as sending:
        sending.sendall(head.encode() + b"Content-Length: 1000000\r\n\r\n" + bytes(100_000))
        files = studio.workspace / "projects" / made["id"] / "files"
        while not any(files.iterdir()):
            pass
    while any(files.iterdir()):
        pass
    assert json.loads(ask(studio.url, "GET", f"/api/projects/{made['id']}")[1])["files"] == []
    assert studio.stop() == 0
    assert "Traceback" not in studio.rest


def test_what_was_done_is_there_after_a_power_cut(run_studio):
    studio = run_studio()
    json_type = {"content-type": "application/json"}
    made = json.loads(ask(studio.url, "POST", "/api/projects", b'{"kind": "match", "name": "kept"}', json_type)[1])
    body = b'{"name": "kept for ever"}'
    assert ask(studio.url, "PATCH", f"/api/projects/{made['id']}", body, json_type)[0] == 200
    studio.kill()
    again = run_studio()
    (project,) = json.loads(ask(again.url, "GET", "/api/projects")[1])["projects"]
    assert project["name"] == "kept for ever"
