"""The page of an album in a real browser: watch, stop, drag, pin, undo, frame, export, reload."""

import time

import numpy as np
import pytest
from album_photos import write_photos
from PIL import Image
from playwright.sync_api import expect

ALBUM = "document.querySelector('.stage').album"


def until(page, condition, seconds=30):
    """Wait for a condition: the page's policy forbids playwright's own way, which evaluates text."""
    for _ in range(int(seconds * 25)):
        if page.evaluate(f"() => !!document.querySelector('.stage')?.album && !!({condition})"):
            return
        page.wait_for_timeout(40)
    raise AssertionError(f"not in {seconds} s: {condition}; job: {page.evaluate(f'() => {ALBUM}?.client.view.job')}")


def calm(page):
    until(
        page,
        f"!{ALBUM}.client.busy && !{ALBUM}.scene.pending && {ALBUM}.document.arranged && {ALBUM}.document.order.length",
    )


def look(page, expression):
    return page.evaluate(f"() => {ALBUM}.{expression}")


def until_another_job(page, job):
    """Wait until a job other than that of this id has begun; it may be done already."""
    until(page, f"{ALBUM}.client.view.job && {ALBUM}.client.view.job.id !== '{job}'")


def middle(page, cell):
    left, top, side = look(page, f"scene.boxOf({cell})")
    box = page.locator(".stage").bounding_box()
    return box["x"] + left + side / 2, box["y"] + top + side / 2


@pytest.fixture(scope="module")
def arranged(module_studio, browser, tmp_path_factory):
    """A studio with an album of forty photos, named on the command line, that has arranged itself."""
    studio = module_studio(str(write_photos(tmp_path_factory.mktemp("photos"), 40)))
    page = browser.new_page()
    page.goto(studio.address)
    calm(page)
    page.close()
    return studio


@pytest.fixture
def album(arranged, page):
    """A page with a copy of that album."""
    page.studio = arranged
    page.goto(arranged.url)
    copied = """async (path) => (await (await fetch(path, {method: "POST"})).json()).id"""
    page.address = f"{arranged.url}/album/" + page.evaluate(
        copied, f"/api/projects/{arranged.address.rpartition('/')[2]}/duplicate"
    )
    page.goto(page.address)
    calm(page)
    return page


def test_hands_on_an_album(album, check_access, tmp_path):
    order = look(album, "document.order")
    assert len(order) == 40
    expect(album.locator(".counted")).to_have_text("40 photos")
    expect(album.locator(".quality")).to_contain_text("more alike than in a random order")
    check_access(album)

    # drag a tile onto another
    album.mouse.move(*middle(album, 2))
    album.mouse.down()
    album.mouse.move(*middle(album, 8), steps=3)
    album.mouse.move(*middle(album, 15), steps=3)
    assert look(album, "scene.target") == 15
    album.mouse.up()
    until(album, f"{ALBUM}.document.order[15] === {order[2]} && {ALBUM}.document.order[2] === {order[15]}")
    until(album, f"!{ALBUM}.scene.pending")
    assert album.get_by_role("button", name="Undo").get_attribute("title") == "Undo: swap two photos"
    expect(album.locator(".quality")).to_contain_text("; before you moved some, ", timeout=20000)

    # click, pin, rotate, remove
    album.mouse.click(*middle(album, 20))
    album.get_by_role("button", name="Pin", exact=True).click()
    until(album, f"{ALBUM}.document.pins[0] === {order[20]}")
    album.get_by_role("toolbar").get_by_role("button", name="Rotate").click()
    until(album, f"{ALBUM}.document.rotations[{order[20]}] === 1")
    album.mouse.click(*middle(album, 30))
    album.get_by_role("toolbar").get_by_role("button", name="Remove").click()
    until(album, f"{ALBUM}.document.order[30] === -1")
    expect(album.locator(".counted")).to_have_text("39 photos")

    # the pin holds in the next arrangement; undo takes all back
    before = look(album, "client.view.job?.id")
    album.get_by_role("button", name="Re-arrange the rest").click()
    until_another_job(album, before)
    calm(album)
    cells = look(album, "document.cells")
    assert cells[look(album, "document.order").index(order[20])] == cells[20]
    for _ in range(5):
        album.keyboard.press("Control+z")
        album.wait_for_timeout(150)
    until(album, f"{ALBUM}.document.order.join() === '{','.join(map(str, order))}'")

    # another frame, with a preview of it
    album.get_by_role("radio", name="Shape").check()
    expect(album.locator(".frame-words")).to_have_text("40 photos fit exactly.", timeout=20000)
    before = look(album, "client.view.job?.id")
    album.get_by_role("button", name="Use this frame").click()
    until_another_job(album, before)
    calm(album)
    assert look(album, "document.frame.name") == "heart"
    assert len(look(album, "document.cells")) == 40

    # the file
    album.locator("summary", has_text="Download").click()
    for kind, start in (("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")):
        album.get_by_label("Format").select_option(kind)
        with album.expect_download() as download:
            album.get_by_role("button", name="Make the file").click()
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
        calm(album)


