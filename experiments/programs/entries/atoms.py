"""Molecular dynamics: LAMMPS, GROMACS."""

from experiments.programs.program import DEBIAN, Program, Quantity


def lammps(name: str, what: str, script: str, steps: int) -> Program:
    """Atoms are chaotic: after some hundred steps sums in another order are seen."""
    return Program(
        name=name,
        what=what,
        mpis=(DEBIAN, "openmpi"),
        packages=("lammps", "lammps-data"),
        command=("lmp", "-in", script, "-var", "steps", str(steps), "-log", "none"),
        quantities=(
            Quantity("temperature, energy, pressure", r"^ +\d+ +# +# +# *$", tolerance=1e-6, first=150),
        ),
        seconds=r"^Loop time of # on",
    )


GROMACS_TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
GROMACS_RUN = """integrator = md
nsteps = 200
dt = 0.002
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = System
tau-t = 0.5
ref-t = 300
ld-seed = 1
gen-vel = yes
gen-seed = 1
nstenergy = 20
nstlog = 20
nstcalcenergy = 20
"""

PROGRAMS = (
    lammps("lammps-melt", "2048 atoms of Lennard-Jones that melt", "{inputs}/melt.lammps", 1000),
    lammps(
        "lammps-copper",
        "1728 atoms of copper by a Morse potential, thermostat",
        "{inputs}/copper.lammps",
        100,
    ),
    lammps("lammps-charges", "a molten salt with PPPM", "{inputs}/salt.lammps", 60),
    Program(
        name="gromacs",
        what="water (SPC) with PME, 200 steps",
        packages=("gromacs", "gromacs-data"),
        files={"topol.top": GROMACS_TOPOLOGY, "run.mdp": GROMACS_RUN},
        prepare="""gmx -quiet genconf -f /usr/share/gromacs/top/spc216.gro -nbox 2 2 2 -o water.gro
echo "SOL $(( ($(sed -n 2p water.gro)) / 3 ))" >> topol.top
gmx -quiet grompp -f run.mdp -c water.gro -p topol.top -o run.tpr -maxwarn 5""",
        command=(
            "gmx_mpi",
            "-quiet",
            "mdrun",
            "-s",
            "run.tpr",
            "-deffnm",
            "run",
            "-reprod",
            "-ntomp",
            "1",
            "-pin",
            "off",
        ),
        quantities=(
            Quantity(
                "energies and temperature, first 100 steps",
                r"Conserved En\.\s+Temperature.*\n\s+# +# +#",
                tolerance=1e-3,
                first=15,
            ),
        ),
        written=("run.log",),
        seconds=r"Time:\s+\S+\s+#",
    ),
)
