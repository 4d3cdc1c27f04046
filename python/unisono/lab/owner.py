"""Whose a lab is: the user and the installation that made it, told apart from others'."""

import hashlib
import json
import os
import pwd
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from unisono.core import files, places
from unisono.core.errors import SetupError

OWNER_FILE = "owner.json"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Owner:
    uid: int  # of who called sudo, if anybody did
    user: str
    installation: str  # a hash of the folder that this package lies in: several people may all be root
    boot: str
    made: str

    def is_us(self) -> bool:
        ours = here()
        return (self.uid, self.installation) == (ours.uid, ours.installation)

    def is_of_this_boot(self) -> bool:
        return self.boot == boot_id()

    def text(self) -> str:
        where = "" if self.installation == here().installation else ", from another installation of Unisono"
        return f"made by {self.user} on {self.made}{where}"


def boot_id() -> str:
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


def here() -> Owner:
    """Who we are now."""
    by_sudo = os.environ.get("SUDO_UID", "")
    uid = int(by_sudo) if by_sudo.isdigit() and os.geteuid() == 0 else os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = f"user {uid}"
    installation = hashlib.sha256(str(places.PACKAGE).encode()).hexdigest()[:16]
    now = datetime.now(UTC).isoformat(sep=" ", timespec="minutes").replace("+00:00", " UTC")
    return Owner(uid, user, installation, boot_id(), now)


def write(folder: Path) -> None:
    (folder / OWNER_FILE).write_text(json.dumps(asdict(here())) + "\n")


def read(folder: Path) -> Owner | None:
    """None: it does not say, as labs of former versions."""
    try:
        told = files.decoded(files.read_bytes(folder / OWNER_FILE))
        owner = Owner(**told)
    except (OSError, TypeError, ValueError):
        return None
    texts = (owner.user, owner.installation, owner.boot, owner.made)
    return owner if isinstance(owner.uid, int) and all(isinstance(text, str) for text in texts) else None


def text_of(folder: Path) -> str:
    owner = read(folder)
    return owner.text() if owner else "made by a version of Unisono that does not say by whom"


def refuse_others(folder: Path, instead: str) -> None:
    made_by = read(folder)
    if made_by is None or not made_by.is_us():
        raise SetupError(f"lab {folder.name} is somebody else's, {text_of(folder)}: {instead}")


def demand_own_folder(folder: Path) -> None:
    """What lies there is run as root: nobody else may have made or may change it."""
    try:
        state = folder.lstat()
    except FileNotFoundError:
        return
    if not files.is_folder_of({0, os.geteuid()}, state):
        raise SetupError(
            f"{folder}: it is not a folder that only root can change, and is not used: remove it"
        )
