"""What a lab consists of: everything that needs neither root nor a network."""

import subprocess
from pathlib import Path

import pytest
from conftest import Run
from unisono import lab
from unisono.core import errors, places
from unisono.core.errors import UnisonoError
from unisono.lab import check, cluster, layout, network


def a_lab(plan: layout.Plan) -> cluster.Lab:
    return cluster.Lab("x", plan.all_hosts(), plan.rate, plan, Path("/run/x"))


@pytest.mark.parametrize(
    ("text", "rate"),
    [("100mbit", 10**8), ("2.5gbit", 2_500_000_000), ("64kbit", 64_000), ("10000bit", 10_000)],
)
def test_rates(text: str, rate: int) -> None:
    assert layout.rate_of(text) == rate
    assert layout.rate_of(layout.rate_text(rate)) == rate


@pytest.mark.parametrize("text", ["", "100", "100 MB/s", "-5mbit", "0mbit", "1kbit", "mbit"])
def test_wrong_rates(text: str) -> None:
    with pytest.raises(UnisonoError, match="write a number with kbit, mbit or gbit"):
        layout.rate_of(text)


def test_shares() -> None:
    assert layout.share_of("1%") == 0.01
    assert layout.share_of("0%") == 0
    for text in ("1", "100%", "-1%", "%", "x%"):
        with pytest.raises(UnisonoError, match="write a percentage below 100"):
            layout.share_of(text)


def test_hosts_are_spread_over_the_switches_in_blocks() -> None:
    hosts = layout.Plan(hosts=16, switches=3).all_hosts()
    assert [host.switch for host in hosts] == sorted(host.switch for host in hosts)
    sizes = [sum(host.switch == s for host in hosts) for s in range(3)]
    assert sum(sizes) == 16 and max(sizes) - min(sizes) <= 1
    assert len({host.address for host in hosts}) == len({host.name for host in hosts}) == 16


def test_speed_and_loss_of_single_hosts() -> None:
    plan = layout.Plan(hosts=3, loss=0.01, loss_on={"h2": 0.5}, speed={"h1": 0.5})
    assert [host.rate for host in plan.all_hosts()] == [1e8, 0.5e8, 1e8]
    assert [host.loss for host in plan.all_hosts()] == [0.01, 0.01, 0.5]
    assert any("rate 50000000bit" in line for line in layout.host_batch(plan, plan.all_hosts()[1]).tc)
    assert any(
        "p1 root handle 1: tbf rate 50000000bit" in line for line in layout.switch_batch(plan, "{}").tc
    )


@pytest.mark.parametrize(
    ("rate", "credit"), [(1e4, layout.LEAST_BURST), (5e7, 12_500), (1e8, 25_000), (1e9, 65_536)]
)
def test_bursts(rate: float, credit: int) -> None:
    assert layout.burst(rate) == credit


@pytest.mark.parametrize(
    ("plan", "frames"),
    [
        (layout.Plan(rate=10**6), 1),
        (layout.Plan(rate=10**8), 4),
        (layout.Plan(rate=10**9), 41),
        (layout.Plan(rate=10**10), layout.MOST_FRAMES),
        (layout.Plan(rate=10**9, loss_on={"h1": 0.1}), 1),
        (layout.Plan(rate=10**8, speed={"h0": 10.0}), 41),
    ],
)
def test_trains_of_frames(plan: layout.Plan, frames: int) -> None:
    host = plan.all_hosts()[0]
    assert plan.frames_in_a_train(host) == frames
    assert frames in (1, layout.MOST_FRAMES) or frames * layout.FRAME * 8 / host.rate <= layout.LONGEST_TRAIN
    assert f"link set eth0 gso_max_segs {frames} up" in layout.host_batch(plan, host).ip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": 0}, "--hosts 0"),
        ({"hosts": 251}, "--hosts 251"),
        ({"hosts": 4, "switches": 5}, "--switches 5"),
        ({"hosts": 4, "uplink": 10**8}, "there is one switch only"),
        ({"hosts": 4, "loss_on": {"h4": 0.1}}, "--loss-on h4: hosts are h0 to h3"),
        ({"hosts": 4, "speed": {"g1": 0.5}}, "--speed g1: hosts are h0 to h3"),
        ({"hosts": 4, "speed": {"h1": 0.0}}, "--speed h1=0"),
    ],
)
def test_impossible_plans(options: dict[str, object], words: str) -> None:
    with pytest.raises(UnisonoError, match=words):
        layout.Plan(**options)  # type: ignore[arg-type]


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    plan = layout.Plan(hosts=5, rate=10**9, switches=2, uplink=10**9, loss_on={"h1": 0.1}, speed={"h2": 2.0})
    cluster.write_plan(tmp_path, plan)
    assert cluster.read_plan(tmp_path) == plan


