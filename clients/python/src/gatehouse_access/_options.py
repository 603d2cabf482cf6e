from __future__ import annotations

from typing import Callable, TypedDict

from ._response import ApiResponse


class CallOptions(TypedDict, total=False):
    """What each call takes besides its arguments."""

    #: The longest that the call may take, all attempts and pauses included, in seconds. Default: 60.
    timeout: float
    #: Default: 2.
    max_retries: int
    #: POST: the server carries out requests with one key once. Default: a new one for each call.
    idempotency_key: str
    #: The ETag that the resource must still have; else the call raises ``PreconditionFailedError``.
    if_match: str
    #: Is told about the response, an error response included.
    on_response: Callable[[ApiResponse], None]
