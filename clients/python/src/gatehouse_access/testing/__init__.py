"""A control plane in memory, for tests of what uses this library."""

from __future__ import annotations

from ._fake import FakeGatehouse

__all__ = ["FakeGatehouse"]
