import os
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

import pairup
from pairup import memory
from pairup.memory import check_linear_memory, check_memory, free_memory


@pytest.fixture
def one_gibibyte(monkeypatch):
    """A machine with 1 GiB of free memory, and no other limits."""
    monkeypatch.setattr(memory, "_process_limits", list)
    monkeypatch.setattr(memory, "_cgroup_limits", list)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**30))


@pytest.mark.usefixtures("one_gibibyte")
def test_what_fits_exactly_passes_and_one_matrix_more_does_not():
    check_memory(2**12, 2**12, matrices=8)  # 8 bytes · 2²⁴ · 8 = 1 GiB
    with pytest.raises(MemoryError, match=r"4096 × 4096 objects need about 1 GiB \(9 dense matrices\), and 1 GiB are"):
        check_memory(2**12, 2**12, matrices=9)


def test_small_problems_do_not_ask_the_system(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: pytest.fail("asked the system"))
    check_memory(320, 320, matrices=8)


@pytest.mark.usefixtures("one_gibibyte")
def test_what_would_fit_is_told_and_does_fit():
    with pytest.raises(MemoryError, match=r"\(of this machine\); about 4096 × 2048 objects would fit: split both sets"):
        check_memory(2**13, 2**12, matrices=16)
    check_memory(4096, 2048, matrices=16)


@pytest.fixture
def groups(monkeypatch, tmp_path):
    """A maker of a fake tree of cgroups; the process is in the group that its file names."""
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_process_limits", list)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))

    def make(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return make


V2 = "0::/user/app\n"
V1 = "3:cpu,cpuacct:/app\n5:memory:/user/app\n"


@pytest.mark.parametrize(
    ("own", "files", "free"),
    [
        (V2, {"user/app/memory.max": 500, "user/app/memory.current": 200, "user/app/memory.stat": "anon 1"}, 300),
        (V2, {"user/memory.max": 500, "user/memory.current": 200, "user/memory.stat": "inactive_file 50"}, 350),
        (V2, {"memory.max": 500, "memory.current": 200, "memory.stat": ""}, 300),
        (V2, {"user/app/memory.max": "max", "user/app/memory.current": 200, "user/app/memory.stat": ""}, 2**40),
        (V2, {"user/app/memory.max": 500, "user/app/memory.current": 900, "user/app/memory.stat": ""}, 0),
        (V2, {"user/app/memory.max": "?", "user/app/memory.current": "", "user/app/memory.stat": "a b c"}, 2**40),
        (V2, {}, 2**40),
        (
            V1,
            {
                "memory/user/app/memory.limit_in_bytes": 900,
                "memory/user/app/memory.usage_in_bytes": 200,
                "memory/user/app/memory.stat": "total_inactive_file 100",
            },
            800,
        ),
        (
            V1,
            {
                "memory/memory.limit_in_bytes": 9223372036854771712,
                "memory/memory.usage_in_bytes": 200,
                "memory/memory.stat": "",
            },
            2**40,
        ),
        ("", {}, 2**40),
    ],
    ids=["v2", "parent", "container", "no limit", "over", "odd", "absent", "v1", "v1 without limit", "no groups"],
)
def test_the_limits_of_cgroups_are_seen(groups, own, files, free):
    groups(own, files)
    found, limit = free_memory()
    assert found == free
    assert ("cgroup" in limit) == (free < 2**40)


def test_a_system_without_cgroups_has_no_such_limit(groups, tmp_path):
    groups("", {})
    (tmp_path / "own").unlink()
    assert free_memory() == (2**40, "of this machine")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to these limits")
@pytest.mark.parametrize(("limit", "words"), [("RLIMIT_AS", "ulimit -v"), ("RLIMIT_DATA", "ulimit -d")])
def test_the_limits_of_the_process_are_seen(limit, words):
    script = f"""
import resource, psutil
from pairup import memory
memory.CGROUPS = memory.OWN_GROUPS
used = psutil.Process().memory_info()
taken = used.vms if "{limit}" == "RLIMIT_AS" else used.data
before = memory.free_memory()[0]
resource.setrlimit(resource.{limit}, (taken + 2**28, taken + 2**28))
free, words = memory.free_memory()
assert 0 < free <= 2**28 < before, (free, before)
try:
    memory.check_memory(4096, 4096, matrices=8)
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "4096 × 4096 objects need about 1 GiB (8 dense matrices), and 0.2" in done.stdout
    assert words in done.stdout


LIMITED = """
import resource, sys
import numpy as np
import pairup, pairup.matching, pairup.metrics
from pairup.regression import MatchedRegressor

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(5000, 3)), rng.normal(size=(5000, 2))
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
calls = [lambda: pairup.match(X, Y, solver="dense"), lambda: MatchedRegressor().fit(X, Y)]
calls += [lambda name=name: getattr(pairup, name)().fit(X, Y) for name in ("KSHSIC", "KSNOCCO", "KSMI", "LSOM")]
calls += [lambda name=name: pairup.dependence(X, Y, measure=name) for name in ("lsmi", "hsic", "nocco", "mi")]
for call in calls:
    try:
        call()
    except MemoryError as error:
        print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to these limits")
