"""Checks Kubernetes resources against the schemas of their kinds.

Standard input: {"resources": [...], "definitions": [CustomResourceDefinition, ...]}. Prints a list of errors, as JSON. A field that
a schema does not name is an error, although an API server only drops it.
"""

import json
import os
import sys

import jsonschema

VERSION = "v1.34.0-local-strict"


def closed(schema, root=False):
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    is_open = not root and (
        inner.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in inner
    )
    if inner.get("type") == "object" and "properties" in inner and not is_open:
        inner["additionalProperties"] = False
    return inner


def custom(definitions):
    for definition in definitions:
        spec = definition["spec"]
        for version in spec["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"], root=True)
            # the API server's own, in every resource
            schema["properties"].update(apiVersion={}, kind={}, metadata={"type": "object"})
            yield f"{spec['group']}/{version['name']} {spec['names']['kind']}", jsonschema.Draft7Validator(schema)


def builtin(folder):
    with open(os.path.join(folder, "_definitions.json"), encoding="utf-8") as file:
        definitions = json.load(file)["$defs"]
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", []):
            version = "/".join(part for part in (kind["group"], kind["version"]) if part)
            schema = {"$ref": f"#/$defs/{name}", "$defs": definitions}
            yield f"{version} {kind['kind']}", jsonschema.Draft7Validator(schema)


def main():
    asked = json.load(sys.stdin)
    package = next(path for path in sys.path if os.path.isdir(os.path.join(path, "kubernetes_validate")))
    folder = os.path.join(package, "kubernetes_validate", "kubernetes-json-schema", VERSION)
    kinds = {**dict(builtin(folder)), **dict(custom(asked["definitions"]))}
    errors = []
    for resource in asked["resources"]:
        name = f"{resource['apiVersion']} {resource['kind']}"
        if name not in kinds:
            errors.append(f"{name}: no such kind")
            continue
        for error in kinds[name].iter_errors(resource):
            place = "/".join(str(part) for part in error.absolute_path)
            errors.append(f"{name} {resource['metadata']['name']}: {place}: {error.message[:300]}")
    json.dump(errors, sys.stdout)


main()
