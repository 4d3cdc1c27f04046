"""Solvers of linear systems and of eigenvalues: PETSc, SLEPc, MUMPS, ScaLAPACK, ELPA, hypre, HPL."""

from collections.abc import Sequence

from experiments.programs.program import DEBIAN, Program, Quantity

PETSC = "/usr/share/petsc/3.18/share/petsc/examples/src"
LINK = "-I/usr/lib/petscdir/petsc-real/include -I/usr/lib/slepcdir/slepc-real/include"


def petsc(
    name: str, what: str, source: str, options: Sequence[str], quantities: Sequence[Quantity]
) -> Program:
    return Program(
        name=name,
        what=what,
        packages=("libpetsc-real3.18-dev", "libpetsc3.18-dev-examples"),
        build=f"{{cc}} -O2 {LINK} {PETSC}/{source} -o {{home}}/program -lpetsc_real -lm",
        command=("{home}/program", *options),
        quantities=quantities,
    )


def krylov(name: str, method: str, preconditioner: str, side: int = 100) -> Program:
    options = [
        "-m",
        str(side),
        "-n",
        str(side),
        "-ksp_type",
        method,
        "-pc_type",
        preconditioner,
        "-ksp_monitor",
    ]
    options += ["-ksp_rtol", "1e-14", "-ksp_max_it", "200"]
    return petsc(
        name,
        f"a Laplacian by {method} with {preconditioner}",
        "ksp/ksp/tutorials/ex2.c",
        options,
        (
            Quantity("residuals", r"^ *\d+ KSP Residual norm #", tolerance=1e-3, zero=1e-6),
            Quantity("error", r"^Norm of error # iterations", tolerance=1e-2, zero=1e-6),
            Quantity("iterations", r"^Norm of error \S+ iterations #", tolerance=0.1),
        ),
    )


def scalapack(
    name: str, what: str, test: str, data: str, mpi: str = DEBIAN, ranks: Sequence[int] = ()
) -> Program:
    folder = f"/usr/lib/x86_64-linux-gnu/scalapack/{mpi.removeprefix('debian-')}-tests"
    return Program(
        name=name,
        what=what,
        mpis=(mpi,),
        packages=("scalapack-mpi-test",),
        prepare=f"cp {folder}/{data} .",
        command=(f"{folder}/{test}",),
        quantities=(
            Quantity("tests", r"^(?:WALL|[A-Z]).*\b(PASSED|FAILED)\b"),
            Quantity("tally", r"^\s+# tests (?:completed and )?(passed|failed)"),
        ),
        ranks=ranks,
        limit=60,
    )


SUPERLU = "/usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE"
SUNDIALS = "/usr/share/doc/libsundials-dev/examples"

HPL = """HPL
input
HPL.out
8
1
1200
1
80
0
1
1
{ranks}
16.0
1
2
1
4
1
2
1
1
1
1
1
1
2
64
0
0
1
8
-
0
1200
0
40
"""

