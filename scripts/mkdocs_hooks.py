"""What makes a site of pages that are written to be read in the repository as well.

Pages link to each other, and to files outside of docs/, by relative paths: a forge follows them. In the
site a file outside of docs/ that some page links to is a page below repository/: Markdown as it is, any other
file as its text. A folder is a page that lists its files. So links lead somewhere, also without a network.

An entry of the navigation with a star stands for the pages that fit and that no other entry names, in order
of their names, so that a new decision needs no line in mkdocs.yml.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs/"
LINK = re.compile(r"\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".c": "c", ".py": "python", ".json": "json"}


def source_of(uri: str) -> str:
    """The path in the repository that a page of the site is made from."""
    if not uri.startswith("repository/"):
        return DOCS + uri
    path = uri.removeprefix("repository/")
    if (ROOT / path).exists():
        return path
    return path.removesuffix("/index.md") if path.endswith("/index.md") else path.removesuffix(".md")


def page_of(path: str) -> str | None:
    """What of the site shows this path of the repository; none where there is no such path."""
    found = ROOT / path
    if path.startswith(DOCS) and found.is_file():
        return path.removeprefix(DOCS)
    if not found.exists() or path.startswith(".."):
        return None
    if found.is_dir():
        return f"repository/{path}/index.md"
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def base_of(source: str) -> str:
    """What the links of this path are relative to."""
    return source if (ROOT / source).is_dir() else posixpath.dirname(source)


def targets(text: str, source: str) -> set[str]:
    """The paths of the repository that a text links to."""
    base = base_of(source)
    return {posixpath.normpath(posixpath.join(base, link["path"])) for link in LINK.finditer(text)}


def shown(path: str) -> str:
    """A file or folder of the repository as a page."""
    source = ROOT / path
    if source.is_dir():
        names = sorted(p.name for p in source.iterdir() if p.is_file())
        return f"# {path}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)
    text = source.read_text()
    if source.suffix == ".md":
        return text
    return f"# {path}\n\n````{LANGUAGES.get(source.suffix, 'text')}\n{text}````\n"


def named(nav: Any) -> set[str]:
    """The pages that the navigation names one by one."""
    if isinstance(nav, str):
        return {nav}
    entries = nav.values() if isinstance(nav, dict) else nav
    return {name for entry in entries for name in named(entry)}


def expanded(nav: Any, taken: set[str]) -> Any:
    if isinstance(nav, dict):
        return {title: expanded(entry, taken) for title, entry in nav.items()}
    if not isinstance(nav, list):
        return nav
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, str) and "*" in entry:
            fitting = {p.relative_to(ROOT / DOCS).as_posix() for p in (ROOT / DOCS).glob(entry)}
            entries += sorted(fitting - taken)
            taken |= fitting
        else:
            entries.append(expanded(entry, taken))
    return entries


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    if config.nav:
        config.nav = expanded(config.nav, named(config.nav))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for what is linked to outside of docs/, and for what these pages link to."""
    waiting = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    while waiting:
        uri, text = waiting.pop()
        for path in targets(text, source_of(uri)):
            page = page_of(path)
            if page is None or not page.startswith("repository/") or files.get_file_from_path(page):
                continue
            content = shown(path)
            files.append(File.generated(config, page, content=content))
            waiting.append((page, content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Points links at the pages above. A link to nothing stays as it is, for mkdocs to complain about."""
    uri = page.file.src_uri
    base, folder = base_of(source_of(uri)), posixpath.dirname(uri)

    def rewritten(link: re.Match[str]) -> str:
        target = page_of(posixpath.normpath(posixpath.join(base, link["path"])))
        if target is None:
            return link[0]
        return f"]({posixpath.relpath(target, folder or '.')}{link['anchor'] or ''})"

    return LINK.sub(rewritten, markdown)
