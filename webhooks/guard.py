"""Where deliveries may go: to public addresses, and to networks that the operator has named.

Asked once, at the moment of connecting, and what was looked at is what is connected to: a name that answers
differently the second time (DNS rebinding) is never asked a second time.
"""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings

from webhooks.errors import AddressRefused

Address = IPv4Address | IPv6Address

_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_SIX_TO_FOUR_RELAYS = IPv4Network("192.88.99.0/24")
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def targets(host: str, port: int) -> list[str]:
    """Look a name up and return its addresses, all of which may be connected to.

    A name with one forbidden address among others is refused as a whole: nobody has an honest reason for it.
    Raises: OSError when there is no such name, AddressRefused.
    """
    found: list[str] = []
    for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = str(place[0])
        if not is_permitted(ip_address(address)):
            raise AddressRefused("The address is in a private or reserved network, which webhooks may not reach.")
        found.append(address)
    return list(dict.fromkeys(found))


def is_permitted(address: Address) -> bool:
    """Whether a delivery may be sent to this address; one inside of another counts as what it leads to."""
    address = _innermost(address)
    if any(address in network for network in settings.WEBHOOK_ALLOWED_NETWORKS):
        return True
    if address.is_multicast or address.is_unspecified or address.is_link_local:
        return False
    if settings.WEBHOOK_ALLOW_PRIVATE and (address.is_private or address.is_loopback):
        return True
    return _is_public(address)


def _innermost(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, where the network would unwrap it."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_reserved or address in _SIX_TO_FOUR_RELAYS:
        return False
    if isinstance(address, IPv6Address):  # 6to4 would be unwrapped by a relay; all else of use is global unicast
        return address in _GLOBAL_UNICAST and address not in _SIX_TO_FOUR
    return True
