"""The tables of experiments on nodes whose ranks share cores, from made-up jobs."""

import json
from pathlib import Path

from experiments import floor, mpi4py_suite, stall


def test_the_floor_is_the_cheaper_way_to_wait() -> None:
    def of(cell: tuple[str, str], seconds: float | None) -> list[floor.Job]:
        return [floor.Job(cell=cell, round=k, calls=9, seconds=seconds, switches=1) for k in range(2)]

    jobs = of((floor.FLOOR, "threads, futex"), 3e-6) + of((floor.FLOOR, "threads, yield"), 2e-6)
    jobs += of((floor.FLOOR, "processes, futex"), 4e-6) + of((floor.FLOOR, "processes, yield"), 5e-6)
    jobs += of(("native", "barrier"), None) + of(("unisono", "barrier"), 6e-6)
    lines = floor.table(jobs)
    row = next(line for line in lines if line.startswith("| barrier, unisono"))
    assert row.endswith("| 3.00 (3.00 to 3.00) | 1.50 (1.50 to 1.50) |")
    assert "2 jobs failed" in next(line for line in lines if line.startswith("| barrier, native"))
    assert [line.partition(": ")[2].split(", ") for line in lines[-2:]] == [
        ["**no**", "3.00"],
        ["yes", "1.50"],
    ]


def job_of(seconds: float, waited: float) -> stall.Job:
    ranks = [
        stall.Rank(seconds=seconds, ran=0.1, waited=time, clocks=(1.0, 2.0), cores=(0, 1))
        for time in (0.01, waited)
    ]
    return stall.Job(
        way="native",
        round=0,
        problem="",
        first=0.2,
        call="Bcast",
        seconds=seconds,
        rounds=(3, 9),
        ranks=ranks,
    )


def test_a_stall_names_the_rank_that_waited_for_a_core() -> None:
    jobs = [job_of(0.1, 0.05), job_of(4.5, 4.4)]
    assert table_row(stall.table_of_jobs(jobs), "native")[3:5] == ["1", "2.300 (0.100 to 4.500)"]
    (row,) = stall.table_of_stalls(jobs)[2:3]
    assert "| 1, core 0 to 1 | 4.400, 0.010 |" in row


def table_row(lines: list[str], first: str) -> list[str]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return next(row for row in rows if row[0] == first)


def test_a_test_has_failed_where_it_has_on_any_rank(tmp_path: Path) -> None:
    for rank, outcome in enumerate(("passed", "failed: 1 != 2")):
        (tmp_path / f"{rank}.json").write_text(json.dumps({"outcomes": {"a": outcome, "b": "passed"}}))
    assert mpi4py_suite.outcomes_in(tmp_path, 2) == {"failed": 1, "passed": 1}


def test_what_was_ended_is_over_its_limit() -> None:
    def of(way: str, seconds: float, problem: str, outcomes: dict[str, int]) -> mpi4py_suite.Job:
        return mpi4py_suite.Job(
            mpi="mpich",
            ranks=5,
            tests="comm",
            way=way,
            round=0,
            seconds=seconds,
            limit=60,
            problem=problem,
            outcomes=outcomes,
        )

    jobs = [of("native", 60.2, "no result within 60 s", {}), of("unisono", 1.2, "", {"passed": 9})]
    assert table_row(mpi4py_suite.table(jobs), "mpich")[3:] == ["over 60", "", "1.2", "9 passed"]
