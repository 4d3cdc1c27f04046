"""A lab has an owner; what lies in a folder that others can write is not used. Nothing is made here."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from unisono import lab
from unisono.core.errors import SetupError
from unisono.lab import cli, cluster, layout, network, owner

PLAN = layout.Plan(hosts=2)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "unisono-lab"
    for module in (cluster, network):
        monkeypatch.setattr(module, "ROOT", folder)
    monkeypatch.setattr(network, "demand_root_and_tools", lambda: None)
    monkeypatch.setattr(network, "build", build)
    return folder


def build(folder: Path, plan: layout.Plan) -> None:
    """The files only."""
    folder.mkdir(parents=True, mode=0o755)
    owner.write(folder)
    cluster.write_plan(folder, plan)
    (folder / cluster.READY_FILE).touch()


def made_by(folder: Path, **other: object) -> None:
    told = dataclasses.asdict(owner.here()) | other
    (folder / owner.OWNER_FILE).write_text(json.dumps(told))


OTHERS: list[dict[str, object]] = [{"uid": 54321, "user": "ada"}, {"installation": "0123456789abcdef"}]


def test_ones_own_is_up_already_and_goes_down(root: Path) -> None:
    assert network.up("mine", PLAN)
    assert not network.up("mine", PLAN)
    assert lab.current("mine").plan == PLAN
    assert network.down("mine")
    assert not network.down("mine")
    assert not root.exists()


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_somebody_elses_is_neither_taken_nor_removed(root: Path, other: dict[str, object]) -> None:
    assert network.up("lab", PLAN)
    made_by(root / "lab", **other)
    with pytest.raises(SetupError, match=r"somebody else's, made by .*--name lab-2") as refused:
        network.up("lab", PLAN)
    assert "\n" not in str(refused.value)
    with pytest.raises(SetupError, match=r"somebody else's, made by .*--any-owner removes it"):
        network.down("lab")
    assert lab.current("lab").plan == PLAN, "it is still there"
    assert network.up("lab-2", PLAN), "there is room beside it"
    assert network.down("lab", force=True)


def test_no_program_runs_in_somebody_elses(root: Path) -> None:
    """It would change what the owner measures."""
    assert network.up("lab", PLAN)
    assert lab.own("lab").plan == PLAN
    for other in OTHERS:
        made_by(root / "lab", **other)
        starts: tuple[Callable[[], None], ...] = (
            lambda: cli.run(["/bin/true"], name="lab"),
            lambda: cli.shell("h0", ["true"], name="lab"),
            lambda: cli.check(name="lab"),
        )
        for start in starts:
            with pytest.raises(SetupError, match=r"somebody else's, made by .*UNISONO_LAB=mine"):
                start()


def test_a_lab_that_does_not_say_whose_it_is(root: Path) -> None:
    assert network.up("lab", PLAN)
    for told in ("", "[]", "{}", '{"uid": 0}', "[" * 50):
        (root / "lab" / owner.OWNER_FILE).write_text(told)
        with pytest.raises(SetupError, match="does not say by whom"):
            network.up("lab", PLAN)


def test_who_calls_sudo_is_the_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "54321")
    assert (owner.here().uid, owner.here().user) == (54321, "user 54321")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert owner.here().uid != 54321, "anybody can set a variable"


def test_a_lab_from_before_a_restart_is_nobodys(root: Path) -> None:
    assert network.up("lab", PLAN)
    made_by(root / "lab", boot="another", uid=54321)
    with pytest.raises(SetupError, match="from before this machine was started"):
        lab.current("lab")
    assert network.up("lab", PLAN), "it is made anew"
    assert lab.current("lab").plan == PLAN
    made_by(root / "lab", boot="another", uid=54321)
    assert network.down("lab")


@pytest.mark.parametrize("at", ["unisono-lab", "unisono-lab/lab"])
@pytest.mark.parametrize("kind", ["writable", "link"])
def test_a_folder_that_others_can_write_is_not_used(root: Path, tmp_path: Path, at: str, kind: str) -> None:
    assert network.up("lab", PLAN)
    folder = tmp_path / at
    if kind == "writable":
        folder.chmod(0o777)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    for use in (
        lambda: lab.current("lab"),
        lambda: network.up("lab", PLAN),
        lambda: network.down("lab", force=True),
    ):
        with pytest.raises(SetupError, match="not a folder that only root can change"):
            use()
    assert list(tmp_path.rglob(cluster.READY_FILE)), "nothing is removed"
