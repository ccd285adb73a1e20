"""How much memory a problem needs, said before it is taken."""


def check_memory(n: int, m: int, matrices: int) -> None:
    """Refuse a problem whose `matrices` dense n × m arrays of float64 cannot fit into memory.

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
