"""ES256 signatures (RFC 7518, section 3.4): verified by ``cryptography`` where it is installed, otherwise by ``_ecdsa``."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any, Optional

from . import _ecdsa
from ._ecdsa import Affine


def _load(name: str) -> Any:
    try:
        return import_module(f"cryptography.{name}")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # one that is installed and broken is as good as none; its Rust part may panic, which is no Exception
        return None


_ec = _load("hazmat.primitives.asymmetric.ec")
_hashes = _load("hazmat.primitives.hashes")
_utils = _load("hazmat.primitives.asymmetric.utils")
_exceptions = _load("exceptions")

#: Whether ``cryptography`` verifies.
IS_FAST = None not in (_ec, _hashes, _utils, _exceptions)


def verify_es256(key: Affine, message: bytes, signature: bytes) -> bool:
    """Whether the signature (r and s) is the key's. The key must be on the curve."""
    if not IS_FAST:
        return _ecdsa.verify_es256(key, message, signature)
    public_key = _public_key_of(key)
    if public_key is None or len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        public_key.verify(_utils.encode_dss_signature(r, s), message, _ec.ECDSA(_hashes.SHA256()))
    except _exceptions.InvalidSignature:
        return False
    return True


@lru_cache(maxsize=64)
def _public_key_of(key: Affine) -> Optional[Any]:
    if not _ecdsa.is_on_curve(key):
        return None
    return _ec.EllipticCurvePublicNumbers(*key, _ec.SECP256R1()).public_key()
