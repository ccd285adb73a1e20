"""The command line as a module, and its exit codes."""

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import pairup
from pairup.cli import COMMANDS, pairup_command, shell
from pairup.cli.shell import describe_rate


def run(*arguments, cwd=None):
    return subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=cwd)


def test_the_package_runs_as_a_module():
    done = run(sys.executable, "-m", "pairup", "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"pairup, version {pairup.__version__}\n"


def test_the_module_knows_the_commands_and_the_exit_codes():
    done = run(sys.executable, "-m", "pairup", "no-such-command")
    assert done.returncode == 2
    assert "No such command 'no-such-command'" in done.stderr
    assert done.stdout == ""


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (click.UsageError("no"), 2, "no\n"),
        (ValueError("X has 3 rows"), 1, "Error: X has 3 rows\n"),
        (MemoryError("too much"), 1, "Error: too much\n"),
        (
            OSError(errno.ENOSPC, "No space left"),
            1,
            "Error: cannot write the result to stdout: No space left; make room, or choose a file with -o\n",
        ),
        (OSError(errno.ENOSPC, "No space left", "a.csv"), 1, "Error: [Errno 28] No space left: 'a.csv'\n"),
        (BrokenPipeError(), 1, ""),
        (None, 0, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException | None) else "",
)
def test_errors_have_exit_codes(error, code, told, monkeypatch, capsys):
    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(shell, "leave", leave)
    monkeypatch.setattr(sys, "argv", ["pairup"])
    monkeypatch.delenv("PAIRUP_DEBUG", raising=False)
    command = click.Command("test", callback=lambda: fail(error) if error else None)
    with pytest.raises(SystemExit) as caught:
        shell.run_command(command)
    assert caught.value.code == code
    assert capsys.readouterr().err.endswith(told)


def test_a_compiled_module_that_is_interrupted_is_an_interrupt(monkeypatch, capsys):
    """SciPy's modules turn Ctrl-C during their import into an ImportError."""
    left = []

    def leave(code):
        left.append(code)
        raise SystemExit(code)

    @click.command()
    def command():
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr(shell, "leave", leave)
    monkeypatch.setattr(sys, "argv", ["pairup"])
    with pytest.raises(SystemExit):
        shell.run_command(command)
    assert left == [130]
    assert capsys.readouterr().err == "interrupted\n"
    assert not shell.was_interrupted(ImportError("no such module"))


def test_debugging_shows_the_traceback(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pairup"])
    monkeypatch.setenv("PAIRUP_DEBUG", "1")
    with pytest.raises(ValueError, match="X has 3 rows"):
        shell.run_command(click.Command("test", callback=lambda: fail(ValueError("X has 3 rows"))))


posix = pytest.mark.skipif(os.name == "nt", reason="POSIX shells and signals")


def shell_run(text):
    """Run a line of shell, in which `pairup` is this one."""
    python = f"{shlex.quote(sys.executable)} -m pairup"
    return run("/bin/bash", "-c", f'pairup() {{ {python} "$@"; }}; {text}')


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for name in "xy":
        (folder / f"{name}.csv").write_text("".join(f"{i}.5,{i * i}\n" for i in range(12)))
    return folder


@posix
@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-", "2> >(true)", "2>/dev/full"])
def test_streams_that_nobody_reads_do_not_lose_the_result(tables, streams):
    output = tables / "pairs.csv"
    done = shell_run(f"cd {tables}; pairup match x.csv y.csv --method ks-hsic -o pairs.csv {streams}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert output.read_text().startswith("x,y\n0,"), "and nothing that was printed is in it"
    assert len(output.read_text().splitlines()) == 13
    output.unlink()
    assert sorted(os.listdir(tables)) == ["x.csv", "y.csv"]


@posix
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("pairup --help >&-", 0, ""),
        ("pairup no-such-command 2>&-", 2, ""),
        ("pairup match nosuch.csv y.csv 2>&-", 2, ""),
        ("pairup match nosuch.csv y.csv 2> >(true)", 2, ""),
        ("pairup --help > /dev/full", 1, "Error: cannot write the result to stdout: No space left on device"),
        ("set -o pipefail; pairup --help | head -1 | wc -l", 0, ""),
        ("pairup --help | true; exit 0", 0, ""),
    ],
)
def test_closed_streams_end_quietly(line, code, told):
    if "/dev/full" in line and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = shell_run(line)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(told)
    assert len(done.stderr.splitlines()) == bool(told)


@posix
def test_an_interrupt_while_modules_are_imported_is_quiet(tmp_path):
    (tmp_path / "click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "pairup", "--version"]
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests are a job of the background
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, preexec_fn=listen, **pipes) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", "interrupted\n")
    assert process.returncode == 130


