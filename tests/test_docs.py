"""The pages keep their promises: their examples run, and what they name exists.

A ```python block runs as a doctest or, without prompts, as it stands; blocks of one page share their names and a
folder of their own. In a ```console block ``$ cat FILE`` shows a file, which is made with what is shown, and
``$ pairup …`` is run and prints what is shown. Other fences (```sh, ```{code-block}) are not run.
"""

import doctest
import importlib
import inspect
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt

import pairup
from pairup.cli import COMMANDS, pairup_command

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "gallery", "generated"} & set(page.parts)
)
FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKER = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_python(text, names, place):
    if ">>>" not in text:
        exec(compile(text, place, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(text, names, place, place, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said = []
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(said)


def run_console(text, place):
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        program, *arguments = shlex.split(command)
        if program == "cat":
            Path(arguments[0]).write_text(shown)
            continue
        assert program == "pairup", f"{place}: only cat and pairup are run, got {command}"
        result = CliRunner().invoke(pairup_command, arguments)
        printed = result.stderr + result.stdout  # click 8.1 does not tell in which order
        assert result.exit_code == 0, f"{place}: {command}\n{printed}"
        assert CHECKER.check_output(shown, printed, FLAGS), f"{place}: {command} printed\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            run_python(text, names, page.name)
        else:
            run_console(text, page.name)
    plt.close("all")


def test_the_readme_says_how_many_pairs_its_methods_find(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = (ROOT / "README.md").read_text(encoding="utf-8"), {"__name__": "__main__"}
    for language, block in FENCE.findall(text):
        if language == "python":
            run_python(block, names, "README.md")
    truth = list(range(60))[::-1]
    by_lsom, by_match = (
        sum(int(i) == j for i, j in zip(indices, truth, strict=True))
        for indices in (names["model"].assignment_, names["matching"].indices)
    )
    said = re.search(r"(\d+) of 60 right, all 60 by pairup.match", text)
    assert (by_lsom, by_match) == (int(said[1]), 60)


def exists(name):
    """Tell whether there is an object behind a dotted name, as many of whose parts as can be are imported."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_objects_exist(page):
    named = re.findall(r"`(pairup\.[A-Za-z_.]+[A-Za-z_])`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not exists(name)] == []


def test_every_numbered_equation_of_the_paper_is_mapped():
    text = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    assert [int(number) for number in re.findall(r"^\| \((\d+)\)", text, re.MULTILINE)] == list(range(1, 11))


def public_modules():
    """Return the names of the modules and folders of the package that do not begin with _."""
    entries = Path(pairup.__file__).parent.iterdir()
    return sorted(entry.stem for entry in entries if entry.suffix in ("", ".py") and entry.stem[0] != "_")


def test_the_architecture_names_every_module():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert [name for name in public_modules() if not re.search(rf"\bpairup\.{name}\b", text)] == []


def test_every_public_name_has_its_page():
    text = (ROOT / "docs/api/index.md").read_text(encoding="utf-8")
    public = [name for name in pairup.__all__ if not name.startswith("_")]
    assert [name for name in public if f"   pairup.{name}\n" not in text] == []
    assert all(inspect.getdoc(getattr(pairup, name)) for name in public)


def commands(command, path):
    """Yield every command below a group, with the words that call it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), [*path, name])
    else:
        yield " ".join(path), command


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name):
    text = (ROOT / "docs/guide/command-line.md").read_text(encoding="utf-8")
    group = pairup_command.get_command(click.Context(pairup_command), name)
    for words, command in commands(group, ["pairup", name]):
        section = re.search(rf"^#+ {words}$(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section, f"no section '{words}'"
        told = set(re.findall(r"`(-{1,2}[\w-]+)`", section[1]))
        options = {
            flag
            for parameter in command.params
            if isinstance(parameter, click.Option)
            for flag in [*parameter.opts, *parameter.secondary_opts]
        }
        assert told == options, f"section '{words}': missing {options - told}, too many {told - options}"


SCRIPTS = sorted([*(ROOT / "docs/examples").glob("plot_*.py"), *(ROOT / "docs/tutorials").glob("plot_*.py")])


def test_the_gallery_has_a_tutorial_for_every_kind_of_user_and_a_dozen_pages():
    assert sum(script.parent.name == "examples" for script in SCRIPTS) >= 12
    assert sum(script.parent.name == "tutorials" for script in SCRIPTS) == 6


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_pages_of_the_gallery_say_what_they_do_and_draw_it(script):
    text = script.read_text(encoding="utf-8")
    compile(text, script.name, "exec")
    assert re.match(r'"""\n[^\n]+\n=+\n\n[A-Z0-9]', text), "a title and a first sentence"
    assert "figure" in text or ".plot()" in text
    code = text.split('\n"""\n', 1)[1].splitlines()
    assert [line for line in code if len(line) > 87 and not line.startswith("#")] == [], "wider than the page"
    if script.parent.name == "tutorials":
        assert "\n# The data\n" in text
        assert "\n# The decision\n" in text