PROGRAMS = (
    krylov("petsc-cg", "cg", "jacobi"),
    krylov("petsc-gmres", "gmres", "bjacobi"),
    krylov("petsc-pipecg", "pipecg", "jacobi", 200),
    petsc(
        "petsc-snes",
        "Bratu's equation by Newton's method with multigrid",
        "snes/tutorials/ex5.c",
        [
            "-da_grid_x",
            "33",
            "-da_grid_y",
            "33",
            "-pc_type",
            "mg",
            "-pc_mg_levels",
            "3",
            "-snes_monitor",
            "-ksp_monitor",
        ],
        (
            Quantity("norms of the function", r"^ *\d+ SNES Function norm #", tolerance=1e-4, zero=1e-6),
            Quantity("residuals", r"^ *\d+ KSP Residual norm #", tolerance=1e-4, zero=1e-6),
        ),
    ),
    Program(
        name="slepc",
        what="eigenvalues of a Laplacian by Krylov and Schur",
        packages=("libslepc-real3.18-dev",),
        build=f"{{cc}} -O2 {LINK} {{inputs}}/slepc.c -o {{home}}/program -lslepc_real -lpetsc_real -lm",
        command=("{home}/program", "40", "-eps_nev", "6", "-eps_smallest_real"),
        quantities=(
            # Six are asked for; whether another one has converged beside them, a last bit decides.
            Quantity("iterations, converged", r"^iterations # converged #", tolerance=0.2),
            Quantity("eigenvalues", r"^eigenvalue # error", tolerance=1e-7, first=6),
        ),
    ),
    Program(
        name="mumps",
        what="a Laplacian, solved directly",
        packages=("libmumps-dev",),
        build="{cc} -O2 {inputs}/mumps.c -o {home}/program -ldmumps -lm",
        command=("{home}/program", "60"),
        quantities=(
            Quantity("status", r"^status # "),
            Quantity("sum, largest", r" sum # largest #", tolerance=1e-9),
            Quantity("error", r" error #", tolerance=1, zero=1e-9),
        ),
    ),
    Program(
        name="mumps-test",
        what="the package's own test, five equations",
        packages=("mumps-test",),
        command=("bash", "-c", "exec /usr/lib/mumps/dsimpletest < /usr/lib/mumps/input_simpletest_real"),
        quantities=(Quantity("solution", r"Solution is\s+#\s+#\s+#\s+#\s+#", tolerance=1e-12),),
    ),
    scalapack("scalapack-lu", "LU of dense matrices, the package's own test", "xdlu", "LU.dat"),
    scalapack("scalapack-llt", "Cholesky, the package's own test", "xdllt", "LLT.dat"),
    scalapack("scalapack-qr", "QR, the package's own test", "xdqr", "QR.dat"),
    scalapack(
        "scalapack-sep", "symmetric eigenvalues, the package's own test", "xdsep", "SEP.dat", ranks=(4,)
    ),
    scalapack(
        "scalapack-lu-mpich", "LU of dense matrices, the package's own test", "xdlu", "LU.dat", "debian-mpich"
    ),
    scalapack(
        "scalapack-sep-mpich", "symmetric eigenvalues, as above", "xdsep", "SEP.dat", "debian-mpich", (4,)
    ),
    Program(
        name="elpa",
        what="all eigenvalues and vectors of a dense matrix, in two stages",
        packages=("libelpa-dev",),
        build="{cc} -O2 -I$(echo /usr/include/elpa*) {inputs}/elpa.c -o {home}/program -lelpa -lm",
        command=("{home}/program", "240", "2"),
        quantities=(
            Quantity("eigenvalues", r"^eigenvalue #", tolerance=1e-10),
            Quantity("norm of the vectors", r"^norm #", tolerance=1e-10),
        ),
    ),
    Program(
        name="superlu",
        what="LU of a sparse matrix of 4960 rows, the package's own example",
        packages=("libsuperlu-dist-dev",),
        command=(f"{SUPERLU}/pddrive", "-r", "1", "-c", "{ranks}", f"{SUPERLU}/big.rua"),
        quantities=(
            Quantity("nonzeros", r"[Nn]onzeros in \S+\s+#"),
            Quantity("error", r"\|\|X-Xtrue\|\|/\|\|X\|\| = #", tolerance=1, zero=1e-11),
            Quantity("refinements", r"REFINEMENT time.*Steps\s+#", tolerance=0.5),
        ),
    ),
    Program(
        name="sundials",
        what="the heat equation by CVODE and conjugate gradients, the package's own example",
        packages=("libsundials-dev",),
        build=f"{{cxx}} -O2 {SUNDIALS}/cvode/CXX_parallel/cv_heat2D_p.cpp -o {{home}}/program"
        " -lsundials_cvode -lsundials_nvecparallel -lsundials_sunlinsolpcg -lsundials_sunlinsolspgmr",
        command=("{home}/program", "--np", "{ranks}", "1"),
        quantities=(
            # Open MPI's own algorithms for Allreduce differ by 2e-3 in the errors and by 2 of 96 steps.
            Quantity("norms", r"^ #\s+#\s+\S+\s*$", tolerance=1e-4),
            Quantity("errors", r"^ \S+\s+\S+\s+#\s*$", tolerance=1e-2),
            Quantity("counts", r"^  (?:Steps|[A-Z].* (?:fails|evals|iters|products)) += #", tolerance=0.2),
        ),
    ),
    Program(
        name="sundials-ida",
        what="the heat equation as a differential-algebraic system, the package's own example",
        packages=("libsundials-dev",),
        build=f"{{cc}} -O2 {SUNDIALS}/ida/parallel/idaHeat2D_kry_p.c -o {{home}}/program -lsundials_ida"
        " -lsundials_nvecparallel -lsundials_sunlinsolspgmr -lm",
        command=("{home}/program",),
        quantities=(
            Quantity("solution and counts", r"^ +" + r"#\s+" * 9 + "# #", tolerance=1e-2, zero=1e-9),
            Quantity("failures", r"failures\s+= #"),
        ),
        ranks=(4,),
    ),
    Program(
        name="hypre",
        what="a Laplacian by conjugate gradients with BoomerAMG",
        packages=("libhypre-dev",),
        build="{cc} -O2 -I/usr/include/hypre {inputs}/hypre.c -o {home}/program -lHYPRE -lm",
        command=("{home}/program", "100"),
        quantities=(
            Quantity("iterations", r"^iterations #", tolerance=0.2),
            Quantity("residual", r" residual #", tolerance=1e-2, zero=1e-11),
            Quantity("product", r" product #", tolerance=1e-8),
        ),
    ),
    Program(
        name="hpcc",
        what="HPL, PTRANS, RandomAccess, FFT",
        mpis=(DEBIAN, "openmpi"),
        packages=("hpcc",),
        files={"hpccinf.txt": HPL},
        command=("hpcc",),
        quantities=(
            Quantity(
                "success", r"^(?:Success|PTRANS_residual|MPIRandomAccess_Errors|MPIRandomAccess_LCG_Errors)=#"
            ),
            Quantity(
                "residuals of HPL",
                r"^HPL_(?:RnormI|Anorm1|AnormI|Xnorm1|XnormI)=#",
                tolerance=1e-6,
                zero=1e-9,
            ),
            Quantity("error of the FFT", r"^MPIFFT_maxErr=#", tolerance=1, zero=1e-10),
        ),
        written=("hpccoutf.txt",),
        seconds=r"^HPL_time=#",
    ),
    Program(
        name="petsc4py",
        what="Debian's petsc4py: Poisson's equation by GMRES",
        packages=("python3-petsc4py",),
        command=("/usr/bin/python3", "{inputs}/poisson.py", "60"),
        quantities=(
            Quantity("residuals", r"^residual #", tolerance=1e-3, zero=1e-6),
            Quantity("iterations", r"^iterations #", tolerance=0.1),
            Quantity("norm", r" norm #", tolerance=1e-8),
        ),
    ),
    Program(
        name="slepc4py",
        what="Debian's slepc4py: eigenvalues",
        packages=("python3-slepc4py",),
        command=("/usr/bin/python3", "{inputs}/eigenvalues.py", "300"),
        quantities=(
            Quantity("iterations", r"^iterations #", tolerance=0.1),
            Quantity("eigenvalues", r"^eigenvalue #", tolerance=1e-7),
        ),
    ),
)
