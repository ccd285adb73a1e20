import os
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import psutil
import pytest
from joblib import Parallel, parallel_config

from pairup import KSHSIC, LSOM
from pairup.cluster import on_cluster
from pairup.datasets import make_cubic
from pairup.parallel import in_processes, run, thread_runner


def test_results_come_in_the_order_of_the_tasks():
    assert list(run([partial(divmod, i, 7) for i in range(50)], n_jobs=2)) == [divmod(i, 7) for i in range(50)]


def test_blas_is_pinned_while_tasks_run():
    from threadpoolctl import threadpool_info

    def threads():
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    assert list(run([threads, threads], n_jobs=2)) == [1, 1]


def test_an_error_in_a_task_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(run([partial(divmod, 1, 1), partial(divmod, 1, 0)], n_jobs=2))


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_processes_end_with_the_one_that_started_them():
    script = (
        "import time\n"
        "from functools import partial\n"
        "from pairup.parallel import in_processes, run\n"
        "with in_processes(2):\n"
        "    for _ in run([partial(time.sleep, seconds) for seconds in (0, 0, 60, 60)], ordered=False):\n"
        "        print('done', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"done\n"
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        process.kill()
    _, left = psutil.wait_procs(workers, timeout=20)
    assert not [worker for worker in left if worker.status() != psutil.STATUS_ZOMBIE]


def test_processes_end_with_their_block_and_leave_no_words():
    """joblib's resource tracker told of a leaked folder, after the command had ended."""
    script = (
        "import os, math, psutil\n"
        "from functools import partial\n"
        "from pairup.parallel import in_processes, run\n"
        "with in_processes(2):\n"
        "    print(list(run([partial(math.sqrt, 4.0), partial(math.sqrt, 9.0)])))\n"
        "print(sum('loky' in ' '.join(p.cmdline()) for p in psutil.Process().children(recursive=True)), flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[2.0, 3.0]\n1\n", "nothing but the resource tracker is left"
    assert done.stderr == ""


@pytest.mark.parametrize("n_jobs", [0, 2.0, "2"])
def test_a_number_of_jobs_that_is_none_is_told(n_jobs):
    for start in (lambda: list(run([list], n_jobs=n_jobs)), lambda: in_processes(n_jobs).__enter__()):
        with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0"):
            start()


@pytest.mark.filterwarnings("ignore")  # Dask warns about ports, sizes and its own deprecations
def test_threads_processes_and_a_dask_cluster_agree():
    """Twenty starts, in three ways."""
    distributed = pytest.importorskip("distributed")
    X, Y, _ = make_cubic(40)
    for matcher in (KSHSIC(n_starts=10), LSOM(n_starts=10, widths=(1.0, 2.0))):
        alone = matcher.set_params(n_jobs=None).fit(X, Y)
        expected = (alone.assignment_, alone.dependence_)
        with parallel_config("threading", n_jobs=2):
            threads = matcher.fit(X, Y)
            np.testing.assert_array_equal(threads.assignment_, expected[0])
        with parallel_config("loky", n_jobs=2):
            processes = matcher.fit(X, Y)
            np.testing.assert_array_equal(processes.assignment_, expected[0])
            assert processes.dependence_ == expected[1]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        on_cluster(cluster.scheduler_address),
    ):
        for matcher in (KSHSIC(n_starts=10), LSOM(n_starts=10, widths=(1.0, 2.0))):
            alone = matcher.__class__(**matcher.get_params()).set_params(n_jobs=1)
            far = matcher.fit(X, Y)
            with parallel_config("threading", n_jobs=1):
                alone.fit(X, Y)
            np.testing.assert_array_equal(far.assignment_, alone.assignment_)
            assert far.dependence_ == alone.dependence_
        where = set(cluster.scheduler.workers)
        assert len(where) == 2


def test_processes_that_are_left_behind_are_cleaned_up_in_silence():
    script = (
        "import os\n"
        "from functools import partial\n"
        "from pairup.parallel import in_processes, run\n"
        "with in_processes(2):\n"
        "    list(run([partial(divmod, i, 7) for i in range(4)], n_jobs=2))\n"
        "    os._exit(0)\n"  # as after an interrupt
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""


def test_the_filter_of_warnings_is_put_back(monkeypatch):
    for before in ("error::SyntaxWarning", None):
        if before is None:
            monkeypatch.delenv("PYTHONWARNINGS")
        else:
            monkeypatch.setenv("PYTHONWARNINGS", before)
        with in_processes(1):
            assert "resource_tracker" in os.environ["PYTHONWARNINGS"]
        assert os.environ.get("PYTHONWARNINGS") == before


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_threads_that_stay_call_every_task_and_pass_errors_on(n_jobs):
    done: list[int] = []
    with thread_runner(n_jobs) as run_all:
        for first in (0, 3):
            run_all([partial(done.append, first + i) for i in range(3)])
            assert sorted(done) == list(range(first + 3))
        with pytest.raises(ZeroDivisionError):
            run_all([partial(divmod, 1, 0), partial(divmod, 1, 1)])


def test_who_stops_iterating_is_not_warned_of_what_was_done_in_vain(monkeypatch):
    def warn(parallel):  # as joblib does by chance of timing
        warnings.warn("You could benefit from adjusting the input task iterator to limit …", stacklevel=2)

    monkeypatch.setattr(Parallel, "_warn_exit_early", warn)
    results = run([partial(pow, 2, 3)] * 2000, n_jobs=2)
    assert next(results) == 8
    results.close()  # warnings are errors
