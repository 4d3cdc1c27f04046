"""Nerve cells and trees of species: NEURON, ExaML, PhyML."""

import sys
from dataclasses import replace

from experiments.programs.program import Program, Quantity

TREE = (
    "LngfishAu,LngfishSA|LngfishAf|Frog|Turtle|Sphenodon|Lizard|Crocodile|Bird|Human|Seal|Cow|Whale|Mouse|Rat"
)


def chain(species: str) -> str:
    """A tree in which each species leaves the stem alone; the last two begin at the root."""
    first, *others = species.split("|")
    tree = f"({first})"
    for name in others:
        tree = f"({tree},{name})"
    return f"({tree},Platypus,Opossum);\n"


NERVES = Program(
    name="neuron",
    what="64 cells with Hodgkin-Huxley channels that exchange spikes each millisecond",
    packages=("neuron",),
    command=("nrniv", "-mpi", "{inputs}/ring.hoc"),
    quantities=(
        Quantity("spikes", r"^spikes #"),
        Quantity("cells and times", r"^spike (\d+) #", tolerance=0, sort=True),
    ),
    written=("spikes.*",),
)
WHEEL = f"{{wheels}}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/neuron/.data"

PROGRAMS = (
    NERVES,
    replace(
        NERVES,
        name="neuron-wheel",
        what="the same with PyPI's, which opens the MPI library by dlopen()",
        mpis=("mpich", "openmpi"),
        packages=(),
        wheels=("neuron==9.0.2",),
        command=(f"{WHEEL}/bin/nrniv", "-mpi", "{inputs}/ring.hoc"),
        variables={"NEURONHOME": f"{WHEEL}/share/nrn", "MPI_LIB_NRN_PATH": "{library}"},
    ),
    Program(
        name="examl",
        what="likelihood of a tree of 17 species, branches and rates fitted",
        packages=("examl", "iqtree"),
        files={"start.tree": chain(TREE)},
        prepare="""head -1 /usr/share/doc/iqtree/examples/example.phy | sed 's/1998/400/' > genes.phy
sed 1d /usr/share/doc/iqtree/examples/example.phy | cut -c1-411 >> genes.phy
parse-examl -s genes.phy -m DNA -n genes > parse.log""",
        command=(
            "/usr/lib/examl/bin/examl-sse3",
            *("-s", "genes.binary", "-t", "start.tree", "-m", "GAMMA", "-f", "e", "-n", "out"),
        ),
        quantities=(
            Quantity("likelihood", r"^Likelihood tree 0: #", tolerance=1e-6),
            Quantity("branches", r":(\d+\.\d+)", tolerance=1e-3),
        ),
        written=("ExaML_TreeFile.out",),
        seconds=r"^Overall Time for evaluating .*: # secs",
    ),
    Program(
        name="phyml",
        what="a tree of 54 species with eight bootstraps, the package's own data",
        packages=("phyml",),
        prepare="cp /usr/share/doc/phyml/examples/nucleic .",
        command=(
            "phyml-mpi",
            *("-i", "nucleic", "-d", "nt", "-b", "8", "-m", "HKY85", "-c", "4", "-a", "e", "-o", "lr"),
            *("--r_seed", "7", "--no_memory_check", "--quiet"),
        ),
        quantities=(
            Quantity("tree", file="nucleic_phyml_tree.txt"),
            Quantity("trees of the bootstraps", file="nucleic_phyml_boot_trees.txt"),
        ),
    ),
)
