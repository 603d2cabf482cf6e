"""Decides with Z3 where two conditions differ: a second implementation of the language, in the theory of values.

Reads one JSON object per line: `before` and `after` (expressions of the intermediate form), and `request` (whether
attributes are those of a request, or may be anything). Writes for each one JSON object: `gained` and `lost`, each "sat",
"unsat" or "unknown".
"""

import json
import sys

from z3 import (
    And, Array, Bool, BoolSort, BoolVal, Const, Datatype, EnumSort, If, Implies, Not, Or, PrefixOf, RealSort, RealVal,
    Select, Solver, StringSort, StringVal, SuffixOf, sat, unsat,
)  # fmt: skip

Verdict, (TRUE, FALSE, UNKNOWN) = EnumSort("Verdict", ["T", "F", "U"])

_value = Datatype("Value")
for _name in ("missing", "unavailable", "null", "composite", "list"):
    _value.declare(_name)
# a number that is not exact, or a text that is not well-formed: it exists, and equals nothing
_value.declare("unusable")
_value.declare("boolean", ("truth", BoolSort()))
_value.declare("number", ("real", RealSort()))
_value.declare("text", ("chars", StringSort()))
Value = _value.create()

TIMEOUT_MS = 5000


def verdict(true, unknown=BoolVal(False)):
    return If(unknown, UNKNOWN, If(true, TRUE, FALSE))


def negation(one):
    return If(one == TRUE, FALSE, If(one == FALSE, TRUE, UNKNOWN))


def conjunction(all_of):
    return If(Or([one == FALSE for one in all_of]), FALSE, If(And([one == TRUE for one in all_of]), TRUE, UNKNOWN))


def disjunction(all_of):
    return If(Or([one == TRUE for one in all_of]), TRUE, If(And([one == FALSE for one in all_of]), FALSE, UNKNOWN))


def has_no_value(value):
    return Or(Value.is_missing(value), Value.is_unavailable(value), Value.is_unusable(value))


def is_compound(value):
    return Or(Value.is_list(value), Value.is_composite(value))


def same_type(one, other):
    return Or([And(test(one), test(other)) for test in (Value.is_boolean, Value.is_number, Value.is_text)])


def equality(one, other):
    has_null = Or(Value.is_null(one), Value.is_null(other))
    return verdict(
        one == other,
        Or(has_no_value(one), has_no_value(other), And(Not(has_null), Not(same_type(one, other)))),
    )


def order(op, one, other):
    numbers = And(Value.is_number(one), Value.is_number(other))
    texts = And(Value.is_text(one), Value.is_text(other))
    reals = (Value.real(one), Value.real(other))
    chars = (Value.chars(one), Value.chars(other))
    below = {
        "<": lambda pair: pair[0] < pair[1],
        "<=": lambda pair: pair[0] <= pair[1],
        ">": lambda pair: pair[1] < pair[0],
        ">=": lambda pair: pair[1] <= pair[0],
    }[op]
    return verdict(If(numbers, below(reals), below(chars)), Not(Or(numbers, texts)))


class Entries:
    """The entries of a list: which values it contains, and which types it has entries of."""

    def __init__(self, name):
        self.contents = Array(f"{name} contains", Value, BoolSort())
        self.texts, self.numbers, self.compounds, self.unusables = (
            Bool(f"{name} has {kind}") for kind in ("texts", "numbers", "compounds", "unusables")
        )
        # meaningful only for a query parameter or header
        self.one = Bool(f"{name} has one entry")
        self.only = Const(f"the entry of {name}", Value)
        self.facts = [Not(Or(Value.is_missing(self.only), Value.is_unavailable(self.only)))]

    def has(self, value):
        return Select(self.contents, value)

    def booleans(self):
        return Or(self.has(Value.boolean(True)), self.has(Value.boolean(False)))

    def is_empty(self):
        kinds = (self.texts, self.numbers, self.compounds, self.unusables, self.booleans(), self.has(Value.null))
        return Not(Or(kinds))

    def search(self, value):
        self.facts += [
            Implies(And(self.has(value), Value.is_text(value)), self.texts),
            Implies(And(self.has(value), Value.is_number(value)), self.numbers),
        ]
        others = Or(
            self.unusables,
            And(
                Not(Value.is_null(value)),
                Or(
                    self.compounds,
                    And(self.texts, Not(Value.is_text(value))),
                    And(self.numbers, Not(Value.is_number(value))),
                    And(self.booleans(), Not(Value.is_boolean(value))),
                ),
            ),
        )
        # an entry that is null differs from everything that has a value
        several = If(
            self.is_empty(),
            FALSE,
            If(
                has_no_value(value),
                UNKNOWN,
                If(And(Not(is_compound(value)), self.has(value)), TRUE, If(others, UNKNOWN, FALSE)),
            ),
        )
        return If(self.one, equality(value, self.only), several)


