from types import SimpleNamespace

import psutil
import pytest

from pairup.memory import check_memory


@pytest.fixture
def one_gibibyte(monkeypatch):
    """A machine with 1 GiB of free memory."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**30))


@pytest.mark.usefixtures("one_gibibyte")
def test_what_fits_exactly_passes_and_one_matrix_more_does_not():
    check_memory(2**12, 2**12, matrices=8)  # 8 bytes · 2²⁴ · 8 = 1 GiB
    with pytest.raises(MemoryError, match=r"4096 × 4096 objects need about 1 GiB \(9 dense matrices\), and 1 GiB are"):
        check_memory(2**12, 2**12, matrices=9)


def test_small_problems_do_not_ask_the_system(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: pytest.fail("asked the system"))
    check_memory(320, 320, matrices=8)
