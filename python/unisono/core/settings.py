"""Which values the variables of Unisono take. In a job the library says what is wrong with them, in MPI_Init;
here the same is said before a job. Algorithms, rules and files are looked at elsewhere."""

import re
from collections.abc import Callable

from unisono.core.amounts import size_of

MODES = ("auto", "measure", "fixed", "off")
WORDS = {
    "UNISONO": MODES,
    "UNISONO_REPRODUCIBLE": ("runs", "placement", "off", "1", "0"),
    "UNISONO_REPEATS": ("0", "1"),
    "UNISONO_LOG": ("decision", ""),
    "UNISONO_PROGRESS": ("calls", "thread"),
    "UNISONO_SHM_STORE": ("auto", "plain", "nontemporal"),
    "UNISONO_SINGLE_COPY": ("0", "1"),
    "UNISONO_DEVICE": ("native", "host"),
    "UNISONO_MCAST_RELIABILITY": ("nack", "ack"),
}
NUMBER = re.compile(r"\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
MOST = 1 << 62
WAITS = re.compile(r"auto|spin|yield|sleep(:\d{1,5})?", re.ASCII)


def sizes(least: int, most: int = MOST, *, none: bool = True, auto: bool = True) -> Callable[[str], bool]:
    def is_one(text: str) -> bool:
        size = size_of(text)
        return (auto and text == "auto") or (
            size is not None and ((none and size == 0) or least <= size <= most)
        )

    return is_one


def numbers(least: int) -> Callable[[str], bool]:
    return lambda text: text == "auto" or (NUMBER.fullmatch(text) is not None and float(text) >= least)


def is_wait(text: str) -> bool:
    return WAITS.fullmatch(text) is not None


AMOUNTS = {
    "UNISONO_WAIT": (is_wait, "auto, spin, yield, sleep, and sleep:16, ..."),
    "UNISONO_SHM": (sizes(1 << 20, 32 << 30), "auto, 0, and sizes from 1M to 32G"),
    "UNISONO_SHM_RING": (sizes(16 << 10, 4 << 20, none=False), "auto and sizes from 16K to 4M"),
    "UNISONO_SHM_PROBE": (sizes(64 << 10), "auto, 0, and sizes from 64K on"),
    "UNISONO_PLAN_CACHE": (sizes(0, auto=False), "0, 4096, 64K, 1M, ..."),
    "UNISONO_MCAST_RATE": (numbers(1), "auto and numbers from 1 on"),
    "UNISONO_MCAST_GROUPS": (numbers(0), "numbers from 0 on"),
    "UNISONO_MCAST_SILENCE": (numbers(0), "numbers from 0 on"),
}


def wrong_value(name: str, value: str) -> str | None:
    """What is wrong with it; None: nothing that is known here."""
    if name in WORDS:
        words = [word for word in WORDS[name] if word]
        if value in WORDS[name]:
            return None
        if len(words) == 1:
            return f"valid is {words[0]}"
        return f"valid are {', '.join(words[:-1])} and {words[-1]}"
    if name in AMOUNTS:
        is_valid, valid = AMOUNTS[name]
        return None if is_valid(value) else f"valid are {valid}"
    return None
