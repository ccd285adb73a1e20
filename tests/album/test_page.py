"""The web page in a real browser."""

import json

import numpy as np
import pytest

from pairup.album import Frame, Photos, Style, arrange

NAMES = ['<img src=x onerror="window.hacked=1">', "</script><script>window.hacked=1</script>", "a\nb.jpg", "“é” 🎞️.jpg"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """An album of twenty tiles in a ring, as page and as project."""
    folder = tmp_path_factory.mktemp("page")
    images = np.random.default_rng(0).integers(0, 255, (20, 1, 1, 3), dtype=np.uint8).repeat(30, axis=1)
    photos = Photos.from_arrays(images.repeat(40, axis=2), [*NAMES, *(f"img{i}.jpg" for i in range(16))])
    album = arrange(photos, Frame.shape("ring"))
    album.save(folder / "album.html", Style(gap=0.1, title="Us & <them>"))
    album.save(folder / "album.json")
    return folder


@pytest.fixture
def page(browser, saved):
    opened = browser.new_page(viewport={"width": 900, "height": 700}, reduced_motion="reduce")
    opened.requests, opened.errors = [], []
    opened.on("request", lambda request: opened.requests.append(request.url))
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.on("console", lambda message: opened.errors.append(message.text))
    opened.goto((saved / "album.html").as_uri())
    opened.wait_for_selector(".tile")
    yield opened
    assert opened.errors == []
    opened.close()


def test_tiles_are_where_the_project_says(page, saved):
    project = json.loads((saved / "album.json").read_text())
    cells = np.array(project["frame"]["cells"])
    names = [project["photos"][item]["name"] for item in project["order"]]
    boxes = {
        tile.query_selector("img").get_attribute("alt"): tile.bounding_box()
        for tile in page.query_selector_all(".tile")
    }
    assert set(boxes) == set(names)
    corners = np.array([[boxes[name]["y"], boxes[name]["x"]] for name in names])
    pitch = boxes[names[0]]["width"] * 1.1
    np.testing.assert_allclose((corners - corners.min(axis=0)) / pitch, cells - cells.min(axis=0), atol=0.02)
    assert corners.min() >= 0
    assert corners[:, 1].max() + boxes[names[0]]["width"] <= 900


def test_a_click_enlarges_and_escape_closes(page):
    page.click(".tile >> nth=3")
    dialog = page.locator("dialog")
    assert dialog.evaluate("d => d.open")
    name = page.locator(".tile >> nth=3").locator("img").get_attribute("alt")
    assert dialog.locator("img").get_attribute("alt") == name
    assert dialog.locator("figcaption").inner_text().startswith(name.split("\n")[0])
    assert dialog.locator("img").bounding_box()["width"] > 2 * page.locator(".tile >> nth=3").bounding_box()["width"]
    page.keyboard.press("Escape")
    assert not dialog.evaluate("d => d.open")


def test_the_keyboard_does_it_all(page):
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.title")
    before = page.evaluate("(b => [b.x, b.y])(document.activeElement.getBoundingClientRect())")
    page.keyboard.press("ArrowRight")
    after = page.evaluate("(b => [b.x, b.y])(document.activeElement.getBoundingClientRect())")
    assert page.evaluate("document.activeElement.title") != first
    assert after[0] > before[0]
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('dialog').open")
    shown = page.locator("dialog img").get_attribute("alt")
    page.keyboard.press("ArrowRight")
    assert page.locator("dialog img").get_attribute("alt") != shown
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "tile"  # where one was
    width = page.locator(".tile >> nth=0").bounding_box()["width"]
    page.keyboard.press("+")
    assert page.locator(".tile >> nth=0").bounding_box()["width"] == pytest.approx(1.25 * width, rel=0.01)
    page.keyboard.press("0")
    assert page.locator(".tile >> nth=0").bounding_box()["width"] == pytest.approx(width, rel=0.01)


def test_only_one_tile_is_in_the_tab_order(page):
    assert page.locator('.tile[tabindex="0"]').count() == 1


def test_wheel_zooms_and_drag_pans_without_opening(page):
    box = page.locator(".tile >> nth=0").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.wheel(0, -300)
    zoomed = page.locator(".tile >> nth=0").bounding_box()
    assert zoomed["width"] > 1.3 * box["width"]
    page.mouse.down()
    page.mouse.move(box["x"] + 65, box["y"] + 45, steps=4)
    page.mouse.up()
    panned = page.locator(".tile >> nth=0").bounding_box()
    assert panned["x"] - zoomed["x"] == pytest.approx(60, abs=1)
    assert panned["y"] - zoomed["y"] == pytest.approx(40, abs=1)
    assert not page.evaluate("document.querySelector('dialog').open")


def test_nothing_leaves_the_file_and_no_name_is_markup(page, saved):
    page.click(".tile >> nth=0")
    assert [url for url in page.requests if not url.startswith("data:")] == [(saved / "album.html").as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.title() == "Us & <them>"
    assert page.locator("header h1").inner_text() == "Us & <them>"
    assert page.evaluate("""() => fetch("https://example.org").then(() => "out", () => "held")""") == "held"
    page.errors.clear()  # the refusal is told in the console


def test_everything_has_a_name_for_those_who_cannot_see(page):
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, img, nav, dialog")].filter(e =>
            !(e.getAttribute("aria-label") || e.alt || e.textContent.trim() || e.querySelector("img[alt]") ||
              (e.tagName === "IMG" && e.closest("dialog"))) ).length"""
    )
    assert unnamed == 0
    assert page.evaluate("document.documentElement.lang") == "en"


def test_shuffled_tiles_travel_home(browser, saved):
    opened = browser.new_page(viewport={"width": 900, "height": 700})
    opened.goto((saved / "album.html").as_uri())
    opened.wait_for_selector(".tile")
    assert opened.evaluate("document.getAnimations().length") >= 20
    places = "[...document.querySelectorAll('.tile')].map(t => t.getBoundingClientRect().x)"
    start = opened.evaluate(places)
    opened.evaluate("for (const a of document.getAnimations()) a.finish()")
    assert opened.evaluate(places) != start
    opened.close()
