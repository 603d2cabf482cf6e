"""Verification of deliveries (Standard Webhooks 1.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Literal, Mapping, Optional, Sequence, TypedDict, Union, cast

from ._checks import check_number
from .errors import ConfigurationError, GatehouseError

WebhookProblem = Literal[
    "HEADER_MISSING",
    "TIMESTAMP_INVALID",
    "TIMESTAMP_OUTSIDE_TOLERANCE",
    "SIGNATURE_MISMATCH",
    "BODY_INVALID",
]


class WebhookEvent(TypedDict):
    """An event as it is delivered. Later servers may know more types."""

    #: The same for every attempt: an id that you have handled needs no handling again.
    id: str
    type: str
    #: When it happened.
    timestamp: str
    data: dict[str, Any]


class WebhookVerificationError(GatehouseError):
    """The delivery did not come from who has the secret, or not now. Answer 400."""

    def __init__(self, code: WebhookProblem) -> None:
        super().__init__(f"webhook refused: {code}")
        self.code: WebhookProblem = code


def verify_webhook(
    *,
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secrets: Union[str, Sequence[str]],
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Verifies a delivery, and returns its event.

    ``body`` is as received: one that was parsed and written again has another signature. ``secrets`` is the webhook's
    secret; during a rotation, the one before it as well. ``tolerance`` says how far the time of the attempt may be from
    ``now`` (Unix seconds).
    """
    keys = list(secrets) if isinstance(secrets, (list, tuple, set, frozenset)) else [cast(str, secrets)]
    if not keys or not all(_is_secret(secret) for secret in keys):
        raise ConfigurationError("`secrets` must be texts that are not empty")
    check_number("tolerance", tolerance)
    identifier = _header_of(headers, "webhook-id")
    timestamp = _header_of(headers, "webhook-timestamp")
    signatures = _header_of(headers, "webhook-signature").split(" ")
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise WebhookVerificationError("TIMESTAMP_INVALID")
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("TIMESTAMP_OUTSIDE_TOLERANCE")
    try:
        content = body.encode() if isinstance(body, str) else body
        signed = f"{identifier}.{timestamp}.".encode() + content
    except UnicodeEncodeError:
        # half a character, which nobody has signed
        raise WebhookVerificationError("SIGNATURE_MISMATCH") from None
    expected = [hmac.new(_key_of(secret), signed, hashlib.sha256).digest() for secret in keys]
    if not any(_is_signature(signature, mac) for signature in signatures for mac in expected):
        raise WebhookVerificationError("SIGNATURE_MISMATCH")
    return _read_event(content, identifier)


def _is_secret(secret: object) -> bool:
    """An empty key is one that everybody knows, and half a character has no bytes. Callers without types may have none."""
    return isinstance(secret, str) and secret != "" and re.search("[\ud800-\udfff]", secret) is None


def _header_of(headers: Mapping[str, str], name: str) -> str:
    value: object
    for header, value in headers.items():
        if header.lower() == name and isinstance(value, str) and value != "":
            return value
    raise WebhookVerificationError("HEADER_MISSING")


def _key_of(secret: str) -> bytes:
    """For ``whsec_`` and padded base64 the decoded bytes, for any other text its UTF-8: as the control plane reads it."""
    if secret.startswith("whsec_"):
        text = secret[len("whsec_") :]
        try:
            key = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return secret.encode()
        if key and base64.b64encode(key).decode() == text:
            return key
    return secret.encode()


def _is_signature(signature: str, mac: bytes) -> bool:
    version, _, text = signature.partition(",")
    if version != "v1":
        return False
    try:
        return hmac.compare_digest(base64.b64decode(text, validate=True), mac)
    except (binascii.Error, ValueError):
        return False


def _read_event(content: bytes, identifier: str) -> WebhookEvent:
    try:
        event: object = json.loads(content)
    except (ValueError, RecursionError):
        event = None
    if isinstance(event, dict):
        read = cast("dict[str, Any]", event)
        # the header is signed with the body, so they say the same
        if read.get("id") == identifier and isinstance(read.get("type"), str):
            return cast(WebhookEvent, read)
    raise WebhookVerificationError("BODY_INVALID")
