"""Reads a JSON list of [x, y, message, signature], all in hexadecimal, and prints for each whether the signature is good."""

import json
import sys

from gatehouse_access._ecdsa import verify_es256

print(
    json.dumps(
        [
            verify_es256((int(x, 16), int(y, 16)), bytes.fromhex(message), bytes.fromhex(signature))
            for x, y, message, signature in json.load(sys.stdin)
        ]
    )
)
