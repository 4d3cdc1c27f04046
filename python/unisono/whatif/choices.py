"""A profile of what was found best at the new scale."""

from collections import defaultdict

from unisono.core import catalogue
from unisono.core.catalogue import NATIVE
from unisono.core.errors import UnisonoError
from unisono.core.estimates import Estimate
from unisono.profile import choice
from unisono.profile.document import Arm, Cell, Environment, Key, Measured, Profile
from unisono.whatif.study import CellStudy, Study, weightiest

FLAVOURS = {"Open MPI": "openmpi", "Intel": "intel", "MPICH": "mpich"}


def flavour_of(library: str) -> str:
    for words, flavour in FLAVOURS.items():
        if words in library:
            return flavour
    raise UnisonoError(f"-o: the trace was made with '{library}', for which there are no profiles")


def profile_of(found: Study, cores: int) -> Profile:
    program = found.program
    library = program.calls.mpi
    flavour = flavour_of(library)
    shapes: dict[tuple[int, int], list[CellStudy]] = defaultdict(list)
    for cell in weightiest(found):
        shapes[cell.cell.shape.ranks, nodes_of(found, cell)].append(cell)
    environments = []
    for (ranks, nodes), cells in sorted(shapes.items()):
        key = Key(flavour, library, "ethernet", program.platform.link_bits, cores, ranks, nodes)
        environments.append(Environment(key, tuple(cells_of(cells))))
    return Profile(tuple(environments))


def nodes_of(found: Study, cell: CellStudy) -> int:
    shape, target = cell.cell.shape, found.program.target
    stride = target.ranks // shape.ranks if shape.strided else 1
    return len({rank * stride // target.per_host for rank in range(shape.ranks)})


def cells_of(studies: list[CellStudy]) -> list[Cell]:
    """The weightiest first: of two that a profile cannot tell apart that one counts."""
    chosen: dict[str, dict[int, CellStudy]] = defaultdict(dict)
    for one in studies:
        # Of calls whose bytes no rank knows, a profile has one choice.
        size = one.cell.bytes if catalogue.collective(one.cell.collective).bytes_known else 0
        chosen[one.cell.collective].setdefault(size, one)
    cells: list[Cell] = []
    for collective, by_size in sorted(chosen.items()):
        choices = {size: one.chosen for size, one in by_size.items()}
        measured = {size: measured_of(size, one) for size, one in by_size.items()}
        cells += choice.intervals(collective, choices, measured)
    return cells


def measured_of(size: int, one: CellStudy) -> Measured:
    arms = [arm_of(NATIVE, one.native, None)]
    arms += [arm_of(arm.spec, arm.replayed, arm.replayed / one.native) for arm in one.arms if arm.replayed]
    return Measured(size, tuple(arms))


def arm_of(spec: str, seconds: float, ratio: float | None) -> Arm:
    """Simulated: the same in every run."""
    exact = None if ratio is None else Estimate(ratio, ratio, ratio, 1.0)
    return Arm(spec, seconds, seconds, seconds, 1, ratio_to_native=exact)
