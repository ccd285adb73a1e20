import pytest

from pairup.studio import errands
from pairup.studio.errands import Errands
from pairup.studio.worker import TaskError


def test_errands_share_a_process_and_fail_with_a_sentence():
    made = Errands()
    assert made.run("sleep", {"seconds": 0.0, "parts": 1}) == {"slept": 0.0}
    process = made._worker
    with pytest.raises(TaskError):
        made.run("sleep", {"seconds": "x"})
    assert made.run("sleep", {"seconds": 0.0, "parts": 1}) == {"slept": 0.0}
    assert made._worker is process
    made.close()
    assert not process.is_alive
    assert made.run("sleep", {"seconds": 0.0, "parts": 1}) == {"slept": 0.0}  # a new process
    made.close()


def test_an_errand_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(errands, "LONGEST", 0.1)
    made = Errands()
    with pytest.raises(TaskError):
        made.run("sleep", {"seconds": 60.0, "parts": 1})
    made.close()
