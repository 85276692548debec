"""Network of a cluster: a bridge in a namespace of its own, and a link to each node, which can be shaped both ways.

No link, address or route of it lies in the namespace of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tare.cluster import rights

if TYPE_CHECKING:
    from tare.cluster.helpers import Helpers

INDEXES = range(1, 255)
_NETWORK = "10.77"
_BRIDGE = "bridge"
_NODE_LINK = "eth0"
_FIRST_HOST = 10
_BURST_S = 0.01
_LEAST_BURST = 65_536
LATENCY_MS = 50
"""Time for which a packet may wait for the rate, before it is dropped."""


def network(index: int) -> str:
    """Addresses of the cluster with this index."""
    return f"{_NETWORK}.{index}.0/24"


def address(index: int, place: int) -> str:
    """Address of the node at this place of a cluster."""
    return f"{_NETWORK}.{index}.{_FIRST_HOST + place}"


def free_index(taken: Iterable[int]) -> int | None:
    """Return the least index that no cluster has; None if all are taken."""
    used = set(taken)
    return next((index for index in INDEXES if index not in used), None)


def make(helpers: Helpers) -> None:
    """Make the bridge and the links. Raises ServerFailed."""
    ip, switch = rights.program("ip"), helpers.cluster.switch
    what = "the network of the cluster could not be made"
    advice = "the kernel needs the modules veth, bridge and sch_tbf"

    def run(within: str, *words: str) -> None:
        helpers.run(words, what=what, within=within, advice=advice)

    run(switch, ip, "link", "add", _BRIDGE, "type", "bridge")
    run(switch, ip, "link", "set", _BRIDGE, "addrgenmode", "none", "up")
    for node in helpers.cluster.nodes:
        peer = ("peer", "name", _NODE_LINK, "netns", node.namespace)
        run(switch, ip, "link", "add", node.name, "type", "veth", *peer)
        run(switch, ip, "link", "set", node.name, "addrgenmode", "none", "master", _BRIDGE, "up")
        run(node.namespace, ip, "address", "add", f"{node.address}/24", "dev", _NODE_LINK)
        run(node.namespace, ip, "link", "set", _NODE_LINK, "addrgenmode", "none", "up")
        run(node.namespace, ip, "link", "set", "lo", "up")
    set_rate(helpers, helpers.cluster.limits.rate_bits)


def set_rate(helpers: Helpers, rate_bits: int | None) -> None:
    """Limit each link to a rate, each way; None: lift the limit. Raises ServerFailed."""
    if helpers.cluster.limits.rate_bits is None:
        return
    for node in helpers.cluster.nodes:
        for within, device in ((helpers.cluster.switch, node.name), (node.namespace, _NODE_LINK)):
            helpers.run(
                shape(device, rate_bits),
                what=f"the rate of the link of node {node.name} could not be set",
                within=within,
                advice="the kernel needs the module sch_tbf",
            )


def shape(device: str, rate_bits: int | None) -> tuple[str, ...]:
    """Return the command that limits what a device sends to a rate; None: to what the kernel can."""
    queue = (rights.program("tc"), "qdisc", "replace", "dev", device, "root")
    if rate_bits is None:
        return (*queue, "pfifo_fast")
    burst = max(_LEAST_BURST, round(rate_bits / 8 * _BURST_S))
    return (*queue, "tbf", "rate", f"{rate_bits}bit", "burst", str(burst), "latency", f"{LATENCY_MS}ms")
