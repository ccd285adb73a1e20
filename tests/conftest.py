"""What tests share: seeded problems and the measured data where they are there."""

import inspect
import os
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pairup.datasets import Pair, shuffle_pair

if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click 8.1, which mixes both streams unless told
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)  # type: ignore[assignment]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of measured data, or a skip that says how to give it."""
    name = os.environ.get("PAIRUP_DATA")
    if not name or not Path(name).is_dir():
        pytest.skip("needs the measured data: set PAIRUP_DATA to their folder")
    return Path(name)


@pytest.fixture(scope="session")
def skewed() -> Callable[..., Pair]:
    """A maker of skewed data beside themselves, turned into more dimensions and shuffled."""

    def make(rng: np.random.Generator, n: int = 60, noise: float = 0.02) -> Pair:
        Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
        Y = Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T
        return shuffle_pair(Z, Y + noise * rng.normal(size=Y.shape))

    return make