def test_everything_by_keyboard(album, tab_to, check_access):
    order = look(album, "document.order")
    live = album.locator("#live")
    tab_to(album, "Skip to the content", most=1)
    tab_to(album, "Album of 40 photos")
    album.keyboard.press("ArrowRight")
    expect(live).to_contain_text("row 1, column 2")
    album.keyboard.press("p")
    until(album, f"{ALBUM}.document.pins.length === 1")
    expect(live).to_contain_text("pinned")
    album.keyboard.press("Space")
    album.keyboard.press("ArrowDown")
    target = look(album, "scene.cursor")
    album.keyboard.press("Space")
    until(album, f"{ALBUM}.document.order[{target}] === {order[1]}")
    expect(live).to_contain_text("swapped")
    album.keyboard.press("r")
    until(album, f"{ALBUM}.document.rotations[{order[1]}] === 1")
    album.keyboard.press("Enter")
    picture = album.get_by_role("dialog").locator("img")
    quick = album.evaluate("""() => {
        const canvas = document.querySelector("dialog .quick");
        return canvas.hidden ? null : [...canvas.getContext("2d").getImageData(128, 128, 1, 1).data];
    }""")
    assert quick is None or quick[3] == 255  # its tile is there until the photo is
    expect(picture).to_be_visible()
    expect(album.locator("dialog .quick")).to_be_hidden()
    expect(album.locator(".caption")).to_contain_text("of 40")
    check_access(album)
    album.keyboard.press("ArrowRight")
    album.keyboard.press("Escape")
    expect(picture).to_have_count(0)
    album.keyboard.press("Delete")
    until(album, f"{ALBUM}.document.removed.length === 1")
    album.keyboard.press("+")
    assert look(album, "scene.fitted") is False
    album.keyboard.press("0")
    assert look(album, "scene.fitted") is True

    # the panel beside it, in the order in which it is read
    tab_to(album, "Keys")
    album.keyboard.press("Enter")
    expect(album.get_by_role("dialog", name="Keys")).to_be_visible()
    check_access(album)
    album.keyboard.press("Escape")
    tab_to(album, "Re-arrange the rest")
    tab_to(album, "Rectangle")
    album.keyboard.press("ArrowRight")
    album.keyboard.press("ArrowRight")
    expect(album.get_by_role("radio", name="Shape")).to_be_checked()
    expect(album.locator(".frame-words")).to_have_text("39 photos fit exactly.", timeout=20000)
    tab_to(album, "Use this frame")
    album.keyboard.press("Enter")
    until(album, f"{ALBUM}.document.frame.name === 'heart' && {ALBUM}.document.arranged")
    calm(album)
    tab_to(album, "Download")
    album.keyboard.press("Enter")
    tab_to(album, "Make the file")
    with album.expect_download() as download:
        album.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".png")
    calm(album)


def test_two_tabs_see_the_same_and_a_reload_in_the_middle_of_a_job_goes_on(album, browser):
    other = browser.new_page()
    other.goto(album.address)
    until(other, f"{ALBUM}.document.order.length")
    album.get_by_label("Round corners").fill("0.5")
    until(other, f"{ALBUM}.scene.style.radius === 0.5")
    album.get_by_role("button", name="Arrange", exact=True).click()
    album.reload()
    until(album, f"{ALBUM}.document.order.length")
    calm(album)
    until(other, f"{ALBUM}.document.order.join() === '{','.join(map(str, look(album, 'document.order')))}'")
    other.close()


def test_what_is_seen_stays_where_a_job_is_stopped(album):
    album.evaluate(f"() => {{ {ALBUM}.arrange(false) }}")
    until(album, f"{ALBUM}.step || !{ALBUM}.client.busy")
    began = time.monotonic()
    album.evaluate(f"() => {ALBUM}.client.cancel()")
    until(album, f"!{ALBUM}.client.busy")
    assert time.monotonic() - began < 5
    calm(album)
    assert sorted(look(album, "document.order")) == list(range(40))


def test_pins_without_a_cell_in_the_new_frame_are_told_and_come_back_by_undo(album):
    album.evaluate(f"() => {ALBUM}.change('pin', 39)")
    until(album, f"{ALBUM}.document.pins.length === 1")
    album.get_by_role("radio", name="Grid").check()
    album.get_by_label("Rows").fill("2")
    album.get_by_label("Columns").fill("20")
    expect(album.locator(".frame-words")).to_have_text("40 photos fit exactly.", timeout=20000)
    album.get_by_role("button", name="Use this frame").click()
    told = album.locator(".toast", has_text="1 pinned photo has no cell in this frame and may move now.")
    expect(told).to_be_visible(timeout=20000)
    told.get_by_role("button", name="Undo").click()
    until(album, f"{ALBUM}.document.pins.length === 1 && {ALBUM}.document.frame.kind === 'auto'")


