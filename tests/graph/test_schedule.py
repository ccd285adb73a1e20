"""The constants stand in an order that makes sense."""

from pairup.graph.schedule import CALIBRATION, SCHEDULE


def test_temperatures_fall_and_shares_are_shares():
    assert SCHEDULE.hot > SCHEDULE.cold > 0
    assert SCHEDULE.model_hot > SCHEDULE.model_cold > 0
    assert all(0 < share < 1 for share in SCHEDULE.shared)
    assert 0 < CALIBRATION.reliable_from < 1
    assert min(CALIBRATION.excess, CALIBRATION.sampled) > 0 > CALIBRATION.intercept
    assert 0 < CALIBRATION.trusted_from < 1
