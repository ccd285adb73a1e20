"""Optional dependencies, imported where they are needed."""

from importlib import import_module
from typing import Any


def require(module: str, *, extra: str) -> Any:
    """Import a module of an extra, or raise an error that says which install line brings it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of this package that depends on it.

    Returns
    -------
    module
        The imported module.

    Examples
    --------
    >>> require("json", extra="album").dumps([1])
    '[1]'
    >>> require("no_such_module", extra="album")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this needs no_such_module, which is not installed; run: pip install 'pairup[album]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # the extra is installed but broken: its own message says more
        raise ModuleNotFoundError(
            f"this needs {error.name}, which is not installed; run: pip install 'pairup[{extra}]'",
            name=error.name,
        ) from error
