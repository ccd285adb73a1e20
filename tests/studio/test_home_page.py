"""The home page in a real browser."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def home(run_studio, page):
    studio = run_studio()
    page.goto(studio.url)
    page.studio = studio
    return page


def make(page, kind, name):
    """Make a project by the page's own requests."""
    return page.evaluate(
        """async ([kind, name]) => (await (await fetch("/api/projects", {method: "POST",
        headers: {"content-type": "application/json"}, body: JSON.stringify({kind, name})})).json()).id""",
        [kind, name],
    )


def test_projects_are_made_renamed_copied_deleted_and_brought_back(home, check_access):
    name = '<img src=x onerror="window.hacked=1">'
    make(home, "match", "First")
    make(home, "voice", name)
    home.reload()
    titles = home.locator(".card .title")
    expect(titles).to_have_text([name, "First"])
    assert home.evaluate("window.hacked") is None
    check_access(home)

    home.get_by_role("button", name="Rename First").click()
    check_access(home)
    home.get_by_label("New name").fill("Second")
    home.get_by_label("New name").press("Enter")
    expect(titles).to_have_text(["Second", name])

    home.get_by_role("button", name="Duplicate Second").click()
    expect(titles).to_have_text(["Second (copy)", "Second", name])

    home.get_by_role("button", name="Delete Second (copy)").click()
    expect(titles).to_have_text(["Second", name])
    home.get_by_role("button", name="Undo").click()
    expect(titles).to_have_text(["Second (copy)", "Second", name])


def test_the_theme_follows_the_system_and_the_switch(home, browser):
    dark = browser.new_page(color_scheme="dark")
    dark.goto(home.studio.url)
    assert dark.evaluate("document.documentElement.dataset.theme") == "dark"
    dark.get_by_role("button", name="Light colours").click()
    dark.reload()
    assert dark.evaluate("document.documentElement.dataset.theme") == "light"
    dark.emulate_media(color_scheme="light")
    dark.emulate_media(color_scheme="dark")
    assert dark.evaluate("document.documentElement.dataset.theme") == "light"  # what was chosen stays
    dark.close()


def test_the_theme_changes_with_the_system_while_the_page_is_open(home):
    expect(home.get_by_role("button", name="Dark colours")).to_be_visible()
    home.emulate_media(color_scheme="dark")
    expect(home.locator("html")).to_have_attribute("data-theme", "dark")
    expect(home.get_by_role("button", name="Light colours")).to_be_visible()
    home.emulate_media(color_scheme="light")
    expect(home.get_by_role("button", name="Dark colours")).to_be_visible()


def test_a_new_project_opens_by_keyboard(home):
    home.get_by_role("button", name="New match").focus()
    home.keyboard.press("Enter")
    home.wait_for_url("**/match/*")
    expect(home.get_by_label("Name of the project")).to_have_value("New match")


def test_nothing_is_wider_than_a_phone(home):
    home.set_viewport_size({"width": 360, "height": 700})
    make(home, "album", "A rather long name " * 8)
    home.reload()
    expect(home.locator(".card")).to_have_count(1)
    assert home.evaluate("document.documentElement.scrollWidth") <= 360
    # who has projects sees them without scrolling
    assert home.locator(".card").bounding_box()["y"] < 560


def test_an_unknown_project_is_told_with_a_way_home(home, check_access):
    home.goto(f"{home.studio.url}/album/{'0' * 16}")
    expect(home.get_by_role("heading", name="This project cannot be opened")).to_be_visible()
    check_access(home)
    home.get_by_role("link", name="All projects", exact=True).click()
    expect(home.get_by_role("heading", name="What belongs together?")).to_be_visible()
    home.problems[:] = [problem for problem in home.problems if "404" not in problem]


def test_two_tabs_see_each_others_changes(home, browser):
    project = make(home, "match", "Ours")
    address = f"{home.studio.url}/match/{project}"
    other = browser.new_page()
    home.goto(address)
    other.goto(address)
    field = home.get_by_label("Name of the project")
    field.fill("Yours")
    field.press("Enter")
    expect(other.get_by_label("Name of the project")).to_have_value("Yours")
    other.close()


def test_a_page_goes_on_when_the_studio_is_back(home, run_studio):
    project = make(home, "match", "Kept")
    port = home.studio.url.rpartition(":")[2]
    home.goto(f"{home.studio.url}/match/{project}")
    expect(home.get_by_label("Name of the project")).to_have_value("Kept")
    expect(home.locator("body")).to_have_attribute("data-connected", "yes")
    home.studio.kill()
    expect(home.get_by_text("The studio does not answer")).to_be_visible(timeout=15_000)
    run_studio("--port", port)
    expect(home.get_by_text("The studio is back.")).to_be_visible(timeout=20_000)
    field = home.get_by_label("Name of the project")
    field.fill("Kept for ever")
    field.press("Enter")
    home.reload()
    expect(home.get_by_label("Name of the project")).to_have_value("Kept for ever")
