"""Docstrings have numpydoc's form and tell the truth: of the public names, of the mathematics, and of every module.

numpydoc's own checks are applied but for five. SA01 (See Also), ES01 (an extended summary) and EX01 (an example in
every docstring) would ask for filler where the summary says it all or the example of the class shows the method. SS06
(a summary of one line) would cut sentences that end in a formula. RT02 refuses a name for a single return value, which
may say more than its type.
"""

import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest
from imports import modules
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import ERROR_MSGS, Validator, validate

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "api"
PAGES = "".join((API / name).read_text(encoding="utf-8") for name in ("index.md", "mathematics.md"))
NAMES = re.findall(r"^(?:   |\.\. autoclass:: )(pairup\.[\w.]+)$", PAGES, re.MULTILINE)
MODULES = re.findall(r"automodule:: (pairup\.\w+)", PAGES)
PACKAGE = [name for name in modules(ROOT / "src" / "pairup") if not name.startswith("pairup.cli")]
CODES = set(ERROR_MSGS) - {"SA01", "ES01", "EX01", "SS06", "RT02"}
MISSING = ("PR01", "RT01", "YD01")  # Parameters, Returns and Yields that a docstring does not have


def load(name):
    """Return the object of a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def public_members(home, module):
    """Yield the functions, classes and properties that a class or a module defines itself and does not hide."""
    for name, member in vars(home).items():
        member = inspect.unwrap(getattr(member, "__func__", member))  # of a classmethod; what is compiled or cached
        described = inspect.isfunction(member) or inspect.isclass(member)
        own = described and member.__module__ == module and member.__name__ == name  # not another name for it
        if not name.startswith("_") and (own or isinstance(member, property)):
            yield name, inspect.unwrap(getattr(home, name))


def members_of_module(name):
    """Yield what a module defines and does not hide, classes followed by their own members."""
    for part, found in public_members(importlib.import_module(name), name):
        yield f"{name}.{part}", found
        if inspect.isclass(found):
            yield from ((f"{name}.{part}.{inner}", member) for inner, member in public_members(found, name))


def described():
    """Yield every object whose docstring is published, with its name."""
    for name in NAMES:
        try:
            found = load(name)
        except (AttributeError, ImportError):
            yield name, None
            continue
        yield name, found
        if inspect.isclass(found):
            yield from ((f"{name}.{part}", member) for part, member in public_members(found, found.__module__))
    for name in MODULES:
        yield from members_of_module(name)


def parameters(found):
    """Return the parameters of a function or a class by their names; a property or an exception has none."""
    if isinstance(found, property) or (inspect.isclass(found) and issubclass(found, Exception)):
        return {}
    return {name: each for name, each in inspect.signature(found).parameters.items() if name not in ("self", "cls")}


def may_be_brief(found):
    """Tell whether a docstring may leave out the sections: of fewer than two parameters, or exempt."""
    if getattr(found, "_is_protocol", False) or found in endpoints(inspect.getmodule(found)):
        return True
    if inspect.isclass(found) and hasattr(found, "model_fields"):
        return True
    if dataclasses.is_dataclass(found) and found.__module__ in ("pairup.auto.schedule", "pairup.graph.schedule"):
        return all(field.default is not dataclasses.MISSING for field in dataclasses.fields(found))
    document = get_doc_object(found)
    return len(parameters(found)) < 2 and not any(document[name] for name in ("Parameters", "Returns", "Yields"))


def endpoints(module):
    """Return the functions that answer requests, which the description of the studio's addresses tells."""
    return [route.endpoint for route in getattr(getattr(module, "router", None), "routes", ())]


def faults(found):
    """Return what is wrong with the docstring of an object, in words."""
    document = get_doc_object(found)
    told = [f"{code} {text}" for code, text in validate(document)["errors"] if code in CODES]
    validator = Validator(document)
    for name, parameter in parameters(found).items():
        if parameter.default is inspect.Parameter.empty or name not in validator.doc_all_parameters:
            continue
        kind, _, default = validator.doc_all_parameters[name][0].partition("default ")
        if parameter.default is None and kind.endswith(", optional"):
            continue
        try:
            right = ast.literal_eval(default) == parameter.default
        except (SyntaxError, ValueError):
            right = default.isidentifier()  # a constant by its name
        if not right:
            told.append(f"{name} : the default is {parameter.default!r}, the docstring says {default!r}")
    return told


@pytest.mark.parametrize(("name", "found"), [pytest.param(*each, id=each[0]) for each in described()])
def test_docstrings_have_numpydocs_form(name, found):
    assert found is not None, f"docs/api names {name}, which does not exist"
    assert faults(found) == []


@pytest.mark.parametrize("module", PACKAGE)
def test_internal_docstrings_have_numpydocs_form(module):
    """Two or more parameters ask for all sections; with fewer a sentence may do, but sections that are there are right.

    The command line is left out: its functions are told by their help. Protocols, which nobody constructs, the
    constants of the two schedules, told by comments, and what the studio sends and answers, told by the description of
    its addresses, need no Parameters.
    """
    wrong = {}
    for name, found in members_of_module(module):
        exempt = MISSING if may_be_brief(found) else ()
        told = [fault for fault in faults(found) if not fault.startswith(exempt)]
        if told:
            wrong[name] = told
    assert wrong == {}


def test_the_pages_name_objects_and_modules():
    assert {"pairup.match", "pairup.metrics.match_accuracy", "pairup.regression.KernelFeatures"} <= set(NAMES)
    assert {"pairup.measures", "pairup.kernels"} <= set(MODULES)
    assert "pairup.measures.LSMI.coefficients" in dict(described())


def test_the_walk_sees_compiled_and_cached_functions_and_methods():
    assert {"pairup.auto.search", "pairup.voice.frames"} <= set(PACKAGE)
    assert "pairup.album.local_search.auction" in dict(members_of_module("pairup.album.local_search"))
    assert "pairup.paper.voice.load_frames" in dict(members_of_module("pairup.paper.voice"))
    assert "pairup.auto.problem.Problem.check" in dict(members_of_module("pairup.auto.problem"))


def test_the_check_finds_what_is_missing():
    def bare(x, width=1.0):
        """Return x"""
        return x * width

    def stale(x, width=1.0):
        """Return x times its width.

        Parameters
        ----------
        x : float
            A number.
        width : float, default 2.0
            Another one.

        Returns
        -------
        float
            The product.
        """
        return x * width

    def brief(x):
        """Return x."""
        return x

    assert [fault[:4] for fault in faults(bare)] == ["SS03", "PR01", "RT01"]
    assert may_be_brief(brief)
    assert not may_be_brief(bare)
    assert faults(stale) == ["width : the default is 1.0, the docstring says '2.0'"]