class World:
    """All attributes, each made when it is first read."""

    def __init__(self, is_request):
        self.is_request = is_request
        self.values = {}
        self.entries = {}
        self.facts = []

    def value(self, path):
        if not path:
            return Value.missing
        if path not in self.values:
            name = json.dumps(path)
            made = Const(name, Value)
            self.values[path] = made
            if self.is_request:
                self.facts += self.request_facts(path, made)
        return self.values[path]

    def entries_of(self, path):
        if path not in self.entries:
            name = json.dumps(path)
            made = Entries(name)
            self.entries[path] = made
            if not is_sent(path):
                self.facts.append(Not(made.one))
            elif self.is_request:
                others = (made.numbers, made.compounds, made.unusables, made.booleans(), made.has(Value.null))
                self.facts += [Not(Or(others)), Value.is_text(made.only)]
        return self.entries[path]

    def operand(self, path):
        value = self.value(path)
        if not is_sent(path):
            return value
        entries = self.entries_of(path)
        return If(Value.is_list(value), If(entries.one, entries.only, Value.missing), value)

    def request_facts(self, path, value):
        if is_sent(path):
            return [Or(Value.is_missing(value), Value.is_list(value))]
        if path == ("user", "id"):
            return [Or(Value.is_missing(value), Value.is_text(value))]
        if path == ("env", "hour"):
            return [Or([value == Value.number(RealVal(hour)) for hour in range(24)])]
        if path == ("env", "weekday"):
            days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
            return [Or([value == Value.text(StringVal(day)) for day in days])]
        return []

    def all_facts(self):
        """What holds for all attributes: those read, and the ones above them that are read as well."""
        facts = list(self.facts)
        for path, value in self.values.items():
            for length in range(1, len(path)):
                above = self.values.get(path[:length])
                if above is not None:
                    facts.append(Implies(Value.is_unavailable(above), Value.is_unavailable(value)))
                    facts.append(
                        Implies(
                            Not(Or(Value.is_unavailable(above), Value.is_composite(above))), Value.is_missing(value)
                        )
                    )
        for entries in self.entries.values():
            facts += entries.facts
        return facts


def is_sent(path):
    return len(path) == 3 and path[0] == "request" and path[1] in ("query", "headers")


def literal(value):
    if value is None:
        return Value.null
    if isinstance(value, bool):
        return Value.boolean(value)
    if isinstance(value, str):
        return Value.text(StringVal(value))
    return Value.number(RealVal(repr(value)))


def operand(expression, world):
    op = expression["op"]
    if op == "attribute":
        return world.operand(tuple(expression["path"]))
    if op == "literal":
        return literal(expression["value"])
    if op == "list":
        return Value.list
    found = condition(expression, world)
    return If(found == UNKNOWN, Value.missing, Value.boolean(found == TRUE))


def condition(expression, world):
    op = expression["op"]
    if op in ("and", "or"):
        args = [condition(arg, world) for arg in expression["args"]]
        if not args:
            return UNKNOWN
        return conjunction(args) if op == "and" else disjunction(args)
    if op == "not":
        return negation(condition(expression["arg"], world))
    if op in ("==", "!="):
        found = equality(operand(expression["left"], world), operand(expression["right"], world))
        return found if op == "==" else negation(found)
    if op in ("<", "<=", ">", ">="):
        return order(op, operand(expression["left"], world), operand(expression["right"], world))
    if op in ("startsWith", "endsWith"):
        target, arg = operand(expression["target"], world), operand(expression["arg"], world)
        test = PrefixOf if op == "startsWith" else SuffixOf
        are_texts = And(Value.is_text(target), Value.is_text(arg))
        return verdict(test(Value.chars(arg), Value.chars(target)), Not(are_texts))
    if op == "in":
        return membership(expression, world)
    if op == "exists":
        value = world.value(tuple(expression["path"]))
        return verdict(Not(Value.is_missing(value)), Value.is_unavailable(value))
    value = operand(expression, world)
    return verdict(Value.truth(value), Not(Value.is_boolean(value)))


def membership(expression, world):
    value, searched = operand(expression["value"], world), expression["list"]
    if searched["op"] == "list":
        if not searched["items"]:
            return FALSE
        return disjunction([equality(value, operand(item, world)) for item in searched["items"]])
    if searched["op"] != "attribute":
        return UNKNOWN
    path = tuple(searched["path"])
    is_list = Value.is_list(world.value(path))
    return If(is_list, world.entries_of(path).search(value), UNKNOWN)


def only_of(one, other, is_request):
    world = World(is_request)
    goals = [condition(one, world) == TRUE, condition(other, world) != TRUE]
    solver = Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(goals + world.all_facts())
    found = solver.check()
    return "sat" if found == sat else "unsat" if found == unsat else "unknown"


for line in sys.stdin:
    asked = json.loads(line)
    before, after, is_request = asked["before"], asked["after"], asked["request"]
    answer = {"gained": only_of(after, before, is_request), "lost": only_of(before, after, is_request)}
    print(json.dumps(answer), flush=True)
