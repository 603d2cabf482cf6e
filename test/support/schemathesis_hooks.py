"""Gives Schemathesis ids of things that exist: made up ones lead to nothing but 404."""

import json
import os

import schemathesis

# path parameters by the beginning of the path, members of bodies by their name
KNOWN = json.loads(os.environ["GATEHOUSE_KNOWN_IDS"])


@schemathesis.hook
def before_call(context, case, kwargs):
    meta = case.meta
    modes = {location.value: part.mode for location, part in meta.components.items()} if meta else {}
    if case.path_parameters and not negative(modes, "path"):
        case.path_parameters = {**case.path_parameters, **known_path(case)}
    if isinstance(case.body, dict) and not negative(modes, "body"):
        members = KNOWN["body"]
        given = {name: members[name] for name in case.body if name in members and case.body[name]}
        if given:
            case.body = {**case.body, **given}


def negative(modes, location):
    return location in modes and modes[location].is_negative


def known_path(case):
    # what is deleted is gone for all that comes later, so that it has things of its own
    pool = KNOWN["deletable" if case.method.upper() == "DELETE" else "kept"]
    known = {}
    for beginning, parameters in pool.items():
        if case.path.startswith(beginning):
            known.update(parameters)
    return {name: value for name, value in known.items() if name in case.path_parameters}
