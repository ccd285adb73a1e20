"""The shape of the package: imports by room, their depth, the longest modules and the longest parameter lists.

    python3 dev.py bench imports [--package src/pairup]

Imports inside functions and for the type checker count. A room is a module of the package, or a folder with all its
modules; the depth is the number of rooms in the longest chain of imports.
"""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

Graph = dict[str, set[str]]


def modules(package: Path) -> dict[str, Path]:
    """Return the modules of a package by their dotted names."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def import_graph(package: Path) -> Graph:
    """Return for each module the modules of the same package that any of its import statements names."""
    known = modules(package)
    return {name: set(_imported(path, known)) - {name} for name, path in known.items()}


def _imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule in known:
                    yield submodule
                elif node.module in known:
                    yield node.module


def by_room(graph: Graph) -> Graph:
    """Return the graph of rooms: the modules of a folder are one."""
    rooms: Graph = {}
    for module, others in graph.items():
        rooms.setdefault(room_of(module), set()).update(room_of(other) for other in others)
    return {room: others - {room} for room, others in rooms.items()}


def room_of(module: str) -> str:
    """Return the first two parts of a dotted name."""
    return ".".join(module.split(".")[:2])


def find_cycle(graph: Graph) -> list[str]:
    """Return names that import each other in a circle, or an empty list."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if cycle := visit(other, [*path, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in graph if (cycle := visit(name, []))), [])


def levels(graph: Graph) -> dict[str, int]:
    """Return how many names the longest chain of imports below each name has, itself included."""
    lengths: dict[str, int] = {}

    def length(name: str) -> int:
        if name not in lengths:
            lengths[name] = 1 + max((length(other) for other in graph[name]), default=0)
        return lengths[name]

    for name in graph:
        length(name)
    return lengths


def code_lines(path: Path) -> int:
    """Return how many lines of a module hold code: no docstring, no comment, no blank line."""
    text = path.read_text(encoding="utf-8")
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for n, line in lines if n not in documented and line.strip() and not line.strip().startswith("#"))


def parameter_counts(package: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of parameters of each function outside the command line, with its name."""
    for name, path in modules(package).items():
        if name.startswith(f"{package.name}.cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                yield sum(argument.arg not in ("self", "cls") for argument in own), f"{name}.{node.name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, default=Path(__file__).parents[1] / "src" / "pairup")
    package = parser.parse_args().package
    graph = import_graph(package)
    rooms = by_room(graph)
    for kind, each in (("modules", graph), ("rooms", rooms)):
        if cycle := find_cycle(each):
            print(f"{len(each)} {kind}, in a circle: {' → '.join(cycle)}")
        else:
            print(f"{len(each)} {kind}, no circle, depth {max(levels(each).values())}")
    if not find_cycle(rooms):
        for room, level in sorted(levels(rooms).items(), key=lambda item: (item[1], item[0])):
            print(f"{level:3} {room} ← {', '.join(sorted(other.rpartition('.')[2] for other in rooms[room])) or '–'}")
    sizes = sorted(((code_lines(path), name) for name, path in modules(package).items()), reverse=True)
    print("longest modules in lines of code:", ", ".join(f"{name} {lines}" for lines, name in sizes[:3]))
    most = sorted(parameter_counts(package), reverse=True)[:4]
    print("most parameters outside the command line:", ", ".join(f"{name} {count}" for count, name in most))


if __name__ == "__main__":
    main()
