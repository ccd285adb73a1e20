"""The import graph is the one that docs/architecture.md draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from imports import find_cycle, import_graph, levels, modules

import pairup

PACKAGE = Path(pairup.__file__).parent
ROOT = Path(__file__).parents[1]
GRAPH = import_graph(PACKAGE)
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def read_layers():
    """Return the layers of the page in their order: a name, and the modules and rooms in it."""
    table = re.search(r"^## Layers$(.*?)^`pairup\.auto`", TEXT, re.MULTILINE | re.DOTALL)[1]
    layers, name = {}, ""
    for first, second in re.findall(r"^\|([^|]*)\|([^|]*`[^|]*)\|", table, re.MULTILINE):
        name = first.strip() or name  # a row without a name belongs to the layer above
        layers.setdefault(name, []).extend(re.findall(r"`(pairup[.\w]*)`", second))
    return layers


LAYERS = read_layers()


def room_of(module):
    """Return the name by which the page knows a module: its own, or that of the room it lies in."""
    named = [name for names in LAYERS.values() for name in names]
    return module if module in named else next((n for n in named if n != "pairup" and module.startswith(n + ".")), None)


def layer_of(module):
    """Return the number of the layer of a module, from the first row of the page."""
    return next(number for number, names in enumerate(LAYERS.values()) if room_of(module) in names)


def test_the_page_names_every_module_once():
    named = [name for names in LAYERS.values() for name in names]
    assert len(named) == len(set(named))
    assert {room_of(module) for module in modules(PACKAGE)} == set(named)


@pytest.mark.parametrize("module", sorted(GRAPH))
def test_modules_import_only_their_own_layer_and_those_before(module):
    later = {other for other in GRAPH[module] if layer_of(other) > layer_of(module)}
    assert later == set()


def test_no_module_imports_itself_in_a_circle():
    assert find_cycle(GRAPH) == []
    rooms = {}
    for module, others in GRAPH.items():
        rooms.setdefault(room_of(module), set()).update(room_of(other) for other in others)
    assert find_cycle({room: others - {room} for room, others in rooms.items()}) == []


def test_the_default_method_has_one_way_in():
    inside = {module for module in GRAPH if module.startswith("pairup.auto.")}
    ways = {module: others & inside for module, others in GRAPH.items() if not module.startswith("pairup.auto")}
    assert {module for module, found in ways.items() if found} == set()
    assert [module for module, others in GRAPH.items() if "pairup.auto" in others] == ["pairup.matching"]


def test_the_page_lists_the_parts_of_the_default_method_in_the_order_of_their_imports():
    listed = re.findall(r"^\| `(pairup\.auto\.\w+)` \|", TEXT, re.MULTILINE)
    assert set(listed) == {module for module in GRAPH if module.startswith("pairup.auto.")}
    for number, module in enumerate(listed):
        assert not GRAPH[module] & set(listed[number:]), f"{module} imports a later one"


def test_tests_mirror_the_package():
    """Every module has a test file of its name, but for types and what only names or starts others."""
    missing = []
    for path in modules(PACKAGE).values():
        place = path.relative_to(PACKAGE)
        if path.stem not in ("__init__", "__main__", "types"):
            mirror = ROOT / "tests" / place.with_name(f"test_{place.name}")
            missing += [] if mirror.exists() else [str(place)]
    assert missing == []


def test_every_walk_has_at_most_eight_rooms():
    walks = re.findall(r"^\| `.*?` \| (`pairup\..*→.*) \|$", TEXT, re.MULTILINE)
    assert len(walks) == 4
    for walk in walks:
        assert 3 <= len(walk.split("→")) <= 8


def test_a_cycle_and_a_lazy_import_are_found(tmp_path):
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("import numpy\nfrom toy import b\n")
    (package / "b.py").write_text("def f():\n    from toy.c import g\n")
    (package / "c.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import toy.a\n")
    graph = import_graph(package)
    assert graph == {"toy": set(), "toy.a": {"toy.b"}, "toy.b": {"toy.c"}, "toy.c": {"toy.a"}}
    assert find_cycle(graph) == ["toy.a", "toy.b", "toy.c", "toy.a"]
    assert levels({"a": {"b"}, "b": {"c"}, "c": set()}) == {"a": 3, "b": 2, "c": 1}


def test_the_type_checker_sees_a_wrong_argument_of_a_task(tmp_path):
    code = (
        "from functools import partial\nfrom pairup.auto.problem import Context\n"
        "from pairup.auto.search import explore\nfrom pairup.parallel import run\n\n\n"
        "def f(context: Context) -> None:\n"
        '    list(run([partial(explore, "not a geometry", context)]))\n'
    )
    path = tmp_path / "wrong.py"
    path.write_text(code)
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'Argument 1 to "explore" has incompatible type "str"; expected "GeometryPair"' in done.stdout
