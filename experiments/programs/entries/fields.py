"""Fluids, finite elements and fields: OpenFOAM, Code_Saturne, Gerris, DOLFINx, mpgrafic."""

from experiments.programs.program import Program, Quantity

FOAM = {"WM_PROJECT_DIR": "/usr/share/openfoam", "FOAM_SIGFPE": "false"}
CASES = "/usr/share/doc/openfoam-examples/examples/incompressible"
PARTS = """FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }
numberOfSubdomains {ranks};
method simple;
simpleCoeffs { n ({ranks} 1 1); delta 0.001; }
"""


def foam(name: str, what: str, solver: str, case: str, settings: str) -> Program:
    return Program(
        name=name,
        what=what,
        packages=("openfoam", "openfoam-examples"),
        files={"parts": PARTS},
        prepare=f"""export WM_PROJECT_DIR=/usr/share/openfoam
cp -rL {CASES}/{case}/* .
[ -d 0 ] || cp -r 0.orig 0
find . -name '*.gz' -exec gunzip {{}} +
cp parts system/decomposeParDict
{settings}
blockMesh > mesh.log
decomposePar > parts.log""",
        command=(solver, "-parallel"),
        quantities=(
            Quantity("initial residuals", r"Initial residual = #", tolerance=1e-4, zero=1e-8),
            Quantity("iterations of solvers", r"No Iterations #", tolerance=0.1),
            Quantity("continuity errors", r"sum local = #", tolerance=1e-2, zero=1e-8),
        ),
        variables=FOAM,
        seconds=r"ExecutionTime = \S+ s\s+ClockTime = # s",
    )


def settings(end: str, step: str = "") -> str:
    control = [f"s/^endTime .*/endTime {end};/", "s/^writeInterval .*/writeInterval 100000;/"]
    control += [f"s/^deltaT .*/deltaT {step};/"] if step else []
    return f"sed -i '{'; '.join(control)}' system/controlDict"


DOLFINX = ("-ksp_type", "cg", "-ksp_rtol", "1e-8", "-pc_type", "hypre", "-pc_hypre_type", "boomeramg")

# Answers to its questions: power law, densities and Hubble's constant, baryons, normalisation, range, offset,
# one grid, seed, files.
UNIVERSE = """4
0.3,0.7,70
0.05
1
-0.92
0.01,100.0
-50
1
0




1
1234
white-outfile.dat
0
noisefile_dummy.dat
"""

PROGRAMS = (
    foam(
        "openfoam-cavity",
        "icoFoam: a lid-driven cavity",
        "icoFoam",
        "icoFoam/cavity/cavity",
        "sed -i 's/(20 20 1)/(60 60 1)/' system/blockMeshDict\n" + settings("0.05", "0.001"),
    ),
    foam(
        "openfoam-pitz",
        "simpleFoam: a backward-facing step, turbulent",
        "simpleFoam",
        "simpleFoam/pitzDaily",
        settings("15"),
    ),
    Program(
        name="code-saturne",
        what="a lid-driven cavity, 20 steps",
        packages=("code-saturne-bin",),
        prepare="""awk -v side=32 -f {inputs}/cavity.awk > cavity.msh
/usr/lib/code_saturne/cs_preprocess --log preprocessor.log cavity.msh
cp {inputs}/cavity.xml setup.xml""",
        command=("/usr/lib/code_saturne/cs_solver", "--mpi"),
        quantities=(
            Quantity("velocities", r"^v  Velocity\[\w\] +# +# +# +#", tolerance=1e-4, zero=1e-9),
            Quantity("pressures", r"^v  Pressure +# +# +# +#", tolerance=1e-4, zero=1e-9),
            Quantity(
                "residuals, iterations", r"^c  (?:Velocity|Pressure) +# +# +# +# +#", tolerance=0.1, zero=1e-9
            ),
        ),
        written=("run_solver.log",),
    ),
    Program(
        name="gerris",
        what="a vortex, with multigrid",
        packages=("gerris", "libgfs-dev"),
        prepare="""share() { echo $(($1 * {ranks} / 4)); }
sed "s/RANK1/$(share 1)/; s/RANK2/$(share 2)/; s/RANK3/$(share 3)/" {inputs}/vortex.gfs > vortex.gfs""",
        command=("gerris2D", "vortex.gfs"),
        quantities=(
            Quantity("residuals", r"^ +residual\.(?:first|second|infty): +# +#", tolerance=1e-3, zero=1e-9),
            Quantity("velocity", r"^Velocity time: # first: +# second: +# infty: +#", tolerance=1e-3),
            Quantity("steps", r"^step: +# t: +# dt: +#", tolerance=1e-5),
        ),
    ),
    Program(
        name="dolfinx",
        what="Poisson's equation on a mesh of 45,000 tetrahedra a rank, with hypre",
        packages=("fenicsx-performance-tests",),
        command=("dolfinx-scaling-test", "--ndofs", "8000", *DOLFINX),
        quantities=(
            Quantity("iterations", r"^\*\*\* Number of Krylov iterations: #", tolerance=0.1),
            Quantity("norm", r"^\*\*\* Solution norm: +#", tolerance=1e-6),
            Quantity("unknowns", r"^  Total degrees of freedom: +#"),
        ),
    ),
    Program(
        name="mpgrafic",
        what="density and velocities of an early universe on a grid of 96 by 96 by 96, by Fourier transforms",
        packages=("mpgrafic",),
        files={"universe.in": UNIVERSE},
        command=("mpgrafic", "--np=96", "universe.in"),
        quantities=(
            Quantity("fields", file="ic_*"),
            Quantity("spectrum", file="power.dat"),
        ),
    ),
)