CHATTER = """
import os, sys
from pairup.cli.shell import guard_streams, no_chatter

guard_streams()
try:
    with no_chatter():
        os.write(2, b"noise\\n")
        print("words", file=sys.stderr)
        {inside}
except BaseException as error:
    print(type(error).__name__, file=sys.stderr)
os.write(2, b"native again\\n")
print("the end", file=sys.stderr)
print(len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0)
"""


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize("inside", ["pass", "1 / 0", "raise KeyboardInterrupt", "raise SystemExit(3)"])
def test_what_c_libraries_write_is_dropped_and_stderr_comes_back(inside, debug):
    done = subprocess.run(
        [sys.executable, "-c", CHATTER.format(inside=inside)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PAIRUP_DEBUG": debug},
    )
    raised = {"1 / 0": ["ZeroDivisionError"], "pass": []}.get(inside, [inside.removeprefix("raise ").partition("(")[0]])
    noise = ["noise"] if debug else []
    assert done.stderr.splitlines() == [*noise, "words", *raised, "native again", "the end"]
    plain = subprocess.run(
        [sys.executable, "-c", CHATTER.replace("with no_chatter():", "if True:").format(inside=inside)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == plain.stdout, "a file was left open"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("guard", ["guard_streams()", ""])
def test_dropping_works_where_stderr_is_closed(guard):
    code = CHATTER.replace("guard_streams()", guard).format(inside="pass").replace('os.write(2, b"n', "len(b'n")
    code = code.replace('\\n")', "')")
    done = subprocess.run(
        ["sh", "-c", f"exec {shlex.quote(sys.executable)} -c {shlex.quote(code)} 2>&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout


def test_what_a_thread_has_half_written_is_removed_on_exit(tmp_path):
    """As when Ctrl-C comes while the threads that read photos write to the cache."""
    script = (
        "import sys, threading\n"
        "from pairup.cli.shell import leave\n"
        "from pairup.files import replace_file\n"
        "begun = threading.Event()\n"
        "def write():\n"
        "    with replace_file(sys.argv[1]) as temporary:\n"
        "        temporary.write_text('half')\n"
        "        begun.set()\n"
        "        threading.Event().wait()\n"
        "threading.Thread(target=write, daemon=True).start()\n"
        "begun.wait()\n"
        "leave(130)\n"
    )
    (tmp_path / "a.csv").write_text("before")
    assert run(sys.executable, "-c", script, tmp_path / "a.csv").returncode == 130
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "before")]


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [("KeyboardInterrupt", 130, "interrupted\n"), ("ValueError('odd')", 0, "Exception ignored in")],
)
def test_an_interrupt_in_a_finalizer_is_not_lost(error, code, told):
    script = (
        "import click, pairup.cli\n"
        "from pairup.__main__ import main\n"
        "class Part:\n"
        "    def __del__(self):\n"
        f"        raise {error}\n"
        "@click.command()\n"
        "def command():\n"
        "    Part()\n"
        "    print('the end')\n"
        "pairup.cli.pairup_command = command\n"
        "main()\n"
    )
    done = run(sys.executable, "-c", script)
    assert done.returncode == code
    assert done.stderr.startswith(told)
    assert done.stdout == ("" if code else "the end\n")
    assert "Traceback" not in done.stderr or not code


def test_an_interrupt_before_the_first_handler_is_quiet():
    """The first modules of the command are imported before a handler can be set."""
    main = Path(pairup.__file__).with_name("__main__.py")
    script = (
        "import sys, types\n"
        "class Interrupted(types.ModuleType):\n"
        "    def __getattr__(self, name):\n"
        "        raise KeyboardInterrupt\n"
        "sys.modules['typing'] = Interrupted('typing')\n"
        f"exec(open({str(main)!r}).read(), {{'__name__': '__main__'}})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_bare_pairup_shows_its_help_and_succeeds():
    for words in ([], ["voice"], ["paper"]):
        bare, asked = (CliRunner().invoke(pairup_command, [*words, *more]) for more in ([], ["--help"]))
        assert bare.exit_code == 0
        assert bare.output == asked.output
        assert "Commands:" in bare.output


def all_commands(group, words):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield [*words, name], command
        if isinstance(command, click.Group):
            yield from all_commands(command, [*words, name])


def test_no_line_of_a_list_of_commands_is_cut_off():
    assert list(COMMANDS) == sorted(COMMANDS)
    for words in ([], ["voice"], ["paper"]):
        listed = (
            CliRunner().invoke(pairup_command, [*words, "--help"], terminal_width=80).output.partition("Commands:")[2]
        )
        lines = [line for line in listed.splitlines() if line.strip()]
        assert len(lines) >= 2
        assert all(line.endswith(".") and not line.endswith("...") for line in lines)


def test_every_help_has_two_examples_that_parse():
    for words, command in all_commands(pairup_command, []):
        if words[0] in ("match", "studio"):
            continue
        text = CliRunner().invoke(pairup_command, [*words, "--help"]).output
        examples = re.findall(r"^    (pairup .*)$", text, re.MULTILINE)
        assert len(examples) >= 2, words
        for example in examples:
            given = example.split()[1:]
            assert given[: len(words)] == words
            if not isinstance(command, click.Group):
                known = {flag for parameter in command.params for flag in [*parameter.opts, *parameter.secondary_opts]}
                assert {part for part in given if part.startswith("-") and not part[1:].isdigit()} <= known


@pytest.mark.parametrize("arguments", ["album none", "album none.json -o a.png", "voice convert none none -o a.wav"])
def test_a_path_that_does_not_exist_is_a_wrong_call(arguments, tmp_path):
    done = run(sys.executable, "-m", "pairup", *arguments.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert "none" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_shows_what_is_done_how_fast_and_how_long_still():
    assert describe_rate(None, None, "photos") == ""
    assert describe_rate(1234.5, 3.0, "photos") == "1234 photos/s, 0:03 left"
    assert describe_rate(2.5, None, "") == ""
    assert describe_rate(2.5, 130.0, "") == "2:10 left"


def test_every_command_has_two_examples_and_lines_that_fit():
    def walk(command, words):
        context = click.Context(command, info_name=" ".join(words), terminal_width=80)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), [*words, name])
        else:
            yield " ".join(words), command.get_help(context)

    told = dict(walk(pairup_command, ["pairup"]))
    assert len(told) >= len(COMMANDS)
    for words, text in told.items():
        assert len(re.findall(rf"^    {words}\b", text, re.MULTILINE)) >= 2, words
        assert max(map(len, text.splitlines())) <= 80, words
