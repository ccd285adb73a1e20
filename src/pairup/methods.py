"""The names of methods, metrics, cuts and sound files. Nothing heavy is imported here: the command line lists them."""

import warnings
from collections.abc import Collection

METHODS = ("auto", "lsom", "ks-hsic", "ks-nocco", "ks-mi")
METRICS = ("auto", "euclidean", "cosine", "precomputed")
SOLVERS = ("auto", "dense", "multilevel")
ALBUM_METHODS = ("auto", "lsom", "ks-hsic", "ks-nocco")
VOICE_METHODS = (
    "identity", "mean-variance", "random", "z-score", "inca", "inca-z",
    "ks-hsic", "ks-nocco", "lsom-literal", "lsom", "match", "auto", "oracle",
)  # fmt: skip
SOUND_SUFFIXES = (".wav", ".flac", ".ogg", ".mp3", ".aif", ".aiff", ".au", ".caf", ".w64")
CUTS = ("strips", "checkerboard", "four-strips", "halves")  # ways to cut pictures into two piles
FORMER_NAMES = {"default": "auto"}


def check_method(name: str, known: Collection[str]) -> str:
    """Return the name of a method, or say which names there are.

    Parameters
    ----------
    name : str
        A name; a former one warns.
    known : collection of str
        The names there are.

    Returns
    -------
    str
        One of the known names.

    Examples
    --------
    >>> check_method("lsom", ALBUM_METHODS)
    'lsom'
    >>> check_method("magic", ALBUM_METHODS)
    Traceback (most recent call last):
    ...
    ValueError: method must be one of auto, lsom, ks-hsic, ks-nocco, got 'magic'
    """
    if not isinstance(name, str):
        raise ValueError(f"method must be one name of {', '.join(known)}, got {name!r:.80}")
    if name in FORMER_NAMES and name not in known:
        current = FORMER_NAMES[name]
        warnings.warn(f"the method {name!r} is now called {current!r}", FutureWarning, stacklevel=3)
        return current
    if name not in known:
        raise ValueError(f"method must be one of {', '.join(known)}, got {name!r}")
    return name
