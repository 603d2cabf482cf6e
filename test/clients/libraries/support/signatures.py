"""Reads a JSON list of [x, y, message, signature], all in hexadecimal. Prints which signatures are good, and whether it was fast."""

import json
import sys

from gatehouse_access._es256 import IS_FAST, verify_es256

good = [
    verify_es256((int(x, 16), int(y, 16)), bytes.fromhex(message), bytes.fromhex(signature))
    for x, y, message, signature in json.load(sys.stdin)
]
print(json.dumps({"fast": IS_FAST, "good": good}))
