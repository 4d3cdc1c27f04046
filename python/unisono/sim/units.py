"""Quantities as SimGrid writes them: 425MBps, 1Gbps, 100ns, 2.5Gf."""

import re

from unisono.core.errors import UnisonoError

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

NUMBER = r"(\d+(?:\.\d+)?)"
BANDWIDTH = re.compile(NUMBER + r"([kMGT]?)([bB])ps")
LATENCY = re.compile(NUMBER + r"(s|ms|us|ns)")
SPEED = re.compile(NUMBER + r"([kMGT]?)f")


def matched(pattern: "re.Pattern[str]", text: str, what: str) -> "re.Match[str]":
    match = pattern.fullmatch(text)
    if not match or float(match[1]) == 0:
        raise UnisonoError(
            f"--platform, {what}={text}: write a number above 0 with its unit, as in {EXAMPLES[what]}"
        )
    return match


EXAMPLES = {"bw": "1Gbps or 425MBps", "lat": "25us", "speed": "1Gf"}


def bits_per_second(text: str) -> float:
    match = matched(BANDWIDTH, text, "bw")
    return float(match[1]) * PREFIXES[match[2]] * (8 if match[3] == "B" else 1)


def seconds(text: str) -> float:
    match = matched(LATENCY, text, "lat")
    return float(match[1]) * SECONDS[match[2]]


def flops(text: str) -> float:
    match = matched(SPEED, text, "speed")
    return float(match[1]) * PREFIXES[match[2]]
