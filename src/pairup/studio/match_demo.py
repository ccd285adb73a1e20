"""The demo of a match: cities under their English names, and the same cities under their own names, told otherwise."""

import csv
import io
import math
import random

CITIES = """
Amsterdam|Amsterdam|52.37|4.90|2
Antwerp|Antwerpen|51.22|4.40|8
Athens|Athína|37.98|23.73|70
Barcelona|Barcelona|41.39|2.17|12
Basel|Basel|47.56|7.59|260
Belgrade|Beograd|44.82|20.46|117
Bergen|Bergen|60.39|5.32|12
Bern|Bern|46.95|7.45|540
Bordeaux|Bordeaux|44.84|-0.58|10
Bratislava|Bratislava|48.15|17.11|140
Brussels|Bruxelles|50.85|4.35|28
Bucharest|București|44.43|26.10|70
Budapest|Budapest|47.50|19.04|105
Cagliari|Cagliari|39.22|9.12|6
Cologne|Köln|50.94|6.96|53
Copenhagen|København|55.68|12.57|9
Cracow|Kraków|50.06|19.94|219
Dublin|Baile Átha Cliath|53.35|-6.26|20
Düsseldorf|Düsseldorf|51.23|6.78|38
Edinburgh|Dùn Èideann|55.95|-3.19|47
Florence|Firenze|43.77|11.26|50
Frankfurt|Frankfurt am Main|50.11|8.68|112
Gdańsk|Gdańsk|54.35|18.65|7
Geneva|Genève|46.20|6.15|375
Genoa|Genova|44.41|8.93|20
Ghent|Gent|51.05|3.72|6
Gothenburg|Göteborg|57.71|11.97|12
Granada|Granada|37.18|-3.60|738
Hamburg|Hamburg|53.55|9.99|6
Hanover|Hannover|52.37|9.73|55
Helsinki|Helsinki|60.17|24.94|26
Innsbruck|Innsbruck|47.27|11.39|574
Istanbul|İstanbul|41.01|28.98|39
Kaunas|Kaunas|54.90|23.90|48
Kyiv|Kyiv|50.45|30.52|179
Lisbon|Lisboa|38.72|-9.14|45
Ljubljana|Ljubljana|46.06|14.51|295
London|London|51.51|-0.13|11
Lviv|Lviv|49.84|24.03|296
Lyon|Lyon|45.76|4.84|173
Madrid|Madrid|40.42|-3.70|657
Marseille|Marseille|43.30|5.37|12
Milan|Milano|45.46|9.19|120
Munich|München|48.14|11.58|520
Naples|Napoli|40.85|14.27|17
Nice|Nice|43.70|7.27|10
Nuremberg|Nürnberg|49.45|11.08|309
Oslo|Oslo|59.91|10.75|23
Palermo|Palermo|38.12|13.36|14
Paris|Paris|48.86|2.35|35
Porto|Porto|41.15|-8.61|85
Prague|Praha|50.08|14.44|200
Reykjavík|Reykjavík|64.15|-21.94|15
Riga|Rīga|56.95|24.11|6
Rome|Roma|41.90|12.50|21
Rotterdam|Rotterdam|51.92|4.48|1
Salzburg|Salzburg|47.80|13.04|424
Sarajevo|Sarajevo|43.86|18.41|518
Seville|Sevilla|37.39|-5.98|7
Sofia|Sofija|42.70|23.32|550
Stockholm|Stockholm|59.33|18.07|28
Strasbourg|Strasbourg|48.57|7.75|142
Tallinn|Tallinn|59.44|24.75|9
The Hague|Den Haag|52.08|4.30|1
Thessaloniki|Thessaloníki|40.64|22.94|5
Tromsø|Tromsø|69.65|18.96|5
Trondheim|Trondheim|63.43|10.40|12
Turin|Torino|45.07|7.69|239
Turku|Turku|60.45|22.27|10
Valencia|València|39.47|-0.38|15
Venice|Venezia|45.44|12.32|1
Vienna|Wien|48.21|16.37|171
Vilnius|Vilnius|54.69|25.28|112
Warsaw|Warszawa|52.23|21.01|100
Wrocław|Wrocław|51.11|17.04|120
Zagreb|Zagreb|45.81|15.98|122
Zurich|Zürich|47.37|8.54|408
"""
"""English name, own name, latitude, longitude in degrees, altitude in metres."""

HUBS = {"Lisbon": (38.77, -9.13), "Helsinki": (60.32, 24.96), "Istanbul": (41.26, 28.74)}
SPEED = 780.0  # km/h of an airliner
GROUND_TIME = 0.6  # hours for taxiing, climbing and landing
TILT = math.radians(23.44)  # of the earth's axis


def make_tables(random_state: int = 1) -> tuple[str, str]:
    """Make two tables about the same cities, without a column in common.

    The first has their places on the map. The second, in another order and under other names, has what follows from
    the place: the longest day, the solar noon, the boiling point of water and hours of flight, each rounded and a
    little off.

    Parameters
    ----------
    random_state : int, default 1
        Seed of the order and of the small deviations.

    Returns
    -------
    tuple of two str
        The tables as csv.
    """
    rng = random.Random(random_state)
    cities = [line.split("|") for line in CITIES.strip().splitlines()]
    places = [["city", "latitude", "longitude", "altitude_m"], *([name, *rest] for name, _, *rest in cities)]
    shuffled = rng.sample(cities, len(cities))
    header = ["local_name", "longest_day_h", "solar_noon_utc_h", "water_boils_at_c"]
    header += [f"flight_to_{hub.lower()}_h" for hub in HUBS]
    facts = [header, *(_tell(city, rng) for city in shuffled)]
    return _to_csv(places), _to_csv(facts)


def _tell(city: list[str], rng: random.Random) -> list[str]:
    """Return what follows from the place of a city, a little off."""
    latitude, longitude, altitude = map(float, city[2:])
    # cos of half the day's arc; beyond 1 the midsummer sun does not set
    arc = max(-1.0, -math.tan(math.radians(latitude)) * math.tan(TILT))
    day = 24 / math.pi * math.acos(arc)
    noon = 12 - longitude / 15
    boiling = 100 - altitude / 295
    flights = [_distance((latitude, longitude), hub) / SPEED + GROUND_TIME for hub in HUBS.values()]
    told = [(day, 0.06, 2), (noon, 0.03, 2), (boiling, 0.1, 1), *((hours, 0.06, 2) for hours in flights)]
    return [city[1], *(f"{rng.gauss(value, spread):.{digits}f}" for value, spread, digits in told)]


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the distance of two places on the earth in kilometres."""
    (north, east), (other_north, other_east) = ((math.radians(degree) for degree in place) for place in (a, b))
    across = math.cos(north) * math.cos(other_north) * math.sin((other_east - east) / 2) ** 2
    h = math.sin((other_north - north) / 2) ** 2 + across  # the haversine of the angle between them
    return 2 * 6371 * math.asin(math.sqrt(h))


def _to_csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