def test_a_plan_of_another_version(tmp_path: Path) -> None:
    (tmp_path / cluster.PLAN_FILE).write_text('{"hosts": 4, "colour": "blue"}')
    with pytest.raises(UnisonoError, match="was made by another version of unisono"):
        cluster.read_plan(tmp_path)


def test_every_port_of_every_switch_is_shaped() -> None:
    batch = layout.switch_batch(layout.Plan(hosts=4, switches=3, uplink=2 * 10**8), "/run/x/{}/net")
    made = [line.split()[2] for line in batch.ip if " type veth " in line]
    assert made == ["p0", "p1", "p2", "p3", "up1", "up2"]
    shaped = {line.split()[3] for line in batch.tc}
    assert shaped == {"p0", "p1", "p2", "p3", "up1", "down1", "up2", "down2"}
    assert "link add p3 type veth peer name eth0 address 02:00:00:00:00:04 netns /run/x/h3/net" in batch.ip


def run_bpf(share: float, random: int) -> int:
    """The four instructions of the loss program, as the kernel would run them."""
    code = layout.drop_some("eth0", share)[1].split('"')[1].split(",")[1:]
    program = [tuple(map(int, part.split())) for part in code]
    accumulator, at = 0, 0
    while True:
        operation, jump_if, jump_else, constant = program[at]
        at += 1
        if operation == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            assert constant == 2**32 - 0x1000 + 56  # SKF_AD_OFF + SKF_AD_RANDOM
            accumulator = random
        elif operation == 0x35:  # BPF_JMP | BPF_JGE | BPF_K
            at += jump_if if accumulator >= constant else jump_else
        else:
            assert operation == 0x06  # BPF_RET | BPF_K
            return constant


def test_the_loss_program_drops_its_share_of_all_random_numbers() -> None:
    drop, keep = 2, 2**32 - 1
    assert run_bpf(0.25, 0) == run_bpf(0.25, 2**30 - 1) == drop
    assert run_bpf(0.25, 2**30) == run_bpf(0.25, 2**32 - 1) == keep


def test_ranks_per_host() -> None:
    assert layout.ranks_per_host(16, 16, None) == 1
    assert layout.ranks_per_host(17, 16, None) == 2
    assert layout.ranks_per_host(8, 16, 4) == 4
    with pytest.raises(UnisonoError, match="20 ranks do not fit: 16 hosts of 1 ranks each"):
        layout.ranks_per_host(20, 16, 1)


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_the_command_line(flavour: str) -> None:
    mpi = places.Mpi(flavour, Path("/opt/mpi"))
    made = a_lab(layout.Plan(hosts=4))
    line, environment = made.command(mpi, 3, 2, ["./a", "two words"], {"UNISONO_LOG": "decision"})
    assert line[:2] == ["/run/x/enter", "h0"]
    assert line[2].startswith("exec /opt/mpi/bin/mpiexec ") and line[2].endswith(" ./a 'two words'")
    assert " -n 3 " in line[2]
    hosts = "-hosts h0,h1 -ppn 2" if flavour == "mpich" else "--host h0:2,h1:2"
    assert hosts in line[2]
    assert environment["UNISONO_LOG"] == "decision"
    assert ("-x UNISONO_LOG" in line[2]) == (flavour == "openmpi")
    assert environment["UNISONO_BENCH_DRAIN"] == "25000", "the burst of the shapers"
    assert layout.shaper("eth0", 1e8, "64kb").count("burst 25000 ") == 1
    assert ("-x UNISONO_BENCH_DRAIN" in line[2]) == (flavour == "openmpi")
    assert ("unisono-lab-yield" in environment.get("LD_PRELOAD", "")) == (flavour == "mpich")


def test_debians_open_mpi_is_told_in_its_own_words() -> None:
    made = a_lab(layout.Plan(hosts=2))
    mpi = places.Mpi("openmpi", Path("/usr"), "debian-openmpi", "mpiexec.openmpi")
    line, environment = made.command(mpi, 4, 2, ["./a"], {})
    assert line[2].startswith("exec /usr/bin/mpiexec.openmpi ") and " --host h0:2,h1:2 " in line[2]
    assert environment["OMPI_MCA_plm_rsh_agent"] == str(made.enter)
    assert environment["OMPI_MCA_oob_tcp_if_include"] == "eth0"
    assert environment["OMPI_MCA_btl"] == "tcp,self,vader"


