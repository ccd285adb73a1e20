"""Set up pairup and run it: python3 dev.py demo | test | lint | docs | bench.

Needs nothing but Python 3.11 or newer. Makes the environment .venv beside this file, installs into it what the
command needs, and runs the command there. A second run installs nothing unless pyproject.toml has changed.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  said before anything below needs a newer Python
    newer = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    sys.exit(
        "pairup needs Python 3.11 or newer, and this is {}.{}; {}".format(
            sys.version_info[0],
            sys.version_info[1],
            f"run: {newer[0]} dev.py" if newer else "install one from https://www.python.org/downloads/",
        )
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "dev-stamp.json"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


def say(text):
    """Tell the user what happens, in one line."""
    print(f"dev: {text}", flush=True)


def environment():
    """Return the variables for what runs in .venv: its programs first, one thread per process for linear algebra."""
    variables = dict(os.environ, VIRTUAL_ENV=str(VENV), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    variables["PATH"] = str(BIN) + os.pathsep + variables.get("PATH", "")
    variables.setdefault("MPLBACKEND", "Agg")  # tests and docs draw into files, never on a screen
    variables.pop("PYTHONHOME", None)
    return variables


def run(*command):
    """Run a command in .venv and return its exit code."""
    return subprocess.run([str(part) for part in command], cwd=ROOT, env=environment(), check=False).returncode


def quietly(*command):
    """Run a command and show its output only if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, flush=True)
        sys.exit(f"dev: failed: {' '.join(str(part) for part in command)}")


def make_venv():
    """Make .venv, or keep the one that works."""
    if PYTHON.exists() and subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return
    if any(importlib.util.find_spec(module) is None for module in ("venv", "ensurepip")):
        package = "python{}.{}-venv".format(*sys.version_info[:2])
        sudo = "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "
        sys.exit(
            f"dev: this Python cannot make environments; run: {sudo}apt-get install -y {package}"
            if shutil.which("apt-get")
            else "dev: this Python lacks its modules venv and ensurepip; install them with your system's packages"
        )
    say(f"making {VENV.name} with Python {sys.version_info[0]}.{sys.version_info[1]}")
    quietly(sys.executable, "-m", "venv", "--clear", VENV)


def install(extras=(), groups=()):
    """Install pairup, editable, with extras and dependency groups, unless they are there already."""
    make_venv()
    state = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    state.update(f"{sys.version_info[:2]} {ROOT}".encode())
    wanted = {f"[{extra}]" for extra in extras} | set(groups)
    present = installed_for(state.hexdigest())
    if wanted <= present or ("[all]" in present and set(groups) <= present):
        return
    say(f"installing pairup with {', '.join(sorted(wanted))}; a few minutes the first time")
    began = time.monotonic()
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--root-user-action=ignore")
    quietly(*pip, "pip>=25.1")  # the first that knows dependency groups
    named = f".[{','.join(extras)}]" if extras else "."
    quietly(*pip, "--editable", named, *(part for group in groups for part in ("--group", group)))
    STAMP.write_text(json.dumps({"state": state.hexdigest(), "installed": sorted(present | wanted)}))
    say(f"installed in {time.monotonic() - began:.0f} s")


def installed_for(state):
    """Return which extras and groups .venv holds for this state of pyproject.toml, Python and folder."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return set()
    return set(stamp["installed"]) if stamp["state"] == state else set()


def find_browser():
    """Bring Chromium, which the tests of pages need; without it they are skipped."""
    if any(shutil.which(name) for name in BROWSERS):
        return
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        say("no Chromium found: the tests in a browser will be skipped; install it (package chromium) to run them")
        return
    say("installing Chromium with apt-get, for the tests in a browser")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    variables = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    subprocess.run(["apt-get", "update", "-qq"], env=variables, **quiet)
    done = subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], env=variables, **quiet)
    if done.returncode:
        say("Chromium could not be installed: the tests in a browser will be skipped")


LINT = (
    ("ruff check", (PYTHON, "-m", "ruff", "check", "--quiet")),
    ("ruff format", (PYTHON, "-m", "ruff", "format", "--check", "--quiet")),
    ("mypy", (PYTHON, "-m", "mypy", "--no-error-summary")),
)
TESTS = ("pytest", (PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"))


def run_all(steps):
    """Run every step, tell how each went, and return the exit code of the first that failed."""
    failed = 0
    told = []
    for name, command in steps:
        say(name)
        began = time.monotonic()
        code = run(*command)
        failed = failed or code
        told.append(f"{name} {'failed' if code else 'ok'} ({time.monotonic() - began:.0f} s)")
    say(", ".join(told))
    return failed


def demo(arguments):
    """Shred pictures, put them together again, write pictures of it; options go to `pairup demo`."""
    install(extras=("album", "plot"))
    return run(BIN / "pairup", "demo", *arguments)


def test(arguments):
    """Run ruff, mypy and all tests; with arguments, pytest alone with them."""
    install(extras=("all",), groups=("test",))
    find_browser()
    if arguments:
        return run(PYTHON, "-m", "pytest", *arguments)
    return run_all((*LINT, TESTS))


def lint(arguments):
    """Run ruff and mypy."""
    install(extras=("all",), groups=("test",))
    return run_all(LINT)


def docs(arguments):
    """Build the documentation into docs/_build/html; warnings are errors."""
    install(extras=("all",), groups=("docs",))
    page = Path("docs", "_build", "html")
    shutil.rmtree(ROOT / "docs" / "api" / "generated", ignore_errors=True)  # pages of modules that are gone
    code = run(PYTHON, "-m", "sphinx", "-E", "-W", "--keep-going", "-q", "-b", "html", *arguments, "docs", page)
    if not code:
        say(f"open {page / 'index.html'}")
    return code


def bench(arguments):
    """Run benchmarks/NAME.py with the arguments that follow NAME; alone, list them."""
    known = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8"))
    if not arguments or arguments[0] not in known:
        print("benchmarks: " + ", ".join(known))
        return 2
    install(extras=("all",), groups=("bench",))
    return run(PYTHON, Path("benchmarks", arguments[0] + ".py"), *arguments[1:])


COMMANDS = {"demo": demo, "test": test, "lint": lint, "docs": docs, "bench": bench}


def main(arguments):
    """Run one command, or list them, and return the exit code."""
    if not arguments or arguments[0] not in COMMANDS:
        for name, command in COMMANDS.items():
            print(f"python3 dev.py {name:6} {command.__doc__}")
        return 0 if not arguments or arguments[0] in ("help", "-h", "--help") else 2
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except KeyboardInterrupt:
        say("interrupted")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
