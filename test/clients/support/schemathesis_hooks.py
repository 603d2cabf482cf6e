"""Gives Schemathesis ids of things that exist: made up ones lead to nothing but 404. And takes a sample of its cases."""

import json
import os
import sys

import schemathesis
from schemathesis.generation.meta import TestPhase

# path parameters by the beginning of the path, members of bodies by their name
KNOWN = json.loads(os.environ["GATEHOUSE_KNOWN_IDS"])
# how many cases of one kind an operation is tried with, in the phase that goes through them one by one; without it all
MOST_OF_A_KIND = int(os.environ.get("GATEHOUSE_CASES_OF_A_KIND", sys.maxsize))
taken = {}


@schemathesis.hook
def filter_case(context, case):
    if case.meta is None or case.meta.phase.name != TestPhase.COVERAGE:
        return True
    data = case.meta.phase.data
    kind = (case.operation.label, data.scenario, data.parameter_location, data.parameter)
    taken[kind] = taken.get(kind, 0) + 1
    return taken[kind] <= MOST_OF_A_KIND


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
