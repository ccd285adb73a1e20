import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest

import pairup.auto
from pairup.auto import schedule
from pairup.auto.schedule import FEW_OBJECTS, GEOMETRY, MANY_OBJECTS, Schedule
from pairup.constraints import Constraints
from pairup.density_ratio import EPSILONS


def test_the_larger_set_chooses_the_schedule():
    assert Schedule.for_size(Constraints(599, 10, 10)) is FEW_OBJECTS
    assert Schedule.for_size(Constraints(10, 600, 10)) is MANY_OBJECTS


def test_the_ladder_of_epsilon_stands_once():
    """Every ε of the engine is one of the ladder, and no other module writes one down."""
    for each in (FEW_OBJECTS, MANY_OBJECTS):
        assert set(each.continuation) <= set(EPSILONS)
        assert each.coarse_epsilon in EPSILONS
    package = Path(pairup.__file__).parent
    ladders = [
        path.name
        for path in package.rglob("*.py")
        if re.search(r"0\.1, 0\.03|0\.03, 0\.01|0\.01, 0\.003", path.read_text(encoding="utf-8"))
    ]
    assert ladders == ["density_ratio.py"]


@pytest.mark.parametrize("record", [r for r in vars(schedule).values() if is_dataclass(r) and not isinstance(r, type)])
def test_constants_cannot_be_changed_by_accident(record):
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 0)


def test_numbers_stay_in_the_schedule():
    """No module of the engine but the schedule names a constant of its own."""
    folder = Path(pairup.auto.__file__).parent
    for path in folder.glob("*.py"):
        if path.name != "schedule.py":
            found = re.findall(r"^[A-Z_]+(?:: [^=]+)? = .*\d", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert found == [], path.name
    assert set(GEOMETRY.scoring_kernels) <= set(GEOMETRY.kernels)
