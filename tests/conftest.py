"""What tests share: seeded problems and the measured data where they are there."""

import os
from pathlib import Path

import numpy as np
import pytest


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
