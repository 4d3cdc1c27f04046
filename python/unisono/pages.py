"""HTML pages are made from a template beside the code that fills it."""

import jinja2


def environment(package: str) -> jinja2.Environment:
    """Whatever goes into a page is escaped; a name that a template does not get is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
