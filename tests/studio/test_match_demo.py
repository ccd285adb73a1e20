"""The demo of a match."""

import csv
import io

import pytest

from pairup.studio.match_demo import CITIES, make_tables


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_both_tables_are_about_the_same_cities_and_share_no_column():
    places, facts = map(read, make_tables())
    truth = dict(line.split("|")[:2] for line in CITIES.strip().splitlines())
    assert len(places) == len(facts) == len(truth) == 77
    assert {truth[row["city"]] for row in places} == {row["local_name"] for row in facts}
    assert not set(places[0]) & set(facts[0])


def test_the_facts_follow_from_the_places():
    facts = {row["local_name"]: row for row in read(make_tables()[1])}
    assert float(facts["Tromsø"]["longest_day_h"]) == pytest.approx(24, abs=0.3)  # the midsummer sun does not set
    assert float(facts["Athína"]["longest_day_h"]) == pytest.approx(14.6, abs=0.4)
    assert float(facts["London"]["solar_noon_utc_h"]) == pytest.approx(12, abs=0.1)
    assert float(facts["Madrid"]["water_boils_at_c"]) == pytest.approx(97.8, abs=0.4)
    assert float(facts["Lisboa"]["flight_to_lisbon_h"]) == pytest.approx(0.6, abs=0.25)


def test_the_same_seed_gives_the_same_tables():
    assert make_tables(3) == make_tables(3) != make_tables(4)
