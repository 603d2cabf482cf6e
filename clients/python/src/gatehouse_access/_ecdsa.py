"""Verification of ES256 signatures (FIPS 186-5, section 6.4.2): ECDSA on P-256 with SHA-256.

Everything here is public (a key that is published, a signature that somebody sent), so that nothing needs to take the same
time whatever it is. It makes no signatures.
"""

from __future__ import annotations

import hashlib
from typing import Optional

# SP 800-186, section 3.2.1.3
_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

Affine = tuple[int, int]
#: X / Z², Y / Z³; the point at infinity has Z = 0.
_Jacobian = tuple[int, int, int]
_INFINITY: _Jacobian = (1, 1, 0)


def is_on_curve(point: Affine) -> bool:
    x, y = point
    return 0 <= x < _P and 0 <= y < _P and (y * y - (x * x * x - 3 * x + _B)) % _P == 0


def verify_es256(key: Affine, message: bytes, signature: bytes) -> bool:
    """Whether the signature (r and s, as in RFC 7518, section 3.4) is the key's. The key must be on the curve."""
    if len(signature) != 64 or not is_on_curve(key):
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if not (0 < r < _N and 0 < s < _N):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    inverse = pow(s, -1, _N)
    x = _x_of(_sum_of_products(digest * inverse % _N, _G, r * inverse % _N, key))
    return x is not None and x % _N == r


def _sum_of_products(a: int, p: Affine, b: int, q: Affine) -> _Jacobian:
    """a P + b Q, bit by bit, with P + Q computed once."""
    first, second = (*p, 1), (*q, 1)
    both = _add(first, second)
    result = _INFINITY
    for bit in range(max(a.bit_length(), b.bit_length()) - 1, -1, -1):
        result = _double(result)
        in_a, in_b = a >> bit & 1, b >> bit & 1
        if in_a and in_b:
            result = _add(result, both)
        elif in_a:
            result = _add(result, first)
        elif in_b:
            result = _add(result, second)
    return result


def _double(point: _Jacobian) -> _Jacobian:
    x, y, z = point
    if z == 0 or y == 0:
        return _INFINITY
    # the curve's a is -3
    squared_z = z * z % _P
    slope = 3 * (x - squared_z) * (x + squared_z) % _P
    squared_y = y * y % _P
    shared = 4 * x * squared_y % _P
    new_x = (slope * slope - 2 * shared) % _P
    new_y = (slope * (shared - new_x) - 8 * squared_y * squared_y) % _P
    return new_x, new_y, 2 * y * z % _P


def _add(one: _Jacobian, other: _Jacobian) -> _Jacobian:
    x1, y1, z1 = one
    x2, y2, z2 = other
    if z1 == 0:
        return other
    if z2 == 0:
        return one
    squared_z1, squared_z2 = z1 * z1 % _P, z2 * z2 % _P
    u1, u2 = x1 * squared_z2 % _P, x2 * squared_z1 % _P
    s1, s2 = y1 * z2 * squared_z2 % _P, y2 * z1 * squared_z1 % _P
    if u1 == u2:
        return _double(one) if s1 == s2 else _INFINITY
    h, r = (u2 - u1) % _P, (s2 - s1) % _P
    squared_h = h * h % _P
    cubed_h, v = h * squared_h % _P, u1 * squared_h % _P
    x = (r * r - cubed_h - 2 * v) % _P
    return x, (r * (v - x) - s1 * cubed_h) % _P, h * z1 * z2 % _P


def _x_of(point: _Jacobian) -> Optional[int]:
    x, _, z = point
    return None if z == 0 else x * pow(z, -2, _P) % _P
