"""Workers: steps and results come back, errors are sentences, and a job can be ended at once."""

import subprocess
import sys
import threading
import time

import psutil
import pytest

from pairup.studio.worker import CancelledTaskError, TaskError, Worker, give_back_memory, sleep


@pytest.fixture(scope="module")
def worker():
    made = Worker()
    yield made
    made.stop()


def test_steps_come_before_the_result(worker):
    *steps, last = worker.run("sleep", {"seconds": 0, "parts": 3}, threading.Event())
    assert [step["text"] for step in steps] == ["part 1 of 3", "part 2 of 3", "part 3 of 3"]
    assert last == {"result": {"slept": 0}}
    assert list(sleep(0, 3)) == [*steps, last]


@pytest.mark.parametrize(
    ("task", "arguments", "words"),
    [("no such task", {}, "no such task"), ("sleep", {"hours": 1}, "hours"), ("sleep", {"seconds": "x"}, "operand")],
)
def test_an_error_is_a_sentence_and_the_worker_goes_on(worker, task, arguments, words):
    with pytest.raises(TaskError, match=words):
        list(worker.run(task, arguments, threading.Event()))
    assert list(worker.run("sleep", {"seconds": 0}, threading.Event()))[-1] == {"result": {"slept": 0}}


def test_a_cancelled_job_ends_at_its_next_step(worker):
    cancelled = threading.Event()
    steps = worker.run("sleep", {"seconds": 30, "parts": 300}, cancelled)
    next(steps)
    cancelled.set()
    asked = threading.Thread(target=worker.cancel, args=(cancelled,))
    asked.start()
    with pytest.raises(CancelledTaskError):
        list(steps)
    asked.join()
    assert worker.is_alive
    assert list(worker.run("sleep", {"seconds": 0}, threading.Event()))


def test_a_job_cancelled_before_it_began_does_not_begin(worker):
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(CancelledTaskError):
        list(worker.run("sleep", {"seconds": 30, "parts": 300}, cancelled))


def test_a_job_without_steps_is_ended_with_its_process():
    worker, cancelled, ends = Worker(), threading.Event(), []

    def run():
        try:
            list(worker.run("sleep", {"seconds": 60, "parts": 1}, cancelled))
        except CancelledTaskError:
            ends.append("cancelled")

    thread = threading.Thread(target=run)
    thread.start()
    while worker._idle.is_set():
        time.sleep(0.001)
    cancelled.set()
    began = time.monotonic()
    worker.cancel(cancelled)
    thread.join(10)
    assert ends == ["cancelled"]
    assert not worker.is_alive
    assert time.monotonic() - began < 5


def test_a_killed_worker_is_a_sentence():
    worker = Worker()
    steps = worker.run("sleep", {"seconds": 60, "parts": 600}, threading.Event())
    next(steps)
    psutil.Process(worker._process.pid).kill()
    with pytest.raises(TaskError, match="ended unexpectedly"):
        list(steps)
    worker.stop()


def test_a_worker_ends_with_its_studio(tmp_path):
    import subprocess
    import sys

    code = (
        "import sys, os\nfrom pairup.studio.worker import Worker\n"
        "if __name__ == '__main__':\n"
        "    w = Worker()\n    print(w._process.pid, flush=True)\n    sys.stdin.read()\n"
    )
    path = tmp_path / "studio.py"
    path.write_text(code)
    process = subprocess.Popen([sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(process.stdout.readline()))
    process.kill()
    process.communicate()
    assert not psutil.wait_procs([child], timeout=10)[1]


def test_a_late_cancel_does_not_touch_the_next_job(worker):
    first, second = threading.Event(), threading.Event()
    list(worker.run("sleep", {"seconds": 0}, first))
    steps = worker.run("sleep", {"seconds": 0.1, "parts": 4}, second)
    next(steps)
    first.set()
    worker.cancel(first)
    assert list(steps)[-1] == {"result": {"slept": 0.1}}
    assert not worker.is_at_work


def test_a_job_that_nobody_follows_is_still_at_work():
    worker = Worker()
    steps = worker.run("sleep", {"seconds": 60, "parts": 600}, threading.Event())
    next(steps)
    steps.close()
    assert worker.is_at_work
    worker.stop()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only the C library of Linux can be asked")
def test_memory_is_given_back():
    process = psutil.Process()
    blocks = [bytes(100_000) for _ in range(1000)]
    kept = bytes(100_000)  # above them, so that they are not given back by themselves
    before = process.memory_info().rss
    blocks.clear()
    give_back_memory()
    assert before - process.memory_info().rss > 50_000_000
    assert len(kept) == 100_000


HOLES = """
import ctypes, sys
import numpy as np
from pairup.studio.worker import LARGE, spare_memory

if not hasattr(ctypes.CDLL(None), "mallopt"):
    sys.exit("no mallopt")
spare_memory()

def measure():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def take(count):
    large = [np.ones(LARGE + 4096, dtype=np.uint8)]
    large.clear()  # after this the C library would take arrays of this size from its heap
    small = []
    for _ in range(count):
        large.append(np.ones(LARGE + 4096, dtype=np.uint8))
        small.append(np.ones(60_000, dtype=np.uint8))
    return large, small

before = measure()
large, small = take(10)
assert measure() - before > 10 * LARGE
large.clear()
print((measure() - before) / LARGE)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there memory is given back")
def test_large_arrays_leave_no_holes():
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=False)
    if "no mallopt" in done.stderr:
        pytest.skip("another C library")
    assert float(done.stdout) < 2, done
