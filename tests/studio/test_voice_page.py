"""The page of a voice in a real browser: from recordings to hearing."""

import re

import numpy as np
import pytest
import soundfile
from playwright.sync_api import expect

from pairup.datasets import make_voices
from pairup.voice import Recording, VoiceConverter

SLOW = 60_000  # ms; the first job imports much


@pytest.fixture
def open_voice(run_studio, page):
    """Open the page of a new voice."""

    def open_page(demo=False):
        studio = run_studio()
        page.goto(studio.url)
        name = "Try the demo voices" if demo else "New voice"
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_url("**/voice/*")
        return page

    return open_page


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Words of two speakers as files, a folder each, and a sentence to convert."""
    folder = tmp_path_factory.mktemp("words")
    voices = make_voices(13)
    sentence = Recording(np.concatenate([word.signal for word in voices.source[8:]]), 16000, "sentence")
    for side, recordings in (("source", voices.source[:4]), ("target", voices.target[4:8]), ("input", [sentence])):
        (folder / side).mkdir()
        for recording in recordings:
            recording.save(folder / side / f"{recording.name.replace(': ', ' ')}.wav")
    return folder


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True)


def upload(page, title, paths):
    panel(page, title).locator("input[type=file]").set_input_files(paths)


def list_files(page):
    """Return what the studio knows of the recordings."""
    return page.request.get(page.url.replace("/voice/", "/api/projects/")).json()["files"]


def file_named(page, name):
    return next(file for file in list_files(page) if file["name"] == name)


def playing(page):
    """Return the sounds that play, by the address of each."""
    return page.locator("audio").evaluate_all("(all) => all.filter((a) => !a.paused && !a.ended).map((a) => a.src)")


def wait_for_sound(page, player):
    """Wait until a player has moved on, and return how long its sound is."""
    handle = player.locator("audio").element_handle()
    page.wait_for_function("(audio) => audio.currentTime > 0.05", arg=handle, timeout=SLOW)
    return page.evaluate("(audio) => audio.duration", handle)


def test_from_recordings_to_hearing_and_a_file(open_voice, words, tmp_path, check_access):
    page = open_voice()
    expect(page.get_by_role("button", name="Learn", exact=True)).to_be_disabled()
    check_access(page)
    bad = tmp_path / '<img src=x onerror="window.hacked=1">.wav'
    bad.write_bytes(b"\x89PNG, a picture")
    upload(page, "Source", [*sorted((words / "source").iterdir()), bad])
    skipped = panel(page, "Source").get_by_role("list", name="Skipped: Source")
    expect(skipped).to_contain_text("cannot be read as sound", timeout=SLOW)
    expect(panel(page, "Source")).to_contain_text("4 recordings")
    assert page.evaluate("window.hacked") is None
    upload(page, "Target", sorted((words / "target").iterdir()))
    expect(panel(page, "Target")).to_contain_text("4 recordings", timeout=SLOW)

    panel(page, "Target").get_by_role("button", name=re.compile("^Remove word 4")).click()
    expect(panel(page, "Target")).to_contain_text("3 recordings")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(panel(page, "Target")).to_contain_text("4 recordings")

    page.get_by_role("button", name="Learn", exact=True).click()
    results = page.locator(".result")
    expect(results).to_have_count(1, timeout=SLOW)  # a first one by itself
    expect(page.locator(".learned")).to_contain_text(re.compile(r"Pitch 1\d\d Hz → 2\d\d Hz"))
    expect(results.first.locator(".pitch")).to_contain_text(re.compile(r"1\d\d Hz → [12]\d\d Hz"))

    upload(page, "To convert", sorted((words / "input").iterdir()))
    expect(panel(page, "To convert").locator("option").first).to_contain_text("sentence.wav", timeout=SLOW)
    page.get_by_label("Own pitch").check()
    page.get_by_role("button", name="Convert", exact=True).click()
    expect(results).to_have_count(2, timeout=SLOW)
    expect(results.first).to_contain_text("own pitch")

    page.reload()
    expect(results).to_have_count(2)
    newest = results.first
    converted, original = newest.locator(".player.converted"), newest.locator(".player.source")
    converted.get_by_role("button").click()
    seconds = wait_for_sound(page, converted)
    spoken = soundfile.info(next((words / "input").iterdir()))
    assert seconds == pytest.approx(spoken.duration, abs=0.02)
    original.get_by_role("button").click()
    wait_for_sound(page, original)
    assert [re.sub(".*/", "", address) for address in playing(page)] == [file_named(page, "sentence.wav")["id"]]

    expect(newest.locator(".envelopes path")).to_have_count(3)
    shapes = newest.locator(".envelopes path").evaluate_all("(paths) => paths.map((path) => path.getAttribute('d'))")
    assert len(set(shapes)) == 3
    with page.expect_download() as download:
        newest.get_by_role("link", name=re.compile("^Download")).click()
    sound, rate = soundfile.read(download.value.path())
    assert download.value.suggested_filename == "sentence (converted).wav"
    assert (len(sound), rate) == (spoken.frames, spoken.samplerate)
    assert np.abs(sound).max() > 0.05
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the voice").click()
    saved = tmp_path / "voice.npz"
    download.value.save_as(saved)
    assert VoiceConverter.load(saved).framing_.rate == 16000

    newest.get_by_role("button", name=re.compile("^Remove the result")).click()
    expect(results).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(results).to_have_count(2)


def test_the_demo_is_heard_after_one_click_and_by_keyboard_alone(open_voice, check_access):
    page = open_voice(demo=True)
    results = page.locator(".result")
    expect(results).to_have_count(2, timeout=SLOW)
    expect(page.get_by_label("Name of the project")).to_have_value("Demo voices")
    check_access(page)

    converted = results.first.locator(".player.converted")
    place = converted.get_by_role("slider")
    place.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(place).to_have_attribute("aria-valuenow", "0.20")
    page.keyboard.press("Space")
    wait_for_sound(page, converted)

    page.get_by_role("button", name=re.compile("^Play original, converted and target")).first.press("Enter")
    target = results.first.locator(".player.target")
    expect(target.locator("audio")).to_have_count(1, timeout=SLOW)  # it is loaded when its turn has come
    wait_for_sound(page, target)

    page.get_by_label("New pitch").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Own pitch")).to_be_checked()
    page.get_by_role("button", name="Convert word 1 oua.wav").press("Enter")
    expect(results).to_have_count(3, timeout=SLOW)
    page.get_by_role("button", name="At the play head").first.press("Enter")
    expect(page.get_by_role("button", name="At the play head").first).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Remove word 2 oiu.wav").press("Enter")
    expect(page.get_by_role("button", name="Remove word 3 uia.wav")).to_be_focused()
    expect(page.get_by_text("The recordings have changed since.")).to_be_visible()

    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_microphone_gives_a_recording(open_voice):
    page = open_voice()
    panel(page, "Source").get_by_role("button", name="Record the source").click()
    keep = panel(page, "Source").get_by_role("button", name="Stop and keep")
    expect(keep).to_be_focused()
    expect(panel(page, "Source").get_by_role("timer")).to_have_text("0:01", timeout=SLOW)
    keep.press("Enter")
    player = panel(page, "Source").locator(".player")
    expect(player).to_have_count(1, timeout=SLOW)
    (file,) = list_files(page)
    assert re.fullmatch(r"recording \d\d\.\d\d\.\d\d\.wav", file["name"])
    assert file["details"]["seconds"] > 0.9
    assert (file["details"]["channels"], file["details"]["plays"]) == (1, True)
    player.get_by_role("button").click()
    assert wait_for_sound(page, player) == pytest.approx(file["details"]["seconds"], abs=0.02)
    panel(page, "Target").get_by_role("button", name="Record the target").click()
    panel(page, "Target").get_by_role("button", name="Discard").click()
    expect(panel(page, "Target").get_by_role("button", name="Record the target")).to_be_focused()
    assert len(list_files(page)) == 1


def test_without_a_microphone_the_page_says_so(open_voice, page):
    page.add_init_script("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    open_voice()
    expect(panel(page, "Source")).to_contain_text("Recording by microphone works only on this computer itself")
    expect(page.get_by_role("button", name=re.compile("^Record"))).to_have_count(0)


def test_what_phones_record_is_decoded_in_the_browser(open_voice, tmp_path):
    page = open_voice()
    content = page.evaluate("""async () => {
        const recorder = new MediaRecorder(await navigator.mediaDevices.getUserMedia({ audio: true }));
        const blob = new Promise((resolve) => { recorder.ondataavailable = (event) => resolve(event.data); });
        recorder.start();
        await new Promise((resolve) => setTimeout(resolve, 1500));
        recorder.stop();
        return [...new Uint8Array(await (await blob).arrayBuffer())];
    }""")
    memo = tmp_path / "memo.webm"
    memo.write_bytes(bytes(content))
    upload(page, "To convert", [memo])
    expect(panel(page, "To convert").locator(".player")).to_have_count(1, timeout=SLOW)
    (file,) = list_files(page)
    assert (file["name"], file["details"]["format"]) == ("memo.webm.wav", "WAV")
    assert file["details"]["seconds"] > 0.5