def test_what_the_caller_sets_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    made = a_lab(layout.Plan(hosts=2))
    monkeypatch.setenv("UCX_NET_DEVICES", "eth0,lo")
    monkeypatch.setenv("UNISONO_BENCH_DRAIN", "0")
    monkeypatch.setenv("LD_PRELOAD", "/mine.so")
    _, environment = made.command(places.Mpi("mpich", Path("/m")), 2, 1, ["a"], {"UCX_TLS": "all"})
    assert (environment["UCX_TLS"], environment["UCX_NET_DEVICES"]) == ("all", "eth0,lo")
    assert environment["UNISONO_BENCH_DRAIN"] == "0"
    assert environment["LD_PRELOAD"].endswith("libunisono-lab-yield.so:/mine.so"), "and neither is lost"
    with pytest.raises(UnisonoError, match="do not fit"):
        made.command(places.Mpi("mpich", Path("/m")), 3, 1, ["a"], {})


def test_no_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ROOT", tmp_path)
    monkeypatch.setenv("UNISONO_LAB", "none")
    with pytest.raises(UnisonoError, match="no lab is up: run sudo unisono lab up"):
        lab.current()
    (tmp_path / "none").mkdir()
    with pytest.raises(UnisonoError, match="no lab is up: making none was interrupted"):
        lab.current()
    with pytest.raises(UnisonoError, match="a name consists of"):
        lab.current("../etc")


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(UnisonoError, match="run it as root, as in sudo unisono lab up"):
        network.up("x", layout.Plan())
    with pytest.raises(UnisonoError, match="run it as root, as in sudo unisono lab up"):
        network.down("x")


def test_without_a_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    for tool in ("ip", "tc"):
        with pytest.raises(UnisonoError, match=f"{tool} is missing: install iproute2"):
            network.up("x", layout.Plan())
        (tmp_path / tool).touch(mode=0o755)


def test_a_tools_complaint_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "tc").write_text("first\nqdisc add dev eth0 root tbf\n")
    stderr = f"Error: Specified qdisc kind is unknown.\nCommand failed {tmp_path}/tc:2\n"
    message = str(network.failure(["nsenter", "x"], stderr))
    assert "Specified qdisc kind is unknown. / in: tc qdisc add dev eth0 root tbf" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["up", "--rate", "fast"], "rate fast: write a number"),
        (["up", "--loss", "5"], "loss 5: write a percentage"),
        (["up", "--speed", "h3"], "--speed h3: write HOST=VALUE"),
        (["up", "--speed", "h3=x"], "--speed x: write HOST=FACTOR"),
        (["run", "--mpi", "lam", "a"], "'lam' is not one of 'auto', 'mpich', 'openmpi'"),
        (["run", "--native", "--log", "a"], "--native runs without Unisono"),
        (["run", "a", "--name", "x"], "no lab is up"),
        (["status"], "no lab is up"),
        (["check"], "no lab is up"),
        (["shell", "h0"], "no lab is up"),
    ],
)
def test_mistakes_give_one_line(unisono: Run, arguments: list[str], words: str) -> None:
    done = unisono("lab", *arguments, UNISONO_LAB="never-made")
    assert done.returncode == (errors.SETUP if "no lab is up" in words else errors.USAGE)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def flow(rate: float, retransmissions: int = 0, control: str = "cubic") -> check.Flow:
    return check.Flow("h0", "h1", 1e8, rate, retransmissions, control)


def test_judging_the_flows() -> None:
    def failed(flows: list[check.Flow], busy: float = 0.5, lossy: bool = False) -> list[str]:
        return [result.what for result in check.judge_flows(flows, busy, lossy) if not result.good]

    assert failed([flow(9.5e7), flow(9.41e7)]) == []
    assert failed([flow(9.5e7), flow(9.3e7)]) == ["flows"]
    assert failed([flow(9.5e7, retransmissions=1)]) == ["sent again"]
    assert failed([flow(9.5e7, control="bbr")]) == ["tcp"]
    assert failed([flow(9.5e7)], busy=0.99) == ["machine"]
    assert failed([flow(1e7, retransmissions=9)], busy=0.99, lossy=True) == []


def test_the_slowest_cable_of_a_flow() -> None:
    made = a_lab(layout.Plan(hosts=4, switches=2, uplink=3 * 10**7, speed={"h1": 0.5}))
    h0, h1, h2, h3 = made.hosts
    assert check.slowest_cable(made, h0, h1) == 5e7
    assert check.slowest_cable(made, h1, h2) == 3e7
    assert check.slowest_cable(made, h2, h3) == 1e8


def test_what_goes_under_mpich_comes_before_libc() -> None:
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", cluster.yielding()], capture_output=True, text=True, check=True
    )
    assert " T epoll_wait" in symbols.stdout
