"""The page of a wall in a real browser, opened from the disk."""

import numpy as np
import pytest
from PIL import Image

from pairup.album import Style, arrange, read_photos

NAMES = ['<img src=x onerror="window.hacked=1">.png', "“é” 100%.png", "with space #1.png"]
FRAMES = """() => { window.times = []; let last = performance.now();
  const tick = now => { window.times.push(now - last); last = now; window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick); }"""


@pytest.fixture(scope="module")
def wall(tmp_path_factory):
    """A wall of 400 photos of one colour each, in 18 rows: the last is not full."""
    folder = tmp_path_factory.mktemp("wall")
    (folder / "in").mkdir()
    colours = np.random.default_rng(0).integers(0, 255, (400, 3))
    names = [*NAMES, *(f"img{i:03}.png" for i in range(397))]
    for name, colour in zip(names, colours.tolist(), strict=True):
        Image.new("RGB", (60, 40), tuple(colour)).save(folder / "in" / name.replace("/", "-"))
    photos = read_photos(folder / "in", cache=False)
    album = arrange(photos, "18x23", draft=True)
    list(album.write_wall(folder / "wall", Style(title="Us & <them>")))
    return folder / "wall"


def open_page(browser, wall, **options):
    page = browser.new_page(**{"viewport": {"width": 1000, "height": 760}, "reduced_motion": "reduce", **options})
    page.requests, page.errors = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text))
    page.goto((wall / "index.html").as_uri())
    settle(page)
    return page


