"""Simulated networks without a simulator: what is read, what SimGrid is told, and what limits them."""

from xml.etree import ElementTree

import pytest
from conftest import Run
from typer.testing import CliRunner
from unisono import cli
from unisono.core import errors
from unisono.core.errors import UnisonoError
from unisono.core.limits import Cut, wire_seconds
from unisono.sim import platforms, units
from unisono.sim.platforms import Platform

MIB = 1 << 20


def limit(platform: Platform, collective: str, size: int, root: int = 0) -> float:
    ranks = platform.hosts
    seconds = wire_seconds(
        collective, size, ranks, platform.ports(range(ranks), root), platform.inner_cuts(range(ranks), root)
    )
    assert seconds is not None
    return seconds


def cluster(text: str) -> dict[str, str]:
    found = ElementTree.fromstring(
        platforms.parse(text).xml().partition("<platform")[2].join(["<platform", ""])
    )
    return dict(found[0].attrib)


@pytest.mark.parametrize(
    ("text", "hosts", "links", "topology"),
    [
        ("ethernet:64", 64, 1, None),
        ("torus:8x8x8", 512, 6, "8,8,8"),
        ("torus:4", 4, 2, "4"),
        ("torus:2x3x1", 6, 3, "2,3,1"),
        ("fattree:16x4:8", 64, 1, "2;16,4;1,8;1,1"),
        ("fattree:4x4x2", 32, 1, "3;4,4,2;1,4,4;1,1,1"),
        ("fattree:12", 12, 1, "1;12;1;1"),
    ],
)
def test_networks(text: str, hosts: int, links: int, topology: str | None) -> None:
    platform = platforms.parse(text)
    assert (platform.hosts, platform.links_of_a_host) == (hosts, links)
    attributes = cluster(text)
    assert attributes.get("topo_parameters") == topology
    assert attributes["radical"] == f"0-{hosts - 1}"
    assert attributes["sharing_policy"] == "SPLITDUPLEX"
    assert platforms.parse(platform.spec) == platform


def test_options_go_into_the_links() -> None:
    attributes = cluster("torus:3x3,bw=2GBps,lat=1.5us,speed=3Gf")
    assert (attributes["bw"], attributes["lat"], attributes["speed"]) == ("2GBps", "1.5us", "3Gf")
    assert platforms.parse("ethernet:4,bw=10Gbps").link_bits == 1e10


