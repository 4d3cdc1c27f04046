"""Arms of a race that nobody ran, for the tests of tuning."""

from unisono.core.estimates import Estimate
from unisono.profile.document import Arm


def arm(spec: str, ratio: float, spread: float = 0.01, coverage: float = 0.97) -> Arm:
    if spec == "native":
        return Arm(spec, 1.0, 0.99, 1.01, 12)
    to_native = Estimate(ratio, ratio - spread, ratio + spread, coverage)
    return Arm(spec, ratio, ratio - spread, ratio + spread, 12, ratio_to_native=to_native)


NATIVE = arm("native", 1)
