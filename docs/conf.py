"""How Sphinx builds these pages: `python3 dev.py docs`."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

import pairup

project = "pairup"
author = "the pairup developers"
project_copyright = author
release = version = pairup.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "examples/README.txt"]
templates_path = ["_templates"]
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # a class that its package re-exports has two pages, and either will do

html_math_renderer = "mathml"  # browsers draw it themselves: no script from elsewhere, formulas also offline
html_theme = "furo"
html_title = "pairup"
html_static_path = ["_static"]
html_css_files = ["pairup.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b8005f", "color-brand-content": "#b8005f"},
    "dark_css_variables": {"color-brand-primary": "#ff6db3", "color-brand-content": "#ff6db3"},
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signatures of NumPy users are in the text; the types are for the type checker
autodoc_default_options = {"members": True, "show-inheritance": True, "inherited-members": "tuple"}
napoleon_google_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "copyfile_regex": r"",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": float("inf"),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

PARAMETER = re.compile(r"^(\w[\w, ]*) : (.+)$")


def describe_parameters(app, what, name, obj, options, lines):
    """Turn this project's `name : description` entries below Parameters into fields.

    Napoleon would take the description for a type. Entries in numpydoc's form, `name : type` above an indented
    sentence, are left to it.
    """
    for rule in [i for i, line in enumerate(lines) if line.startswith("-----")][::-1]:
        end = next((i for i in range(rule + 1, len(lines)) if not lines[i].strip()), len(lines))
        typed = any(line.startswith(" ") and line.strip()[0].isupper() for line in lines[rule + 1 : rule + 3])
        if lines[rule - 1].strip() != "Parameters" or typed:
            continue
        fields = []
        for line in lines[rule + 1 : end]:
            if entry := PARAMETER.match(line):
                fields += [f":param {each}: {entry[2]}" for each in entry[1].split(", ")]
            else:
                fields.append(line)
        lines[rule - 1 : end] = fields


def escape_markup(app, what, name, obj, options, lines):
    """Keep |A| an absolute value and f(*args) a call: in reStructuredText they begin a substitution and emphasis."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[i] = re.sub(r"(``.*?``)|(\||(?<=\()\*)", lambda found: found[1] or "\\" + found[2], line)


def skip_scikit_learn(app, what, name, obj, skip, options):
    """Leave out what estimators inherit from scikit-learn: its own pages describe it."""
    return skip or str(getattr(obj, "__module__", "")).startswith("sklearn.")


def draw_inline(translator, node):
    """Write a formula within a line as MathML."""
    translator.body.append(convert(node.astext()))
    raise SkipNode


def draw_block(translator, node):
    """Write a displayed formula as MathML."""
    translator.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise SkipNode


def setup(app):
    """Hook these into Sphinx, the docstrings' before napoleon."""
    app.add_html_math_renderer("mathml", inline_renderers=(draw_inline, None), block_renderers=(draw_block, None))
    app.connect("autodoc-process-docstring", describe_parameters, priority=1)
    app.connect("autodoc-process-docstring", escape_markup, priority=2)
    app.connect("autodoc-skip-member", skip_scikit_learn)