@pytest.mark.parametrize(
    ("text", "bits"), [("1Gbps", 1e9), ("425MBps", 3.4e9), ("100kbps", 1e5), ("0.5TBps", 4e12), ("8bps", 8)]
)
def test_bandwidths(text: str, bits: float) -> None:
    assert units.bits_per_second(text) == pytest.approx(bits)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moon:3", "no such network; write torus:XxYxZ"),
        ("torus", "torus: is no shape; write torus:XxYxZ"),
        ("torus:3x", "torus:3x is no shape"),
        ("torus:0x4", "torus:0x4 is no shape"),
        ("torus:1x1", "has 1 hosts; 2 to 65536 are possible"),
        ("torus:99x99x99", "has 970299 hosts"),
        ("ethernet:4x4", "is no number of hosts"),
        ("ethernet:4,colour=red", "no option 'colour'; valid: bw, lat, speed"),
        ("ethernet:4,bw", "'bw' is not of the form option=value"),
        ("ethernet:4,bw=fast", "bw=fast: write a number above 0 with its unit, as in 1Gbps"),
        ("ethernet:4,lat=0us", "lat=0us: write a number above 0"),
        ("ethernet:4,speed=1", "speed=1: write a number above 0"),
        ("fattree:4x4:2x2", "needs a number of links up for each level of switches but the last"),
        ("fattree:4x4:", "is no shape"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(UnisonoError, match="--platform") as raised:
        platforms.parse(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_limits_of_a_star() -> None:
    star = platforms.parse("ethernet:16")
    wire = 8 * MIB / 1e9
    assert limit(star, "bcast", MIB) == pytest.approx(wire)
    assert limit(star, "alltoall", MIB) == pytest.approx(15 * wire)
    assert limit(star, "allreduce", MIB) == pytest.approx(2 * 15 / 16 * wire)


def test_all_six_links_of_a_torus_count() -> None:
    torus = platforms.parse("torus:4x4x4")
    assert limit(torus, "bcast", MIB) == pytest.approx(MIB / (6 * 425e6))
    assert limit(torus, "bcast", MIB) == pytest.approx(0.41e-3, rel=0.01)  # known for this torus


def test_the_narrowest_cut_of_a_torus_limits_an_exchange() -> None:
    # Halves of 8 x 4 = 32 ranks, 2 x 4 links between them; a host's own ports would do in 63 / 4.
    torus = platforms.parse("torus:16x4")
    assert limit(torus, "alltoall", MIB) == pytest.approx(32 * 32 / 8 * MIB / 425e6)
    # A ring of two has a single link each way, for there is a single neighbour.
    assert limit(platforms.parse("torus:2x2"), "alltoall", MIB) == pytest.approx(2 * 2 / 2 * MIB / 425e6)


@pytest.mark.parametrize(("root", "inside"), [(0, True), (1, True), (2, False), (5, True), (11, False)])
def test_on_which_side_of_a_cut_the_root_is(root: int, inside: bool) -> None:
    torus = platforms.parse("torus:4x3")
    across_x = torus.inner_cuts(range(12), root)[0]
    assert across_x == Cut(6, inside, 2 * 3 * 425e6 * 8)


def test_ranks_on_a_part_of_a_torus_may_use_all_of_it() -> None:
    torus = platforms.parse("torus:4x4")
    assert torus.inner_cuts(range(15), 0) == []
    assert len(torus.ports(range(15), 3)) == 15
    assert [cut.holds_root for cut in torus.ports(range(5), 3)] == [False, False, False, True, False]


def test_a_thin_fat_tree_limits_an_exchange_at_its_switches() -> None:
    thin, full = platforms.parse("fattree:4x4:2,bw=1GBps"), platforms.parse("fattree:4x4,bw=1GBps")
    assert limit(thin, "alltoall", MIB) == pytest.approx(4 * 12 / 2 * MIB / 1e9)
    assert limit(full, "alltoall", MIB) == pytest.approx(15 * MIB / 1e9)
    # Three levels, 2 links up from each switch: 4 leave a group of 16 hosts.
    deep = platforms.parse("fattree:4x4x4:2x2,bw=1GBps")
    assert limit(deep, "alltoall", MIB) == pytest.approx(16 * 48 / 4 * MIB / 1e9)


def test_a_last_switch_with_few_ranks() -> None:
    cuts = platforms.parse("fattree:4x4:2").inner_cuts(range(10), 9)
    assert [(cut.ranks, cut.holds_root) for cut in cuts] == [(4, False), (4, False), (2, True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --collective, or -- and the source of a program"),
        (["--collective", "bcast", "--", "a.c"], "give either --collective"),
        (["--collective", "bcats"], "--collective bcats: no such collective; valid: barrier"),
        (["--collective", "bcast", "-n", "17"], "-n 17: ethernet:16"),
        (["--collective", "bcast", "--root", "16"], "--root 16: the ranks are 0 to 15"),
        (["--collective", "bcast", "--sizes", "1X"], "--sizes 1X: no size"),
        (["--collective", "bcast", "--arms", "rings"], "no algorithm 'rings'"),
        (["--collective", "bcast", "--arms", "chain:segment=0"], "'segment=0' is not valid"),
        (["--collective", "bcast", "--selectors", "lam"], "valid are none, ompi"),
        (["--collective", "bcast", "--memory", "much"], "--memory much: no size"),
        (["--collective", "bcast", "--arms", "native", "--selectors", "none"], "nothing to simulate"),
        (["--collective", "bcast", "--online"], "--online is for programs"),
        (["--collective", "bcast", "--force", "bcast=flat"], "--force is for programs"),
        (["--cfg", "a", "--", "a.c"], "--cfg a: write KEY:VALUE"),
        (["--force", "bcast", "--", "a.c"], "write COLLECTIVE=ALGORITHM"),
        (["--flags", "'-O2", "--", "a.c"], "--flags '-O2: No closing quotation"),
        (["--", "a.c", "two words"], "'two words': smpirun cannot pass on"),
        (["--", "a.f90"], "a.f90: no C or C++ source"),
        (["--", "missing.c"], "missing.c: no such file"),
    ],
)
def test_mistakes_end_in_one_clear_line(arguments: list[str], message: str) -> None:
    # main() prints the error; a new process for each would take half a second.
    raised = CliRunner().invoke(cli.command_line("sim"), ["sim", *arguments]).exception
    assert isinstance(raised, UnisonoError)
    assert message in str(raised)
    assert "\n" not in str(raised)


def test_without_simgrid_it_says_so(unisono: Run) -> None:
    done = unisono("sim", "--collective", "bcast", PATH="/nowhere")
    assert done.returncode == errors.SETUP
    assert "SimGrid is not installed: apt-get install libsimgrid-dev" in done.stderr
