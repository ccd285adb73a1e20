"""Install the wheel into fresh environments, without developers' packages, and use it.

The core alone must match two tables and name the extra that a picture needs; pairup[album] must run the demo.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command, fails=False):
    """Run a command; return what it printed (where it should fail: its complaint) and the CPU seconds it took."""
    began = os.times()
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=variables, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    ended = os.times()
    cpu = ended.children_user + ended.children_system - began.children_user - began.children_system
    return (done.stderr if fails else done.stdout), cpu


def environment(folder, requirement):
    """Make an environment with one requirement in it, and return where its programs are."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    _, seconds = run(programs / "python", "-m", "pip", "install", "--quiet", requirement)
    listed, _ = run(programs / "python", "-m", "pip", "list", "--format", "json", "--disable-pip-version-check")
    print(f"{requirement.rpartition('/')[2]}: installed {len(json.loads(listed))} packages in {seconds:.0f} CPU s")
    return programs


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
        (wheel,) = folder.glob("pairup-*.whl")
        x, y = folder / "x.csv", folder / "y.csv"
        x.write_text("".join(f"{i},{i * i}\n" for i in range(30)))
        y.write_text("".join(f"{3 * i}\n" for i in range(30)))

        core = environment(folder / "core", str(wheel))
        pairs, seconds = run(core / "pairup", "match", x, y)
        assert pairs.startswith("x,y"), pairs
        assert len(pairs.splitlines()) == 31, pairs
        print(f"core: pairup match paired 30 rows in {seconds:.1f} CPU s")
        said, _ = run(core / "pairup", "demo", "--output", folder / "demo", fails=True)
        assert "pip install 'pairup[album]'" in said, said
        print(f"core: pairup demo says: {said.strip()}")

        album = environment(folder / "album", f"{wheel}[album]")
        for number in ("first", "second"):
            said, seconds = run(album / "pairup", "demo", "--no-open", "--force", "--output", folder / "demo")
            print(f"album: pairup demo, {number} run, {seconds:.1f} CPU s: {said.splitlines()[0]}")
        assert (folder / "demo" / "demo.png").stat().st_size > 10_000


if __name__ == "__main__":
    main()
