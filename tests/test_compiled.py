import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pairup.compiled import compiled


@compiled
def square(x: int) -> int:
    """Multiply by itself."""
    return x * x


@compiled
def sum_of_squares(n: int) -> int:
    total = 0
    for i in range(n):
        total += square(i)
    return total


def test_compiled_functions_call_each_other() -> None:
    assert sum_of_squares(5) == 30


def test_keeps_name_and_docstring() -> None:
    assert vars(square)["__name__"] == "square"
    assert square.__doc__ == "Multiply by itself."


def test_threads_share_one_compilation() -> None:
    @compiled
    def cube(x: int) -> int:
        return x * x * x

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(cube, range(8))) == [x**3 for x in range(8)]
        assert len({id(d) for d in pool.map(lambda _: cube.dispatcher, range(8))}) == 1
    assert len(cube.dispatcher.signatures) == 1


def test_errors_of_numba_pass_through() -> None:
    import numba

    @compiled
    def broken(x: int) -> int:
        return x.no_such_attribute  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(numba.TypingError, match="no_such_attribute"):
        broken(1)


PROGRAM = """
import sys
from pairup.compiled import compiled

@compiled
def double(x):
    return 2 * x

assert "numba" not in sys.modules, "numba was imported before the first call"
print(double(21), double.dispatcher.stats.cache_path, sum(double.dispatcher.stats.cache_hits.values()))
"""


def run_program(folder: Path, **environment: str) -> list[str]:
    program = folder / "program.py"
    if not program.exists():  # written anew it is a changed source to some versions of numba
        program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_second_process_reads_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    answers = [run_program(tmp_path, NUMBA_CACHE_DIR=str(cache)) for _ in range(2)]
    assert [(answer, hits) for answer, _, hits in answers] == [("42", "0"), ("42", "1")]
    assert Path(answers[0][1]).is_relative_to(cache)


def test_runs_where_no_cache_folder_is_writable(tmp_path: Path) -> None:
    in_the_way = tmp_path / "a file"  # no folder can be made below a file, not even by root
    in_the_way.touch()
    (tmp_path / "__pycache__").touch()
    answer = run_program(
        tmp_path,
        NUMBA_CACHE_DIR=str(in_the_way / "numba"),
        XDG_CACHE_HOME=str(in_the_way),
        HOME=str(in_the_way),
        LOCALAPPDATA=str(in_the_way),
    )
    assert answer == ["42", "None", "0"]
