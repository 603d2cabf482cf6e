"""JSON Schema, as far as the API's requests use it."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Mapping, Sequence, cast
from urllib.parse import urlsplit

Schema = Mapping[str, Any]
Problem = dict[str, str]

DATA: Mapping[str, Any] = json.loads((Path(__file__).parent / "_data.json").read_text(encoding="utf-8"))
_MISSING = object()


def problems_of(value: object, schema: Schema, path: str = "") -> list[Problem]:
    """What is wrong with a value; nothing, if it fits."""
    if "$ref" in schema:
        return problems_of(value, DATA["schemas"][schema["$ref"]], path)

    def wrong(message: str) -> list[Problem]:
        return [{"path": path, "message": message}]

    if value is _MISSING:
        return wrong("is required")
    if "const" in schema:
        return [] if value == schema["const"] else wrong(f"must be {json.dumps(schema['const'])}")
    if "enum" in schema and value not in schema["enum"]:
        return wrong(f"must be one of {', '.join(schema['enum'])}")
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        # of the choice that comes nearest
        return min((problems_of(value, choice, path) for choice in choices), key=len)
    declared = schema.get("type", [])
    types: Sequence[str] = [declared] if isinstance(declared, str) else declared
    if types and not any(_has_type(value, one) for one in types):
        return wrong(f"must be {' or '.join(types)}")
    if isinstance(value, str):
        return [problem for message in _text_problem(value, schema) for problem in wrong(message)]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
        return [] if low <= value <= high else wrong(f"must be from {low} to {high}")
    if isinstance(value, list):
        items = cast("list[object]", value)
        low, high = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
        if not low <= len(items) <= high:
            return wrong(f"must have {low} to {high} items")
        return [
            problem
            for index, item in enumerate(items)
            for problem in problems_of(item, schema.get("items", {}), _join(path, str(index)))
        ]
    if isinstance(value, dict):
        return _object_problems(cast("dict[str, object]", value), schema, path)
    return []


def _object_problems(value: Mapping[str, object], schema: Schema, path: str) -> list[Problem]:
    if len(value) < schema.get("minProperties", 0):
        return [{"path": path, "message": "must have a member"}]
    properties: Mapping[str, Schema] = schema.get("properties", {})
    additional: object = schema.get("additionalProperties", True)
    problems: list[Problem] = []
    for name in schema.get("required", []):
        if name not in value:
            problems.append({"path": _join(path, name), "message": "is required"})
    for name, member in value.items():
        place = _join(path, name)
        if name in properties:
            problems += problems_of(member, properties[name], place)
        elif additional is False:
            problems.append({"path": place, "message": "is not known"})
        else:
            problems += problems_of(name, schema.get("propertyNames", {}), place)
            if isinstance(additional, dict):
                problems += problems_of(member, cast(Schema, additional), place)
    return problems


def _text_problem(value: str, schema: Schema) -> list[str]:
    low, high = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    if not low <= len(value) <= high:
        return [f"must have {low} to {high} characters"]
    pattern, form = schema.get("pattern"), schema.get("format")
    if pattern is not None and re.search(pattern, value, re.ASCII) is None:
        return [f"must match {pattern}"]
    if form == "date-time" and not _is_date_time(value):
        return ["must be a date and time"]
    if form == "email" and re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", value) is None:
        return ["must be an e-mail address"]
    if form == "uri" and not urlsplit(value).scheme:
        return ["must be a URL"]
    return []


def _is_date_time(value: str) -> bool:
    try:
        datetime.fromisoformat(re.sub(r"Z$", "+00:00", value))
    except ValueError:
        return False
    return "T" in value


def _has_type(value: object, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "array": list, "object": dict}[kind])


def defaults_of(schema: Schema, value: Mapping[str, Any]) -> dict[str, Any]:
    """The members with a default."""
    target: Schema = DATA["schemas"][schema["$ref"]] if "$ref" in schema else schema
    for choice in target.get("oneOf", []):
        if not problems_of(dict(value), choice):
            target = DATA["schemas"][choice["$ref"]] if "$ref" in choice else choice
            break
    properties: Mapping[str, Schema] = target.get("properties", {})
    copied: dict[str, Any] = json.loads(
        json.dumps({name: one["default"] for name, one in properties.items() if "default" in one})
    )
    return copied


def _join(path: str, name: str) -> str:
    return name if path == "" else f"{path}.{name}"
