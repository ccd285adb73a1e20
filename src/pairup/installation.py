"""The installation: versions, extras, the machine, and the cache."""

import os
import platform
import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pairup


def examine() -> dict[str, Any]:
    """Examine what pairup runs on.

    Returns
    -------
    dict
        ``pairup``, ``python``, ``system`` and ``place`` as text; ``packages`` (the core's), each with its version or
        None; ``extras``, each with its packages likewise and the line that installs it; ``cores`` and ``memory`` that
        this process may use, in bytes, with what limits it; ``cache``, its folder and size in bytes.

    Examples
    --------
    >>> examine()["pairup"] == pairup.__version__
    True
    """
    from pairup.album.cache import cache_folder
    from pairup.memory import free_memory

    try:
        groups = group_requirements(metadata.requires("pairup") or ())
    except metadata.PackageNotFoundError:  # a checkout on the path, not installed
        groups = {"": ["numpy", "scipy", "scikit-learn", "numba"]}
    core = groups.pop("", [])
    groups.pop("all", None)  # the others together
    free, limit = free_memory()
    folder = cache_folder()
    return {
        "pairup": pairup.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "place": str(Path(pairup.__file__).parent),
        "packages": find_versions(core),
        "extras": {
            name: {"packages": find_versions(packages), "install": f"pip install 'pairup[{name}]'"}
            for name, packages in sorted(groups.items())
        },
        "cores": count_cores(),
        "memory": {"free": free, "limit": limit},
        "cache": {"folder": str(folder), "bytes": measure_folder(folder)},
    }


def group_requirements(requirements: Iterable[str]) -> dict[str, list[str]]:
    """Group the requirements of a package by extra.

    Parameters
    ----------
    requirements : iterable of str
        Requirements as in the metadata of a package.

    Returns
    -------
    dict of str to list of str
        Names of packages by extra, "" for the core; references to other extras are left out.

    Examples
    --------
    >>> group_requirements(["numpy>=1.26", "pillow>=10; extra == 'album'", "pairup[album]; extra == 'all'"])
    {'': ['numpy'], 'album': ['pillow']}
    """
    groups: dict[str, list[str]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", requirement)
        if name is not None and name[0] != "pairup":
            groups.setdefault(extra[1] if extra else "", []).append(name[0])
    return groups


def find_versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Find the installed versions of packages, without importing them.

    Parameters
    ----------
    packages : iterable of str
        Their names on the package index.

    Returns
    -------
    dict of str to str or None
        The versions; None for what is not installed.

    Examples
    --------
    >>> find_versions(["no-such-package"])
    {'no-such-package': None}
    """
    found: dict[str, str | None] = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def count_cores() -> int:
    """Count the cores that this process may use: containers and batch systems may give it fewer than there are.

    Returns
    -------
    int
        The number.
    """
    from joblib import cpu_count

    return int(cpu_count())


def measure_folder(folder: Path) -> int:
    """Add up the sizes of the files in a folder.

    Parameters
    ----------
    folder : path
        The folder; it need not exist.

    Returns
    -------
    int
        Bytes.
    """
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name), follow_symlinks=False).st_size
            except OSError:  # removed in the meantime
                continue
    return total


def describe(found: dict[str, Any]) -> str:
    """Say what `examine` found, a line for each thing.

    Parameters
    ----------
    found : dict
        What `examine` returned.

    Returns
    -------
    str
        The lines.
    """
    lines = [
        ("pairup", f"{found['pairup']}, in {found['place']}"),
        ("Python", f"{found['python']} ({sys.implementation.name}) on {found['system']}"),
        ("packages", _list(found["packages"])),
    ]
    for name, extra in found["extras"].items():
        missing = [package for package, version in extra["packages"].items() if version is None]
        told = f"missing {', '.join(missing)}; run: {extra['install']}" if missing else _list(extra["packages"])
        lines.append((f"[{name}]", told))
    memory, cache = found["memory"], found["cache"]
    lines += [
        ("cores", str(found["cores"])),
        ("memory", f"{memory['free'] / 2**30:.1f} GiB free ({memory['limit']})"),
        ("cache", f"{cache['bytes'] / 2**20:.1f} MiB in {cache['folder']}"),
    ]
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:{width}}{text}" for name, text in lines)


def _list(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'missing'}" for name, version in packages.items())
