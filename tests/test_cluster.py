import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from pairup import cluster as clusters
from pairup.cluster import on_cluster
from pairup.parallel import run


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            None,
            r"cannot read the scheduler file .*\(No such file or directory\); write it with: dask scheduler --sched",
        ),
        ("{}", 'is no scheduler file: expected JSON with an "address"; write it with: dask scheduler'),
        ("[]", "is no scheduler file"),
        ('{"address": 5}', "is no scheduler file"),
        ("\x00", "is no scheduler file"),
    ],
)
def test_a_bad_scheduler_file_is_told(tmp_path, content, told):
    pytest.importorskip("distributed")
    path = tmp_path / "scheduler.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConnectionError, match=told), on_cluster(str(path)):
        pass


def tell(address):
    """Return what is said of an address, by a process of its own: Dask's clients of one process share a thread."""
    pytest.importorskip("distributed")
    script = (
        "import logging\n"
        "from pairup import cluster\n"
        "cluster.PATIENCE = 1\n"
        "try:\n"
        f"    with cluster.on_cluster({address!r}):\n"
        "        pass\n"
        "except ConnectionError as error:\n"
        "    print(error, flush=True)\n"
        "assert logging.root.manager.disable == logging.NOTSET, 'logging is as before'\n"
        "import os\n"
        "os._exit(0)\n"  # as the command line: connections that were given up are not waited for
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:9", "tcp://no.such.host.invalid:8786", "http://127.0.0.1:9", "foo"]
)
def test_no_scheduler_is_told(address):
    assert re.search(f"no Dask scheduler answers at {address} .*without --cluster", tell(address))


def test_a_name_server_that_does_not_answer_blocks_no_other_cluster(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    asked, answers = [], threading.Event()

    def look_up(host, *args):
        asked.append((host, threading.current_thread().name))
        answers.wait(20)
        raise socket.gaierror("too late")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(ConnectionError, match="no Dask scheduler answers"), on_cluster("tcp://slow.invalid:8786"):
        pass
    answers.set()
    assert [host for host, _ in asked] == ["slow.invalid"]
    assert "IO loop" not in asked[0][1]  # the thread of Dask


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"\0" * 64], ids=["silent", "ssh", "zeros"])
def test_a_port_where_something_else_listens_is_told(greeting):
    accepted = []

    def answer(server):
        while True:
            try:
                accepted.append(server.accept()[0])
                accepted[-1].sendall(greeting)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert f"no Dask scheduler answers at {address}" in tell(address)
        for connection in accepted:
            connection.close()


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and a worker, each a process of its own: the path of their file, and both processes."""
    pytest.importorskip("distributed")
    path = tmp_path / "scheduler.json"
    python = [sys.executable, "-W", "ignore", "-m"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", path]
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", *options], **quiet)
    options = ["--nthreads", "2", "--no-nanny", "--no-dashboard", "--scheduler-file", path]
    worker = subprocess.Popen([*python, "distributed.cli.dask_worker", *options], **quiet)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                with on_cluster(str(path)):
                    break
            except ConnectionError:
                assert time.monotonic() < until, "the cluster did not come up"
                time.sleep(0.1)
        yield str(path), scheduler, worker
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")  # Dask warns of what it does with threads
def test_photos_are_decoded_on_the_cluster_and_kept_here(cluster, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    from pairup.album import read_photos

    monkeypatch.setenv("PAIRUP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "photos").mkdir()
    for number in range(10):
        image.new("RGB", (30, 20), (20 * number, 9, 9)).save(tmp_path / "photos" / f"{number}.png")
    (tmp_path / "photos" / "bad.jpg").write_text("no picture")
    path, _, _ = cluster
    with on_cluster(path):
        there = read_photos(tmp_path / "photos")
    here = read_photos(tmp_path / "photos", cache=False)
    assert (there.names, there.skipped) == (here.names, here.skipped)
    assert (there.miniatures == here.miniatures).all()
    assert (tmp_path / "cache" / "thumbnails" / "0.rows").stat().st_size == 10 * 48


@pytest.fixture
def no_second_try(monkeypatch):
    """Let the scheduler of the next fixture give a task up when the first worker dies of it."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")


@pytest.mark.filterwarnings("ignore")  # Dask tells of what it lost
def test_a_task_that_ends_its_workers_is_told(no_second_try, cluster):
    path, _, worker = cluster
    told = "was lost: a task ended every worker that ran it, most often for lack of memory; repeat without --cluster"
    with pytest.raises(ConnectionError, match=told), on_cluster(path):
        list(run([partial(os._exit, 1)]))
    assert worker.wait(10) == 1


class Unreadable:
    """What a worker cannot unpack, as where pairup is not installed there."""

    def __reduce__(self):
        return int, ("no number",)

    def __call__(self):
        raise AssertionError


@pytest.mark.filterwarnings("ignore")  # Dask tells of what it lost
def test_a_task_that_workers_cannot_unpack_is_told(cluster):
    path, _, _ = cluster
    with pytest.raises(ConnectionError, match=r"was lost: it could not run a task \(.*\); repeat"), on_cluster(path):
        list(run([Unreadable()]))


def work_until(fault):
    """Give the cluster work for a minute, and let the fault happen soon."""
    threading.Timer(0.5, fault).start()
    list(run([partial(time.sleep, 60)] * 2))


@pytest.mark.filterwarnings("ignore")  # Dask tells of what it lost
def test_workers_that_are_lost_are_told(cluster, monkeypatch):
    path, _, worker = cluster
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), on_cluster(path):
        list(run([partial(divmod, 1, 0)]))
    monkeypatch.setattr(clusters, "PATIENCE", 2)
    with pytest.raises(ConnectionError, match="was lost: all workers are gone; repeat without --c"), on_cluster(path):
        work_until(worker.kill)
    with pytest.raises(ConnectionError, match="has no workers; start one: dask worker tcp"), on_cluster(path):
        pass
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.filterwarnings("ignore")  # Dask tells of what it lost
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("number", "told"), [(signal.SIGKILL, "the scheduler is gone"), (signal.SIGSTOP, "the scheduler does not answer")]
)
def test_a_scheduler_that_is_lost_is_told(cluster, monkeypatch, number, told):
    path, scheduler, _ = cluster
    monkeypatch.setattr(clusters, "PATIENCE", 2)
    with pytest.raises(ConnectionError, match=f"was lost: {told}.*; repeat without --cluster"), on_cluster(path):
        work_until(partial(scheduler.send_signal, number))
