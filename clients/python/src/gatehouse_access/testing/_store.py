from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Mapping, Optional, cast

from ._validate import DATA

Members = dict[str, Any]

#: Members whose names are free: PATCH merges them.
MAPS = frozenset({"metadata", "role_mapping", "attributes", "conditions"})
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_NOT_FILTERS = frozenset({"page", "limit", "sort", "order"})


class Refused(Exception):
    """Answered with the status and message of its code."""

    def __init__(self, code: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(code)
        self.code = code
        self.status: int = DATA["errors"][code]["status"]
        self.message: str = DATA["errors"][code]["message"]
        self.details = details or {}


@dataclass
class Row:
    """A resource as it is kept."""

    data: Members
    #: In the order of creation.
    order: int
    revision: int = 1

    def __getitem__(self, name: str) -> Any:
        return self.data.get(name)

    @property
    def etag(self) -> str:
        return f'"{str(self.data.get("id"))[-6:]}-{self.revision}"'


def new_id(prefix: str) -> str:
    """An id as the API makes them: a prefix and 26 characters."""
    return f"{prefix}_0{''.join(secrets.choice(_ALPHABET) for _ in range(25))}"


def now_of(clock: Callable[[], float], seconds: float = 0.0) -> str:
    """The time of a clock, and so many seconds later."""
    return _answered(datetime.fromtimestamp(clock(), timezone.utc) + timedelta(seconds=seconds))


def in_utc(text: str) -> str:
    """A time that a request has, as the API answers it."""
    return _answered(datetime.fromisoformat(text.upper().replace("Z", "+00:00")).astimezone(timezone.utc))


def _answered(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Table:
    """The rows of one kind."""

    def __init__(self, not_found: str, clock: Callable[[], float]) -> None:
        self.rows: dict[str, Row] = {}
        self._not_found = not_found
        self._clock = clock
        self._made = 0

    def now(self, seconds: float = 0.0) -> str:
        return now_of(self._clock, seconds)

    def insert(self, data: Members) -> Row:
        self._made += 1
        now = self.now()
        row = Row({**data, "created_at": now, "updated_at": now}, self._made)
        self.rows[row["id"]] = row
        return row

    def get(self, identifier: str) -> Row:
        row = self.rows.get(identifier)
        if row is None:
            raise Refused(self._not_found)
        return row

    def change(self, row: Row, members: Members) -> list[str]:
        """Changes what differs, and returns its names; the revision tells whether anything did."""
        changed = sorted(name for name, value in members.items() if row[name] != value)
        if changed:
            row.data.update(members, updated_at=self.now())
            row.revision += 1
        return changed

    def remove(self, member: str, value: str) -> None:
        self.rows = {identifier: row for identifier, row in self.rows.items() if row[member] != value}

    def require_free(self, members: Members, but: Optional[Row] = None) -> None:
        for row in self.rows.values():
            if row is not but and all(row[name] == value for name, value in members.items()):
                raise Refused("DUPLICATE", {"field": next(iter(members))})


def merged(before: object, change: object) -> object:
    """RFC 7396."""
    if not isinstance(change, dict):
        return change
    result: Members = dict(cast(Members, before)) if isinstance(before, dict) else {}
    for name, value in cast(Members, change).items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def selected(rows: list[Row], query: Mapping[str, str]) -> Members:
    """The rows that pass the filters of a query, sorted, and one page of them."""
    filters = [(name, value) for name, value in query.items() if name not in _NOT_FILTERS]
    found = [row for row in rows if all(_passes(row, name, value) for name, value in filters)]
    sort = query.get("sort", "created_at")
    found.sort(
        key=lambda row: (str(row[sort]).lower(), row.order),
        reverse=query.get("order", "desc") == "desc",
    )
    page, limit = int(query.get("page", "1")), int(query.get("limit", "20"))
    return {
        "data": [row.data for row in found[(page - 1) * limit : page * limit]],
        "pagination": {
            "current_page": page,
            "total_pages": -(-len(found) // limit),
            "total_items": len(found),
            "page_size": limit,
        },
    }


def _passes(row: Row, name: str, value: str) -> bool:
    if name == "created_after":
        return str(row["created_at"]) > value
    if name == "created_before":
        return str(row["created_at"]) < value
    if name == "name":
        return str(row["name"] or "").lower().startswith(value.lower())
    if name == "email":
        return str(row["email"] or "").lower() == value.lower()
    if name == "role":
        profile: Members = row["profile"] or {}
        return bool(profile.get("role") == value)
    # a webhook has no status, but is enabled or not
    if name == "status" and row["status"] is None:
        return bool(row["enabled"] == (value == "enabled"))
    return bool(row[name] == value)
