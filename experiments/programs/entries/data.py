"""Files, meshes, transforms and languages: HDF5, netCDF, p4est, FFTW, Boost.MPI, R."""

from experiments.programs.program import DEBIAN, Program, Quantity

HDF5 = "-I/usr/include/hdf5/openmpi -L/usr/lib/x86_64-linux-gnu/hdf5/openmpi"

PROGRAMS = (
    Program(
        name="fftw",
        what="three-dimensional transforms",
        mpis=(DEBIAN, "openmpi"),
        packages=("libfftw3-mpi-dev",),
        build="{cxx} -O2 -std=c++17 {inputs}/transform.cpp -o {home}/program -lfftw3_mpi -lfftw3",
        command=("{home}/program", "64", "150"),
        quantities=(
            Quantity("error", r"^transform: .* error (.*), sum"),
            Quantity("sum", r", sum #$", tolerance=1e-12),
        ),
        seconds=r"^transform: # s",
    ),
    Program(
        name="hdf5",
        what="collective writes and reads of one file",
        packages=("libhdf5-openmpi-dev",),
        build=f"{{cc}} -O2 {HDF5} {{inputs}}/hdf5.c -o {{home}}/program -lhdf5",
        command=("{home}/program", "256", "5"),
        quantities=(Quantity("sums", r"^sums # #", tolerance=0), Quantity("file", file="matrix.h5")),
    ),
    Program(
        name="h5py",
        what="Debian's h5py for MPI: collective writes and reads",
        packages=("python3-h5py-mpi", "python3-mpi4py"),
        command=("/usr/bin/python3", "{inputs}/slices.py", "4000"),
        variables={"HDF5_USE_FILE_LOCKING": "FALSE"},
        quantities=(Quantity("sum", r"^sum #", tolerance=0), Quantity("file", file="slices.h5")),
    ),
    Program(
        name="netcdf",
        what="collective writes and reads of one netCDF-4 file",
        packages=("libnetcdf-mpi-dev",),
        build="{cc} -O2 -I$(echo /usr/lib/*/netcdf/mpi/include) -I/usr/include/hdf5/openmpi"
        " {inputs}/netcdf.c -o {home}/program -lnetcdf_mpi",
        command=("{home}/program", "200"),
        quantities=(Quantity("sum", r"^sum #", tolerance=0),),
    ),
    Program(
        name="p4est",
        what="a forest of quadtrees: refined, balanced, distributed",
        packages=("libp4est-dev",),
        build="{cc} -O2 {inputs}/forest.c -o {home}/program -lp4est -lsc",
        command=("{home}/program", "8"),
        quantities=(Quantity("cells and checksums", r"^cells (\d+) checksum (\w+) nodes (\w+)"),),
    ),
    Program(
        name="ptscotch",
        what="dgpart: a grid of 24 by 24 by 24 in 8 parts",
        packages=("ptscotch",),
        prepare="awk -v side=24 -f {inputs}/grid.awk > grid.grf",
        command=("dgpart", "8", "grid.grf", "grid.map", "-vm"),
        quantities=(
            Quantity("sizes of the parts", r"^M\s+Target min=#\s+max=#\s+avg=#", tolerance=0.02),
            Quantity("neighbours", r"^M\s+Neighbors min=#\s+max=#\s+sum=#", tolerance=0.5),
            Quantity("edges cut", r"^M\s+CommCutSz=#\s+\(#\)", tolerance=0.05),
        ),
    ),
    Program(
        name="boost",
        what="Boost.MPI: collectives of strings, vectors and own operations",
        packages=("libboost-mpi-dev", "libboost-serialization-dev"),
        build="{cxx} -O2 -std=c++17 {inputs}/boost.cpp -o {home}/program -lboost_mpi -lboost_serialization",
        command=("{home}/program",),
        quantities=(Quantity("sums", r"^sum #", tolerance=0),),
    ),
    Program(
        name="rmpi",
        what="R with Rmpi: collectives of numbers and of objects",
        packages=("r-cran-rmpi",),
        command=("Rscript", "--vanilla", "{inputs}/rmpi.R"),
        quantities=(Quantity("sums", r"^own # total #", tolerance=1e-12),),
    ),
)
