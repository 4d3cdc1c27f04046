"""Light: Meep, MPB."""

from experiments.programs.program import Program, Quantity

PROGRAMS = (
    Program(
        name="meep",
        what="Maxwell's equations in time: a pulse in a waveguide",
        packages=("python3-meep-openmpi",),
        command=("/usr/bin/python3", "{inputs}/bend.py"),
        quantities=(
            Quantity("energy and field", r"^energy # field #", tolerance=1e-8, zero=1e-12),
            Quantity("fluxes", r"^flux1:, #, #", tolerance=1e-8),
        ),
    ),
    Program(
        name="mpb",
        what="bands of a photonic crystal",
        packages=("mpb-mpi",),
        command=("mpb-mpi", "{inputs}/crystal.ctl"),
        quantities=(
            Quantity("frequencies", r"^t[em]freqs:, \d+" + ", #" * 10, tolerance=1e-5),
            Quantity("gaps", r"^Gap from band \d \(#\) to band \d \(#\)", tolerance=1e-6),
        ),
    ),
)