def test_an_album_is_named_after_its_folder_unless_it_has_a_name(arranged, page, tmp_path):
    for number, (folder, name) in enumerate((("Summer", "Summer"), ("Autumn", "Summer"))):
        if number == 0:
            page.goto(arranged.url)
            page.get_by_role("button", name="New album", exact=True).click()
            expect(page.get_by_role("heading", name="Drop photos here")).to_be_visible()
        write_photos(tmp_path / folder, 3)
        page.locator("input[type=file][webkitdirectory]").set_input_files(tmp_path / folder)
        until(page, f"{ALBUM}.document.order.length === {3 * number + 3}")
        calm(page)
        expect(page.get_by_label("Name of the project")).to_have_value(name)


def test_photos_are_dropped_in(arranged, page, tmp_path, check_access):
    page.goto(arranged.url)
    page.get_by_role("button", name="New album").click()
    expect(page.get_by_role("heading", name="Drop photos here")).to_be_visible()
    check_access(page)
    files = sorted(write_photos(tmp_path / "photos", 6).iterdir())
    page.locator("input[type=file][multiple]:not([webkitdirectory])").set_input_files(files)
    calm(page)
    assert sorted(look(page, "document.order")) == list(range(6))
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(f"() => {ALBUM}.swap(0, 5)")
    tile = page.evaluate(f"() => {ALBUM}.scene.tiles.get({ALBUM}.scene.order[5])")
    assert (tile["x"], tile["y"]) == (tile["tx"], tile["ty"])  # it jumps


def test_frames_and_features_of_ones_own(album, tmp_path, check_access):
    # painted by mouse: two strokes, of which the second begins on a cell and clears
    album.get_by_role("radio", name="Paint").check()
    painter = album.get_by_role("application", name="Field to paint cells")
    expect(album.locator(".frame-words")).to_have_text("40 photos fit exactly.")  # it begins with the present frame
    album.get_by_role("button", name="Clear").click()
    expect(album.locator(".frame-words")).to_have_text("Paint at least one cell.")
    painter.scroll_into_view_if_needed()
    box = painter.bounding_box()
    cell = box["width"] / 16  # a field of 16 for 40 photos
    for row, (first, last) in ((3, (2, 9)), (5, (2, 9)), (5, (6, 9))):
        album.mouse.move(box["x"] + (first + 0.5) * cell, box["y"] + (row + 0.5) * cell)
        album.mouse.down()
        album.mouse.move(box["x"] + (last + 0.5) * cell, box["y"] + (row + 0.5) * cell)
        album.mouse.up()
    painter.focus()
    for _ in range(2):
        album.keyboard.press("ArrowDown")
    album.keyboard.press("Space")
    expect(album.locator(".frame-words")).to_have_text("13 cells for 40 photos: 27 are left out.")
    check_access(album)
    album.get_by_role("button", name="Use this frame").click()
    until(album, f"{ALBUM}.document.cells.length === 13 && {ALBUM}.document.arranged")
    calm(album)
    lines = look(album, "document.frame.lines")
    assert [line.count("#") for line in lines[3:8]] == [8, 0, 4, 0, 1]

    # the dark part of a picture
    picture = np.full((60, 90, 3), 255, dtype=np.uint8)
    picture[10:50, 15:75] = 20
    Image.fromarray(picture).save(tmp_path / "mask.png")
    album.get_by_role("radio", name="Picture").check()
    expect(album.locator(".frame-words")).to_have_text("Choose a picture.")
    album.get_by_label("Picture whose dark part becomes the frame").set_input_files(tmp_path / "mask.png")
    expect(album.locator(".frame-words")).to_have_text("40 photos fit exactly.", timeout=20000)

    # features: a csv that names the photos
    names = {file["name"]: number for number, file in enumerate(album.evaluate(f"() => [...{ALBUM}.files.values()]"))}
    table = "".join(f"{name},{number}\n" for name, number in names.items())
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    album.locator("summary", has_text="What makes photos alike").click()
    album.get_by_label("File of your own features").set_input_files(tmp_path / "mine.csv")
    until(album, f"{ALBUM}.document.weights.vectors === 1 && {ALBUM}.document.arranged")
    calm(album)
    assert look(album, "document.weights.colour") == 0
    expect(album.get_by_label("Your own features", exact=True)).to_be_visible()
    album.get_by_role("button", name="Remove your own features, mine.csv").click()
    until(album, f"{ALBUM}.document.weights.colour === 1 && {ALBUM}.document.weights.file === null")
    calm(album)


def test_a_phone_has_no_sideways_scroll(album):
    album.set_viewport_size({"width": 360, "height": 740})
    album.wait_for_timeout(200)
    assert album.evaluate("document.documentElement.scrollWidth") <= 360
    assert look(album, "scene.width") <= 360
    album.set_viewport_size({"width": 844, "height": 390})  # on its side: the panel stands beside the photos
    until(album, f"{ALBUM}.scene.height > 300")
    assert album.evaluate("document.documentElement.scrollHeight") <= 390
