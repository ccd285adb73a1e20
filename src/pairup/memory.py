"""A check that a problem fits into memory, before the memory is taken."""


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
    MemoryError: 10000000 × 10000000 objects need about 1490116 GiB (2 dense matrices), and ... GiB are free; ...
    """
    needed = 8 * n * m * matrices
    if needed < 2**26:  # not worth asking the system
        return
    import psutil

    free = psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(
            f"{n} × {m} objects need about {needed / 2**30:.0f} GiB ({matrices} dense matrices), "
            f"and {free / 2**30:.0f} GiB are free; match a random subset of the objects, "
            f"or use a machine with more memory"
        )
