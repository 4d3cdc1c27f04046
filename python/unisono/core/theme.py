"""The colours of our pages, in light and dark, by what they are for. Pages and charts name them only."""

from markupsafe import Markup

# Of text on paper: a contrast of 4.5 or more (tests/python/test_browser.py).
LIGHT = {
    "ink": "#222222",
    "paper": "#ffffff",
    "faint": "#e2e4e8",
    "note": "#5f646b",
    "link": "#1f5fa8",
    "warn": "#a83600",
    "win": "#00694a",
    "waiting": "#d9a441",
    "inside": "#3b6ea8",
    "transfer": "#7d8aa0",
    "worst": "#b03a00",
    "average": "#3b6ea8",
    "phase": "#111111",
    "native": "#444444",
    "limit": "#8a8a8a",
    # Okabe and Ito's, told apart by colour-blind readers too; the yellow darker, to be seen on white.
    **{f"arm{number}": colour for number, colour in enumerate(
        ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a89a00")
    )},
}  # fmt: skip
DARK = {
    "ink": "#dddddd",
    "paper": "#16181c",
    "faint": "#33373e",
    "note": "#9aa0a8",
    "link": "#7db4f0",
    "warn": "#f08a50",
    "win": "#4fc79a",
    "waiting": "#c08d2e",
    "inside": "#6d9fd8",
    "transfer": "#8b98ae",
    "worst": "#f08a50",
    "average": "#6d9fd8",
    "phase": "#ffffff",
    "native": "#c4c4c4",
    "limit": "#8f8f8f",
    **{f"arm{number}": colour for number, colour in enumerate(
        ("#4fa3e0", "#f08a50", "#2fc79a", "#e19ac4", "#e69f00", "#7cc7f2", "#f0e442")
    )},
}  # fmt: skip
ARMS = tuple(name for name in LIGHT if name.startswith("arm"))


def css() -> Markup:
    """The colours as variables: --ink, --paper, ..."""

    def variables(colours: dict[str, str]) -> str:
        return ":root { " + " ".join(f"--{name}: {colour};" for name, colour in colours.items()) + " }"

    return Markup(f"{variables(LIGHT)}\n@media (prefers-color-scheme: dark) {{ {variables(DARK)} }}")
