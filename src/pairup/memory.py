"""A check that a problem fits into memory, before the memory is taken."""

import math
from collections.abc import Iterator
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")  # where Linux mounts the limits of groups of processes
OWN_GROUPS = Path("/proc/self/cgroup")  # which of them are those of this process


def check_memory(n: int, m: int, matrices: int) -> None:
    """Raise a MemoryError if dense n × m arrays of float64 do not fit into free memory.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int
        Number of columns.
    matrices : int
        Number of such arrays that are needed at once.

    Examples
    --------
    >>> check_memory(320, 320, matrices=8)
    >>> check_memory(10**7, 10**7, matrices=2)
    Traceback (most recent call last):
    ...
    MemoryError: 10000000 × 10000000 objects need about 1490116 GiB (2 dense matrices), and ... GiB are free (...); ...
    """
    needed = 8 * n * m * matrices
    if needed < 2**26:  # not worth asking the system
        return
    free, limit = free_memory()
    if needed > free:
        share = math.sqrt(free / needed)
        raise MemoryError(
            f"{n} × {m} objects need about {_gibibytes(needed)} GiB ({matrices} dense matrices), "
            f"and {_gibibytes(free)} GiB are free ({limit}); about {int(n * share)} × {int(m * share)} objects would "
            "fit: split both sets by something they share, or use a machine with more memory"
        )


def check_linear_memory(n: int, size: int, fixed: int = 0) -> None:
    """Raise a MemoryError if something kept for each of many objects does not fit into free memory.

    Parameters
    ----------
    n : int
        Number of objects.
    size : int
        Bytes for each of them.
    fixed : int, default 0
        Bytes that are taken however many they are.

    Examples
    --------
    >>> check_linear_memory(1000, 5000)
    >>> check_linear_memory(10**12, 5000)
    Traceback (most recent call last):
    ...
    MemoryError: 1000000000000 objects need about 4656613 GiB, and ... GiB are free (...); about ... would fit: ...
    """
    needed = n * size + fixed
    if needed < 2**26:  # not worth asking the system
        return
    free, limit = free_memory()
    if needed > free:
        fitting = int(max(free - fixed, 0) / size)
        advice = (
            f"about {fitting} would fit: split both sets by something they share, or use a machine with more memory"
            if fitting
            else f"{_gibibytes(fixed)} GiB are needed for any number of them: use a machine with more memory"
        )
        raise MemoryError(
            f"{n} objects need about {_gibibytes(needed)} GiB, and {_gibibytes(free)} GiB are free ({limit}); {advice}"
        )


def _gibibytes(size: float) -> str:
    return f"{size / 2**30:.0f}" if size >= 2**30 else f"{size / 2**30:.2g}"


def free_memory() -> tuple[int, str]:
    """Return how much memory this process can still take, and what limits it.

    Returns
    -------
    free : int
        Bytes: the least of what the machine has, what the groups of the process leave (cgroups, as in containers), and
        what its own limits leave (``ulimit -v`` and ``ulimit -d``).
    limit : str
        What limits it, in words.

    Examples
    --------
    >>> free_memory()[0] > 0
    True
    """
    import psutil

    found = [(int(psutil.virtual_memory().available), "of this machine"), *_process_limits(), *_cgroup_limits()]
    free, limit = min(found)
    return max(free, 0), limit


def _process_limits() -> Iterator[tuple[int, str]]:
    """Yield what the limits of the process leave of its address space and of its data."""
    import psutil

    try:
        import resource
    except ImportError:  # Windows
        return
    used = psutil.Process().memory_info()
    for name, taken, words in (
        ("RLIMIT_AS", used.vms, "of the address space that ulimit -v allows"),
        ("RLIMIT_DATA", getattr(used, "data", 0), "of the data that ulimit -d allows"),
    ):
        allowed = resource.getrlimit(getattr(resource, name))[0]
        if allowed != resource.RLIM_INFINITY:
            yield allowed - taken, words


def _cgroup_limits() -> Iterator[tuple[int, str]]:
    """Yield what the groups of the process, and those around them, leave of their memory."""
    try:
        groups = [line.split(":", 2) for line in OWN_GROUPS.read_text().splitlines()]
    except OSError:  # not Linux
        return
    for group in groups:
        if len(group) == 3 and group[1] == "":
            yield from _group_and_parents(CGROUPS, group[2], "memory.max", "memory.current", "inactive_file")
        elif len(group) == 3 and "memory" in group[1].split(","):
            files = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            yield from _group_and_parents(CGROUPS / "memory", group[2], *files)


def _group_and_parents(mount: Path, name: str, limit: str, usage: str, cache: str) -> Iterator[tuple[int, str]]:
    """Yield what a group and each group around it leave; inside a container, only the mount itself may be there."""
    place = mount / name.strip("/")
    for folder in (place, *place.parents):
        if folder.is_relative_to(mount):
            try:
                allowed, used = ((folder / file).read_text().strip() for file in (limit, usage))
                words = (folder / "memory.stat").read_text().split()
            except OSError:
                continue
            if allowed.isdecimal() and used.isdecimal():  # "max" is no limit
                reclaimable = int(words[words.index(cache) + 1]) if cache in words else 0
                yield int(allowed) - int(used) + reclaimable, "of what the cgroup of this process allows"
