"""Fluids: OpenFOAM."""

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
)
