"""Electronic structure: Quantum ESPRESSO, CP2K, ABINIT, NWChem, GPAW, Elk."""

from experiments.programs.program import Program, Quantity

SILICON = "sed s:PSEUDO:/usr/share/espresso/pseudo: {{inputs}}/{0}.in > {0}.in"
ESPRESSO = (
    Quantity("total energies, Ry", r"^!?\s+total energy\s+=\s+#", tolerance=1e-7),
    Quantity(
        "Fermi energy or highest level, eV", r"(?:highest occupied level|Fermi energy).*?#", tolerance=1e-4
    ),
    Quantity("iterations", r"convergence has been achieved in\s+#", tolerance=0.2),
)
ESPRESSO_TIME = r"PWSCF\s*:.*CPU\s+(?:(\d+)m)?\s*(\d+\.\d+)s WALL"


def espresso(name: str, what: str, *options: str, source: str = "silicon") -> Program:
    return Program(
        name=name,
        what=what,
        packages=("quantum-espresso", "quantum-espresso-data"),
        prepare=SILICON.format(source),
        command=("pw.x", *options, "-in", f"{source}.in"),
        quantities=ESPRESSO,
        seconds=ESPRESSO_TIME,
    )


def waters(molecules: int) -> str:
    """Positions on a lattice, each molecule turned another way, the densities of water."""
    side = round(molecules ** (1 / 3) + 0.4999)
    lines = []
    for number in range(molecules):
        x, y, z = (3.1 * (number // side**axis % side) for axis in range(3))
        turn = (1, -1)[number % 2]
        lines.append(f"O {x:.4f} {y:.4f} {z:.4f}")
        lines.append(f"H {x + 0.757 * turn:.4f} {y + 0.586:.4f} {z:.4f}")
        lines.append(f"H {x - 0.757 * turn:.4f} {y + 0.02:.4f} {z + 0.586 * turn:.4f}")
    return "\n".join(lines)


WATER_SIDE = 6.2  # angstroms, of 8 molecules
CP2K = f"""&GLOBAL
  PROJECT water
  RUN_TYPE MD
  PRINT_LEVEL LOW
&END GLOBAL
&MOTION
  &MD
    ENSEMBLE NVE
    STEPS 2
    TIMESTEP 0.5
    TEMPERATURE 300.0
  &END MD
&END MOTION
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME BASIS_MOLOPT
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 160
    &END MGRID
    &SCF
      EPS_SCF 1.0E-6
      MAX_SCF 30
      &OT
        MINIMIZER DIIS
      &END OT
    &END SCF
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC {WATER_SIDE} {WATER_SIDE} {WATER_SIDE}
    &END CELL
    &COORD
{waters(8)}
    &END COORD
    &KIND O
      BASIS_SET SZV-MOLOPT-SR-GTH
      POTENTIAL GTH-PADE-q6
    &END KIND
    &KIND H
      BASIS_SET SZV-MOLOPT-SR-GTH
      POTENTIAL GTH-PADE-q1
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""

ABINIT = """ntypat 1
znucl 14
pp_dirpath "/usr/share/abinit/psp"
pseudos "14si.pspnc"
natom 2
typat 1 1
acell 3*10.18
rprim 0.0 0.5 0.5  0.5 0.0 0.5  0.5 0.5 0.0
xred 0.0 0.0 0.0  0.25 0.25 0.25
ecut 10.0
nstep 20
toldfe 1.0d-9
prtwf 0
prtden 0
prteig 0
"""
ABINIT_POINTS = "ngkpt 4 4 4\nnshiftk 4\nshiftk 0.5 0.5 0.5  0.5 0.0 0.0  0.0 0.5 0.0  0.0 0.0 0.5\nnband 8\n"
ABINIT_BANDS = """kptopt 0
nkpt 1
nband 16
paral_kgb 1
npkpt 1
npband {ranks}
npfft 1
wfoptalg 114
occopt 3
tsmear 0.01
"""


def abinit(name: str, what: str, added: str) -> Program:
    return Program(
        name=name,
        what=what,
        packages=("abinit", "abinit-data"),
        files={"silicon.abi": ABINIT + added},
        command=("abinit", "silicon.abi"),
        quantities=(
            Quantity("energies of iterations, Ha", r"^ ETOT\s+\d+\s+#", tolerance=1e-6),
            Quantity("total energy, Ha", r"^\s*etotal\s+#", tolerance=1e-8),
        ),
        written=("silicon.abo",),
        seconds=r"Proc\.\s+0 individual time.*?wall=\s*#",
    )


NWCHEM = """start water
geometry units angstroms noautosym
  O  0.000  0.000  0.117
  H  0.000  0.757 -0.469
  H  0.000 -0.757 -0.469
  O  0.000  0.000  3.017
  H  0.000  0.757  3.603
  H  0.000 -0.757  3.603
end
basis
  * library 6-31g*
end
scf
  thresh 1e-8
end
task scf gradient
dft
  xc b3lyp
end
task dft energy
"""


GPAW = """from ase.build import molecule
from gpaw import GPAW, PW
atoms = molecule("H2O", vacuum=2.0)
atoms.calc = GPAW(mode=PW(250), xc="LDA", txt="water.txt", convergence={"energy": 1e-4})
atoms.get_potential_energy()
"""
ELK = """tasks
  0

mixtype
  3

avec
  5.13  5.13  0.00
  5.13  0.00  5.13
  0.00  5.13  5.13

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Si.in'
  2
  0.0  0.0  0.0
  0.25 0.25 0.25

ngridk
  2  2  2

vkloff
  0.25  0.5  0.625

maxscl
  8
"""


def nwchem(name: str, mpi: str, package: str, program: str) -> Program:
    return Program(
        name=name,
        what="two molecules of water by Hartree-Fock and B3LYP, over Global Arrays",
        mpis=(mpi,),
        packages=(package, "nwchem-data"),
        files={"water.nw": NWCHEM},
        command=(program, "water.nw"),
        limit=60,
        quantities=(
            Quantity("total energies, Ha", r"Total (?:SCF|DFT) energy =\s+#", tolerance=1e-7),
            Quantity("gradient", r"^\s+\d [OH] \s+#\s+#\s+#\s+#\s+#\s+#$", tolerance=1e-3, zero=1e-4),
        ),
        seconds=r"Total times\s+cpu:.*wall:\s+#s",
    )


PROGRAMS = (
    espresso("espresso", "pw.x: silicon, plane waves over all ranks", "-npool", "1"),
    espresso("espresso-pools", "pw.x: silicon, k-points over the ranks", "-npool", "{ranks}"),
    espresso(
        "espresso-cell",
        "pw.x: a cell of 8 atoms of silicon, k-points over the ranks",
        "-npool",
        "{ranks}",
        source="cell",
    ),
    espresso("espresso-bands", "pw.x: silicon, bands over the ranks", "-nband", "{ranks}"),
    Program(
        name="cp2k",
        what="8 molecules of water, 2 steps of molecular dynamics from density functional theory",
        packages=("cp2k", "cp2k-data"),
        files={"water.inp": CP2K},
        command=("cp2k.psmp", "-i", "water.inp"),
        quantities=(
            Quantity("total energies, Ha", r"ENERGY\| Total FORCE_EVAL.*?#$", tolerance=1e-8),
            Quantity("temperatures, K", r"MD\| Temperature \[K\]\s+#", tolerance=1e-6),
        ),
        variables={"CP2K_DATA_DIR": "/usr/share/cp2k"},
        seconds=r"^ CP2K\s+1\s+\S+\s+\S+\s+\S+\s+\S+\s+#",
    ),
    abinit("abinit", "silicon, k-points over the ranks", ABINIT_POINTS),
    abinit("abinit-bands", "silicon, bands over the ranks", ABINIT_BANDS),
    Program(
        name="gpaw",
        what="a molecule of water by plane waves",
        packages=("gpaw", "gpaw-data"),
        files={"water.py": GPAW},
        command=("/usr/bin/gpaw", "python", "water.py"),
        quantities=(
            Quantity("energies of iterations, eV", r"^iter:\s+\d+\s+\S+\s+#", tolerance=1e-6),
            Quantity("total energy, eV", r"^Extrapolated:\s+#", tolerance=1e-7),
            Quantity("eigenvalues, eV", r"^\s+\d+\s+#\s+2\.0+$", tolerance=1e-5),
        ),
        written=("water.txt",),
    ),
    Program(
        name="elk",
        what="silicon by augmented plane waves, k-points over the ranks",
        packages=("elk-lapw",),
        files={"elk.in": ELK},
        command=("elk-lapw",),
        quantities=(
            Quantity("energies of iterations, Ha", r"^\s+(-\d+\.\d+)\s*$", tolerance=1e-7),
            Quantity("Fermi energy, Ha", r"^ Fermi\s+: *#", tolerance=1e-6),
            Quantity("charge error", r"^ error\s+: *#", tolerance=1e-4),
        ),
        written=("INFO.OUT", "TOTENERGY.OUT"),
    ),
    nwchem("nwchem", "debian-openmpi", "nwchem-openmpi", "nwchem.openmpi"),
    nwchem("nwchem-mpich", "debian-mpich", "nwchem-mpich", "nwchem.mpich"),
)
