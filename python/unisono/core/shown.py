"""Text of others on a terminal: nothing in it is taken for a command of the terminal or for a new line."""

import re
import stat

LONGEST = 300  # letters of a line that says what is wrong
TAIL = 120  # of them for its end, which says what to do
# Control characters (ESC begins the commands of terminals), line and paragraph separators, what changes the
# direction of writing or cannot be seen, and surrogates, which Python makes of bytes that are no text.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


def shown(text: str) -> str:
    """With what cannot be seen written as Python writes it: \\x1b."""
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def line(text: str, most: int = LONGEST) -> str:
    """One line of at most `most` letters; what is too much is left out before the end."""
    text = shown(text)
    if len(text) <= most:
        return text
    tail = min(TAIL, most // 2)
    return f"{text[: most - tail - 5]} ... {text[-tail:]}"


def kind(mode: int) -> str:
    """What a file is that is no plain file."""
    return KINDS.get(stat.S_IFMT(mode), "no plain file")