def wait(page, condition):
    """Wait until a condition holds; playwright's own way needs eval, which the page forbids."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not within 20 s: {condition}")


def settle(page):
    wait(page, "document.getElementById('view').dataset.loading === '0'")


@pytest.fixture
def page(browser, wall):
    opened = open_page(browser, wall)
    yield opened
    assert opened.errors == []
    opened.close()


def scale(page):
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.get_attribute("#view", "data-scale"))


def colour_in_the_middle(page):
    settle(page)
    picture = page.screenshot(clip={"x": 495, "y": 375, "width": 10, "height": 10})
    from io import BytesIO

    with Image.open(BytesIO(picture)) as shot:
        return np.asarray(shot.convert("RGB"))[5, 5].astype(int)


def test_search_flies_to_a_photo_enter_enlarges_it_and_back_leads_back(page, wall):
    before = scale(page)
    page.fill("#query", "IMG123")
    page.wait_for_selector("#results button")
    assert page.inner_text("#told") == "1 photo"
    page.press("#query", "Enter")
    assert scale(page) > 4 * before
    with Image.open(wall.parent / "in" / "img123.png") as original:
        expected = np.asarray(original)[0, 0].astype(int)
    np.testing.assert_allclose(colour_in_the_middle(page), expected, atol=8)
    page.keyboard.press("Enter")
    assert page.evaluate("document.getElementById('large').open")
    assert page.inner_text("#name") == "img123.png"
    assert page.evaluate("location.hash") == "#img123.png"
    page.wait_for_selector("#similar button")
    assert page.locator("#similar button").count() == 8
    page.go_back()
    wait(page, "!document.getElementById('large').open")
    page.go_back()
    wait(page, f"Math.abs(document.getElementById('view').dataset.scale - {before}) < 1e-4")


def test_more_like_this_leads_from_photo_to_photo_and_to_the_wall(page):
    page.fill("#query", "img200")
    page.press("#query", "Enter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#similar button")
    name = page.locator("#similar button").first.get_attribute("title")
    page.locator("#similar button").first.click()
    wait(page, f"document.getElementById('name').textContent === '{name}'")
    page.click("#show")
    assert not page.evaluate("document.getElementById('large').open")
    page.keyboard.press("Enter")
    assert page.inner_text("#name") == name


def test_a_click_from_afar_goes_near_and_a_click_from_near_enlarges(browser, wall):
    opened = open_page(browser, wall, viewport={"width": 420, "height": 420})
    first = scale(opened)
    opened.mouse.click(210, 250)
    near = scale(opened)
    assert near > 2 * first
    opened.mouse.click(210, 200)
    wait(opened, "document.getElementById('large').open")
    opened.keyboard.press("Escape")
    wait(opened, "!document.getElementById('large').open")
    opened.close()


def test_wheel_zooms_and_drag_pans_without_opening(page):
    first = scale(page)
    page.mouse.move(600, 400)
    for _ in range(12):
        page.mouse.wheel(0, -200)
    assert scale(page) > 4 * first
    before = colour_in_the_middle(page)
    page.mouse.down()
    page.mouse.move(300, 200, steps=5)
    page.mouse.up()
    assert not page.evaluate("document.getElementById('large').open")
    assert np.abs(colour_in_the_middle(page) - before).max() > 5
    page.click("#whole")
    assert scale(page) == pytest.approx(first, rel=1e-3)


def test_two_fingers_zoom(browser, wall):
    opened = open_page(browser, wall, viewport={"width": 390, "height": 780}, has_touch=True)
    before = scale(opened)
    session = opened.context.new_cdp_session(opened)
    for kind, spread in (("touchStart", 30), ("touchMove", 60), ("touchMove", 120), ("touchEnd", None)):
        points = (
            [] if spread is None else [{"x": 195 - spread, "y": 400, "id": 0}, {"x": 195 + spread, "y": 400, "id": 1}]
        )
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert scale(opened) > 2.5 * before
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


def test_the_keyboard_does_it_all(page):
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("img00")
    page.wait_for_selector("#results button")
    assert page.locator("#results button").count() == 10
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.inner_text("#name") == second
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#name") != second
    page.keyboard.press("Escape")
    wait(page, "!document.getElementById('large').open")
    assert page.evaluate("document.activeElement.id") == "view"
    told = page.inner_text("#news")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#news") != told
    first = scale(page)
    page.keyboard.press("+")
    assert scale(page) > 1.2 * first
    page.keyboard.press("0")
    assert scale(page) < first


def test_nothing_is_loaded_from_elsewhere_and_no_name_is_markup(page, wall):
    page.fill("#query", "onerror")
    page.wait_for_selector("#results button")
    page.press("#query", "Enter")
    page.keyboard.press("Enter")
    assert page.inner_text("#name") == NAMES[0]
    assert page.title() == "Us & <them>"
    assert page.evaluate("window.hacked") is None
    assert all(url.startswith((wall.as_uri(), "data:")) for url in page.requests)


def test_an_address_with_a_name_opens_that_photo(browser, wall):
    opened = open_page(browser, wall)
    for name in NAMES[1:]:
        opened.goto("about:blank")
        opened.goto((wall / "index.html").as_uri() + "#" + opened.evaluate("name => encodeURIComponent(name)", name))
        wait(opened, "document.getElementById('large').open")
        assert opened.inner_text("#name") == name
    assert opened.errors == []
    opened.close()


def test_blank_cells_and_the_page_are_light_or_dark(browser, wall):
    for colours, paper in (("light", 255), ("dark", 20)):
        opened = open_page(browser, wall, color_scheme=colours)
        from io import BytesIO

        with Image.open(BytesIO(opened.screenshot())) as shot:
            pixels = np.asarray(shot.convert("RGB")).astype(int)
        assert np.abs(pixels[-5, 5] - paper).max() <= 3
        opened.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_everyone_can_use_it(browser, wall, colours):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python").Axe()
    opened = browser.new_context(color_scheme=colours, reduced_motion="reduce", bypass_csp=True).new_page()
    opened.goto((wall / "index.html").as_uri())
    settle(opened)
    opened.fill("#query", "img00")
    opened.wait_for_selector("#results button")
    assert axe.run(opened).response["violations"] == []
    opened.press("#query", "Enter")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#similar button")
    assert axe.run(opened).response["violations"] == []
    opened.context.close()


def test_flying_draws_frame_after_frame(browser, wall):
    opened = open_page(browser, wall, reduced_motion="no-preference")
    opened.evaluate(FRAMES)
    opened.fill("#query", "img321")
    opened.press("#query", "Enter")
    opened.wait_for_timeout(800)
    times = opened.evaluate("() => { cancelAnimationFrame(window.ticking); return window.times; }")
    assert len(times) >= 5  # on a busy machine without a graphics card
    assert np.median(times) < 200
    opened.close()
