"""The page of a match in a real browser."""

import csv
import json

import pytest
from playwright.sync_api import expect

from pairup.studio.match_demo import CITIES, make_tables

SLOW = 60_000  # milliseconds for a matching on a busy machine


@pytest.fixture
def tables(tmp_path):
    """The two tables of the demo as files."""
    paths = [tmp_path / "places.csv", tmp_path / "facts.csv"]
    for path, text in zip(paths, make_tables(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def upload(page, side, path):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("region", name=side, exact=True).get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(path)


def row(page, name):
    return page.locator(".pairs > li").filter(has=page.locator(".thing.x .name", has_text=name))


def read_document(page):
    return page.evaluate("async () => (await fetch('/api' + location.pathname + '/document')).json()")


def test_from_upload_to_download(run_studio, page, tables, check_access, tmp_path):
    page.goto(run_studio().url)
    page.get_by_role("button", name="New match").click()
    expect(page.get_by_role("button", name="Choose a file")).to_have_count(2)

    upload(page, "First table", tables[0])
    upload(page, "Second table", tables[1])
    expect(page.get_by_label("Name of the project")).to_have_value("places and facts")  # nobody had named it
    first = page.get_by_role("region", name="First table", exact=True)
    expect(first.get_by_text("77 rows, 4 columns")).to_be_visible(timeout=SLOW)
    expect(first.locator("th").first).to_contain_text("city")
    expect(page.get_by_role("region", name="First rows of facts.csv")).to_contain_text("longest_day_h")
    first.get_by_label("Rows are named by").select_option("nothing: count them")
    expect(first.get_by_label("Rows are named by")).to_have_value("none")
    page.get_by_role("button", name="Undo").click()
    expect(first.get_by_label("Rows are named by")).to_have_value("auto")
    check_access(page)

    page.get_by_role("button", name="Match", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("Reliable: about", timeout=SLOW)
    expect(page.get_by_role("img", name="How sure the pairs are")).to_be_visible()
    truth = dict(line.split("|")[:2] for line in CITIES.strip().splitlines())

    # The pair under the pointer is joined and named.
    search = page.get_by_label("Search by name")
    search.fill("Munich")
    expect(page.locator(".pairs > li")).to_have_count(1)
    row(page, "Munich").hover()
    expect(page.locator(".caption")).to_contain_text("Munich belongs to München")
    search.fill("")
    expect(page.locator(".pairs > li")).to_have_count(25)
    canvas = page.locator("canvas.picture")
    canvas.focus()
    canvas.press("ArrowRight")
    expect(page.locator(".caption")).to_contain_text("belongs to")

    # Confirm the first pair by key; reject the next and choose another partner.
    doubtful = page.locator(".pairs > li").nth(0)
    confirmed = [int(doubtful.get_attribute("data-row"))]
    doubtful.focus()
    page.keyboard.press("c")
    expect(doubtful.locator(".confirm")).to_have_attribute("aria-pressed", "true")
    other = page.locator(".pairs > li").nth(2)
    name, partner = (other.locator(f".line .thing.{side} .name").inner_text() for side in "xy")
    other.locator(".line .reject").click()
    expect(row(page, name).get_by_text("rejected", exact=True)).to_be_visible()
    row(page, name).get_by_role("button", name="Other partners").click()
    choices = row(page, name).locator(".candidates li")
    expect(choices.first).to_be_visible()
    check_access(page)

    page.get_by_role("button", name="Match again with 1 confirmed and 1 rejected").click()
    expect(page.get_by_role("button", name="changed since the last answer")).to_be_visible(timeout=SLOW)
    document = read_document(page)
    answer = document["answer"]
    assert [pair[0] for pair in answer["anchors"]] == confirmed
    assert answer["changed"] >= 2  # the rejected one, and whose partner it took
    page.get_by_role("button", name="changed since the last answer").click()
    expect(page.locator(".pairs > li")).to_have_count(answer["changed"])
    expect(page.locator(".pairs .tag", has_text=f"was {partner}")).to_have_count(1)

    with page.expect_download() as download:
        page.get_by_role("link", name="Pairs as csv").click()
    assert download.value.suggested_filename == "pairs.csv"
    download.value.save_as(tmp_path / "pairs.csv")
    with (tmp_path / "pairs.csv").open(encoding="utf-8", newline="") as file:
        pairs = {line["x"]: line["y"] for line in csv.DictReader(file)}
    assert len(pairs) == 77
    assert pairs[name] != partner
    assert sum(pairs[city] == own for city, own in truth.items()) >= 65
    with page.expect_download() as download:
        page.get_by_role("link", name="Pairs as json").click()
    assert len(json.loads(download.value.path().read_text(encoding="utf-8"))["pairs"]) == 77

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: The same as Python").click()
    expect(page.get_by_text("Copied.").first).to_be_attached()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "pairup.match(" in copied
    assert "anchors=[(" in copied
    assert "forbidden=[(" in copied

    # Undo brings the older answer back, and nothing is wider than a phone.
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="changed since the last answer")).to_have_count(0)
    assert read_document(page)["answer"]["id"] == answer["previous"]
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_match_by_keyboard_alone(run_studio, page, tables, tab_to, check_access):
    page.goto(run_studio().url)
    tab_to(page, "New match")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Choose a file")).to_have_count(2)
    check_access(page)
    for side, path in zip(("First table", "Second table"), tables, strict=True):
        tab_to(page, "Choose a file")
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Enter")
        chooser.value.set_files(path)
        expect(page.get_by_role("region", name=side, exact=True).get_by_text("77 rows")).to_be_visible(timeout=SLOW)
    page.evaluate("""() => { window.heard = []; const live = document.getElementById("live");
        new MutationObserver(() => window.heard.push(live.textContent)).observe(live, { childList: true }); }""")
    tab_to(page, "Match")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("Reliable: about", timeout=SLOW)
    page.wait_for_timeout(300)
    heard = " ".join(page.evaluate("window.heard"))
    assert "Work has begun." in heard
    assert "Reliable: about" in heard
    tab_to(page, "Order")  # the next stop is the list
    page.keyboard.press("Tab")
    page.keyboard.press("c")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    tab_to(page, "Match again with 1 confirmed and 1 rejected", most=200)


def test_two_files_of_the_command_line_one_of_them_empty(run_studio, page, tmp_path):
    for name, text in (("<b>x.csv", "name,a\nann,1\nbob,2\ncid,4\n"), ("y.csv", "\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    studio = run_studio(str(tmp_path / "<b>x.csv"), str(tmp_path / "y.csv"))
    page.goto(studio.address)
    first = page.get_by_role("region", name="First table", exact=True)
    expect(first.get_by_text("3 rows, 2 columns")).to_be_visible(timeout=SLOW)
    expect(first.locator(".filename")).to_have_text("<b>x.csv")
    second = page.get_by_role("region", name="Second table", exact=True)
    expect(second.locator(".notice")).to_contain_text("y.csv: ")  # why it cannot be read
    page.get_by_role("button", name="Match", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("y.csv: ", timeout=SLOW)


# Clicks as soon as the match is under way: it may be done before a test that looks from outside comes to it.
CANCEL_AT_ONCE = """
new MutationObserver(() => {
  const text = document.querySelector(".job .text")?.textContent ?? "";
  const cancel = [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "Cancel");
  if (!window.cancelled && cancel && /matching|searching/.test(text)) {
    window.cancelled = true;
    cancel.click();
  }
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


def test_the_demo_matches_by_itself_and_can_be_cancelled(run_studio, page):
    page.add_init_script(CANCEL_AT_ONCE)
    page.goto(run_studio().url)
    page.get_by_role("button", name="Try the demo tables").click()
    page.wait_for_url("**/match/*")
    for _ in range(SLOW // 20):
        if page.evaluate("() => window.cancelled === true"):
            break
        page.wait_for_timeout(20)
    assert page.evaluate("() => window.cancelled === true")
    expect(page.get_by_role("button", name="Match", exact=True)).to_be_enabled(timeout=500)
    page.wait_for_timeout(300)
    assert read_document(page)["answer"] is None
