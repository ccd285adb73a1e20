"""How Sphinx builds these pages: `python3 dev.py docs`."""

import inspect
import re
from pathlib import Path

import numpy as np
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
exclude_patterns = ["_build", "_templates", "examples", "tutorials"]
templates_path = ["_templates"]
default_role = "py:obj"

html_math_renderer = "mathml"  # browsers draw it themselves: no script from elsewhere, formulas also offline
html_theme = "furo"
html_title = "pairup"
html_static_path = ["_static"]
html_css_files = ["pairup.css"]
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#b8005f",
        "color-brand-content": "#b8005f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#ff6db3",
        "color-brand-content": "#ff6db3",
    },
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give the types in words: shapes, choices, defaults
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "inherited-members": "tuple",
}
napoleon_google_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples", "tutorials"],
    "gallery_dirs": ["gallery", "tutorial"],
    "filename_pattern": r"plot_",
    "copyfile_regex": r"",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": float("inf"),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "thumbnail_size": (480, 320),
    "within_subsection_order": "FileNameSortKey",
}


def make_sounds(app):
    """Make the sounds that the voice guide plays, unless they are there: two voices, and one converted."""
    folder = Path(app.srcdir, "_static", "sounds")
    if (folder / "converted.flac").exists():
        return
    import soundfile

    from pairup.datasets import make_voices
    from pairup.voice import VoiceConverter

    folder.mkdir(exist_ok=True)
    voices = make_voices(n_words=24, pitches=(105.0, 200.0), tract=0.8)
    converter = VoiceConverter(n_frames=300).fit(voices.source[:10], voices.target[10:20])
    source = voices.source[20:23]
    for name, words in (
        ("source", source),
        ("target", voices.target[20:23]),
        ("converted", [converter.convert(word) for word in source]),
    ):
        sound = np.concatenate([np.pad(word.signal, (0, word.rate // 4)) for word in words])
        soundfile.write(folder / f"{name}.flac", sound, words[0].rate)


def escape_markup(app, what, name, obj, options, lines):
    """Keep |A| an absolute value and f(*args) a call: in reStructuredText they begin a substitution and emphasis."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[i] = re.sub(
                r"(``.*?``)|(\||(?<=\()\*)",
                lambda found: found[1] or "\\" + found[2],
                line,
            )


def skip_member(app, what, name, obj, skip, options):
    """Leave out what scikit-learn's own pages describe, other names of a method, and the fields of named tuples."""
    inherited = str(getattr(obj, "__module__", "")).startswith("sklearn.")
    other_name = inspect.ismethod(obj) and obj.__name__ != name
    return skip or inherited or other_name or type(obj).__name__ == "_tuplegetter"


def draw_inline(translator, node):
    """Write a formula within a line as MathML."""
    translator.body.append(convert(node.astext()))
    raise SkipNode


def draw_block(translator, node):
    """Write a displayed formula as MathML."""
    translator.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise SkipNode


def drop_modules_without_source(app):
    """Keep modules that have no page of their source, such as builtins, out of the list of such pages."""
    modules = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return ()


def setup(app):
    """Connect these functions to Sphinx; that of docstrings runs before napoleon."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(draw_inline, None),
        block_renderers=(draw_block, None),
    )
    app.connect("builder-inited", make_sounds)
    app.connect("html-collect-pages", drop_modules_without_source, priority=1)
    app.connect("autodoc-process-docstring", escape_markup, priority=1)
    app.connect("autodoc-skip-member", skip_member)
