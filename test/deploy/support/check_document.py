"""Checks one document against a JSON schema.

Standard input: {"schema": {...}, "document": {...}}. Prints a list of errors, as JSON.
"""

import json
import sys

import jsonschema

asked = json.load(sys.stdin)
validator = jsonschema.validators.validator_for(asked["schema"])(asked["schema"])
errors = [
    f"{'/'.join(str(part) for part in error.absolute_path)}: {error.message[:300]}"
    for error in validator.iter_errors(asked["document"])
]
json.dump(errors, sys.stdout)
