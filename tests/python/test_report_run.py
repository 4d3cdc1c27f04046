"""A program is traced and reported, under both MPI libraries."""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import places

pytestmark = pytest.mark.mpi

SOURCE = Path(__file__).with_name("report_program.c")


def line_of(comment: str) -> int:
    [number] = [n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if f"// {comment}" in line]
    return number


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_a_program_from_trace_to_report(unisono: Run, tmp_path: Path, flavour: str) -> None:
    mpi = places.find_mpi(flavour)
    program, folder = tmp_path / "program", tmp_path / "trace"
    compiler = str(mpi.home / "bin" / "mpicc")
    # -O1 would make the two broadcasts one.
    subprocess.run([compiler, "-g", "-O0", "-o", str(program), str(SOURCE)], check=True)
    mpiexec = [str(mpi.home / "bin" / "mpiexec"), "-n", "2"]
    traced = unisono(
        *("trace", "--output", str(folder), "--", *mpiexec, str(program)),
        UNISONO_ALLREDUCE="ring", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    )  # fmt: skip
    assert traced.returncode == 0, traced.stderr
    done = unisono("report", str(folder), "--json", "-")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["program"]["incomplete_calls"] == told["program"]["mismatched_calls"] == 0
    assert told["program"]["single_rank_calls"] == 2
    assert told["trace"]["events"] == 2 * (25 + 1 + 1 + 3 + 1)
    found = {(site["collective"], site["line"]): site for site in told["call_sites"]}
    assert {key: site["calls"] for key, site in found.items()} == {
        ("allreduce", line_of("in the loop")): 25,
        ("allgather", line_of("behind it")): 1,
        ("bcast", line_of("rank 0")): 1,
        ("barrier", line_of("on another communicator")): 3,
    }
    loop = found["allreduce", line_of("in the loop")]
    assert loop["function"] == "exchange"
    assert loop["bytes"]["mean"] == 8
    assert sum(calls for spec, calls in loop["algorithms"].items() if spec.startswith("ring")) == 25
    assert loop["worst_imbalance_factor"] is not None
    assert found["bcast", line_of("rank 0")]["calls_from_several_sites"] == 1
    exported = unisono("trace", "export", str(folder), "--to", "csv", "-o", str(tmp_path / "trace.csv"))
    assert exported.returncode == 0, exported.stderr
    assert len((tmp_path / "trace.csv").read_text().splitlines()) == 1 + told["trace"]["events"]
    exported = unisono("trace", "export", str(folder), "--to", "otf2", "-o", str(tmp_path / "otf2"))
    assert exported.returncode == 0, exported.stderr
    with pytest.importorskip("otf2").reader.open(str(tmp_path / "otf2" / "traces.otf2")) as archive:
        kinds = [type(event).__name__ for _, event in archive.events]
    assert kinds.count("Enter") == kinds.count("Leave") == told["trace"]["events"]


LIBRARY = """
#include <mpi.h>
void solve(double* x) {
  MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  x[0] += 1;  // else the call is a jump, and its return address the program's
}
"""
CALLER = """
#include <mpi.h>
void solve(double* x);
int main(int argc, char** argv) {
  double x = 1;
  MPI_Init(&argc, &argv);
  for (int turn = 0; turn < 3; turn++) {
    solve(&x);  // 8
    solve(&x);  // 9
  }
  MPI_Barrier(MPI_COMM_WORLD);  // 11
  MPI_Finalize();
}
"""


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_calls_of_a_library_are_told_by_the_program_s_lines(
    unisono: Run, tmp_path: Path, flavour: str
) -> None:
    mpi = places.find_mpi(flavour)
    compiler = [str(mpi.home / "bin" / "mpicc"), "-O2"]
    (tmp_path / "solver.c").write_text(LIBRARY)
    (tmp_path / "app.c").write_text(CALLER)
    solver, program, folder = tmp_path / "libsolver.so", tmp_path / "app", tmp_path / "trace"
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", solver, tmp_path / "solver.c"], check=True)
    subprocess.run(
        [*compiler, "-g", "-o", program, tmp_path / "app.c", solver, f"-Wl,-rpath,{tmp_path}"], check=True
    )
    traced = unisono(
        *("trace", "-o", str(folder), "--", str(mpi.mpiexec), "-n", "2", str(program)), **mpi.environment()
    )
    assert traced.returncode == 0, traced.stderr
    told = json.loads(unisono("report", str(folder), "--json", "-").stdout)
    found = {(row["site"], row["inside"], row["calls"]) for row in told["call_sites"]}
    assert found == {
        ("app.c:8", "libsolver.so (solve)", 3),
        ("app.c:9", "libsolver.so (solve)", 3),
        ("app.c:11", None, 1),
    }
