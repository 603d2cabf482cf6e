"""The feed of events, in memory."""

from __future__ import annotations

import base64
import copy
import json
import re
from typing import Callable, Mapping, Optional

from ._store import Members, Refused, new_id, now_of


class FakeFeed:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._events: list[Members] = []
        #: Cursors of an earlier one have expired.
        self._generation = 1

    def add(
        self, kind: str, data: Members, customer_id: Optional[str] = None, user_id: Optional[str] = None
    ) -> str:
        identifier = new_id("evt")
        self._events.append(
            {
                "id": identifier,
                "type": kind,
                "timestamp": now_of(self._clock),
                "customer_id": customer_id,
                "user_id": user_id,
                "data": copy.deepcopy(data),
            }
        )
        return identifier

    def expire(self) -> None:
        """Forgets all events, as a reset or the end of their retention does."""
        self._events = []
        self._generation += 1

    def read(self, query: Mapping[str, str]) -> Members:
        after, kind, customer = query.get("after"), query.get("type"), query.get("customer_id")
        begin = len(self._events) if after == "latest" else self._place_of(after)
        found = [
            (place, event)
            for place, event in enumerate(self._events[begin:], begin + 1)
            if (kind is None or _is_of(event["type"], kind)) and customer in (None, event["customer_id"])
        ]
        shown = found[: int(query["limit"])]
        more = len(found) > len(shown)
        return {
            "events": [event for _, event in shown],
            "cursor": self._cursor_of(shown[-1][0] if more else len(self._events)),
            "more": more,
            "waiting_since": None,
        }

    def _cursor_of(self, place: int) -> str:
        text = base64.urlsafe_b64encode(json.dumps([self._generation, place]).encode()).decode()
        return f"v1.fake.{text.rstrip('=')}"

    def _place_of(self, cursor: Optional[str]) -> int:
        if cursor is None:
            return 0
        if re.fullmatch(r"v1\.[\w-]+\.[\w-]+", cursor, re.ASCII) is None:
            raise Refused("INVALID_PARAMETER", {"parameter": "after"})
        _, source, text = cursor.split(".")
        if source != "fake":
            raise Refused("CURSOR_EXPIRED")
        generation, place = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if generation != self._generation:
            raise Refused("CURSOR_EXPIRED")
        return int(place)


def _is_of(kind: str, wanted: str) -> bool:
    """A type, or a family of types: ``authentication`` is all of ``user.*``."""
    family = "user" if wanted == "authentication" else wanted
    return kind == wanted or kind.startswith(f"{family}.")