def test_every_method_says_what_would_fit_into_a_small_address_space():
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == 10
    for line in told:
        assert "5000 × 5000 objects need about" in line
        assert "ulimit -v" in line
        assert "objects would fit" in line


@pytest.mark.parametrize(("measure", "matrices"), [("hsic", 8), ("nocco", 12), ("mi", 12), ("lsmi", 70)])
def test_the_peak_of_a_measure_is_the_one_predicted(monkeypatch, rng, measure, matrices):
    predicted = []
    monkeypatch.setattr("pairup.estimation.check_memory", lambda n, m, k: predicted.append(8 * n * m * k))
    X, Y = rng.normal(size=(400, 3)), rng.normal(size=(400, 2))
    pairup.dependence(X[:50], Y[:50], measure=measure)
    tracemalloc.start()
    pairup.dependence(X, Y, measure=measure)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert predicted[-1] == 8 * 400 * 400 * matrices
    print(f"{measure}: predicted {predicted[-1] / 1e6:.0f} MB, measured {peak / 1e6:.0f} MB")
    assert 0.7 < predicted[-1] / peak < 1.6


def test_tasks_side_by_side_need_memory_each(monkeypatch, rng):
    from pairup.auto.problem import Problem

    asked = []
    monkeypatch.setattr("pairup.auto.problem.check_memory", lambda n, m, k: asked.append(k))
    X = rng.normal(size=(10, 2))
    for n_jobs in (None, 2):
        Problem.check(X, X, n_jobs=n_jobs)
    assert asked[1] == 2 * asked[0]
    Problem.check(X, X, dense=False)
    assert len(asked) == 2


@pytest.mark.usefixtures("one_gibibyte")
def test_what_is_taken_however_many_there_are_counts_too():
    check_linear_memory(2**10, 2**19, 2**29)
    with pytest.raises(MemoryError, match=r"2048 objects need about 2 GiB, .* about 1024 would fit: split both sets"):
        check_linear_memory(2**11, 2**19, 2**29)
    with pytest.raises(MemoryError, match="2 GiB are needed for any number of them: use a machine with more"):
        check_linear_memory(2**10, 2**10, 2**31)


def test_sets_in_files_need_less(monkeypatch, tmp_path, rng):
    from pairup.auto.problem import Problem

    asked = []
    monkeypatch.setattr("pairup.auto.problem.check_linear_memory", lambda n, size, fixed: asked.append((n, size)))
    X = rng.normal(size=(10, 50))
    np.save(tmp_path / "X.npy", X)
    Problem.check(X, X, dense=False)
    Problem.check(*[np.load(tmp_path / "X.npy", mmap_mode="r")] * 2, dense=False)
    assert [n for n, _ in asked] == [20, 20]
    assert asked[1][1] < asked[0][1] / 2


MANY = """
import resource
import numpy as np
import pairup
from pairup import match_steps
from pairup.auto import Problem
rng = np.random.default_rng(0)
sets = [rng.normal(size=shape).astype(np.float32) for shape in ((200_000, 50), (5000, 3))]
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
for X in sets:
    try:
        if len(X) > 10_000:
            next(iter(match_steps(X, X)))
        Problem.check(X, X, dense=False)
        print("fits")
    except MemoryError as error:
        print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to these limits")
def test_many_objects_in_a_small_address_space_are_refused_before_work_starts():
    variables = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, check=False, timeout=100, env=variables
    )
    assert done.returncode == 0, done.stderr
    many, few = done.stdout.splitlines()
    assert few == "fits" or "ulimit -v" in few
    assert "400000 objects need about" in many
    assert "would fit" in many
