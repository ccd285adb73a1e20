"""Pair up two unpaired sets.

Public names resolve on first use (PEP 562), so ``import pairup`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairup.estimation import dependence as dependence
    from pairup.matchers import KSHSIC as KSHSIC
    from pairup.matchers import KSMI as KSMI
    from pairup.matchers import KSNOCCO as KSNOCCO
    from pairup.matchers import LSOM as LSOM
    from pairup.matchers import ProductLSOM as ProductLSOM
    from pairup.matching import match as match
    from pairup.matching import match_steps as match_steps
    from pairup.result import Matching as Matching

__version__ = "0.1.0.dev0"

_HOME = {
    "KSHSIC": "matchers",
    "KSMI": "matchers",
    "KSNOCCO": "matchers",
    "LSOM": "matchers",
    "Matching": "result",
    "ProductLSOM": "matchers",
    "dependence": "estimation",
    "match": "matching",
    "match_steps": "matching",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pairup' has no attribute {name!r}")
    return getattr(import_module(f"pairup.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
