"""An Ethernet cluster on one machine, made of network namespaces."""

from unisono.lab.cluster import Lab, current, own
from unisono.lab.layout import Host

__all__ = ["Host", "Lab", "current", "own"]
