"""HTML pages are made from a template beside the code that fills it, within the frame that all have."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from unisono.core import theme

FRAME = "unisono"  # the prefix of templates that all packages share


def environment(package: str) -> jinja2.Environment:
    """Whatever goes into a page is escaped; a name that a template does not get is an error."""
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.PackageLoader(package, "."),
                jinja2.PrefixLoader({FRAME: jinja2.PackageLoader("unisono.core", ".")}),
            ]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.globals |= {"colours": theme.css(), "source": source}
    return made


def source(name: str) -> Markup:
    """A file beside this one, as it stands."""
    return Markup(Path(__file__).with_name(name).read_text())
