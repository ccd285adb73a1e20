"""Jobs: one at a time in a project, told and saved as they go, cancelled at once."""

import threading

import pytest

from pairup.studio.jobs import Job, Jobs
from pairup.studio.worker import Worker


class Log:
    """What a queue tells and saves."""

    def __init__(self):
        self.told, self.saved, self.changed = [], [], threading.Condition()

    def tell(self, job, step):
        with self.changed:
            self.told.append((job.project, job.status, None if step is None else step["text"]))
            self.changed.notify_all()

    def save(self, job):
        self.saved.append((job.project, job.status))

    def wait(self, *wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: all(w in [t[:2] for t in self.told] for w in wanted), 30), self.told


@pytest.fixture(scope="module")
def queue():
    log = Log()
    jobs = Jobs(log.tell, log.save)
    jobs.adopt(Worker(warm=True))
    jobs.log = log
    yield jobs
    jobs.close()


def make(project, results, seconds=0.0, parts=2, task="sleep", fail=None):
    def prepare():
        if fail:
            raise ValueError(fail)
        return {"seconds": seconds, "parts": parts}

    return Job(project, task, prepare, results.append, {"task": task})


def test_a_job_is_told_from_beginning_to_end(queue):
    results = []
    view = queue.submit(make("a", results))
    assert view.status in ("queued", "running")
    queue.log.wait(("a", "done"))
    assert results == [{"slept": 0.0}]
    told = [entry for entry in queue.log.told if entry[0] == "a"]
    assert [t[1] for t in told if t[2] is None] == ["queued", "running", "done"]
    assert [t[2] for t in told if t[2]] == ["part 1 of 2", "part 2 of 2"]
    assert queue.log.saved[-1] == ("a", "done")
    assert queue.latest("a").view.progress == 1.0
    assert queue.latest("nobody") is None


def test_jobs_of_one_project_wait_for_each_other(queue):
    order = []
    first, second = (make("b", order, seconds=0.3, parts=3) for _ in range(2))
    queue.submit(first)
    queue.submit(second)
    assert second.status == "queued"
    queue.log.wait(("b", "done"))
    with queue.log.changed:
        assert queue.log.changed.wait_for(lambda: second.status == "done", 30)
    assert len(order) == 2


def test_failures_are_told(queue):
    queue.submit(make("c", [], task="no such task"))
    queue.log.wait(("c", "failed"))
    assert "no such task" in queue.latest("c").error
    queue.submit(make("d", [], fail="the photos are gone"))
    queue.log.wait(("d", "failed"))
    assert queue.latest("d").error == "the photos are gone"


def test_a_job_is_cancelled_while_it_works_and_while_it_waits(queue):
    results = []
    works, waits = make("e", results, seconds=60, parts=600), make("e", results)
    queue.submit(works)
    queue.submit(waits)
    queue.log.wait(("e", "running"))
    assert queue.cancel("e", waits.id).status == "cancelled"
    assert queue.cancel("e", works.id).status == "cancelled"
    assert queue.cancel("e", works.id).status == "cancelled"
    queue.end_project("e")
    assert results == []
    assert "e" not in queue._active
    with pytest.raises(KeyError):
        queue.cancel("e", works.id)
    with pytest.raises(KeyError):
        queue.cancel("a", works.id)


def test_a_full_disk_neither_stops_a_job_nor_mixes_it_with_the_next(monkeypatch):
    monkeypatch.setattr("pairup.studio.jobs.SAVED", 0)
    log, failing = Log(), threading.Event()

    def save(job):
        if failing.is_set():
            raise OSError("no space left")

    jobs, results = Jobs(log.tell, save), []
    job = make("a", results, seconds=0.2, parts=4)
    jobs.submit(job)
    failing.set()
    log.wait(("a", "done"))
    with pytest.raises(OSError, match="no space"):  # a job that could not go on after a crash is not begun
        jobs.submit(make("c", results))
    failing.clear()
    jobs.submit(make("b", results, parts=1))
    log.wait(("b", "done"))
    assert results == [{"slept": 0.2}, {"slept": 0.0}]
    jobs.close()
