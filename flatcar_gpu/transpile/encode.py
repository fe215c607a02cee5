"""An Ignition tree as Go's encoding/json writes it."""

from __future__ import annotations

import json
import re
from typing import Any

_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_SHORT_ESCAPE = re.compile(r"\\(.)")
_LONG_ESCAPES = {"b": r"\u0008", "f": r"\u000c"}
# None of these stands in JSON outside of strings, so the finished text can be searched for them.
_ESCAPED = {
    "<": r"\u003c",
    ">": r"\u003e",
    "&": r"\u0026",
    "\u2028": r"\u2028",
    "\u2029": r"\u2029",
}


def encode(config: Any, pretty: bool = False) -> bytes:
    """JSON text of `config` (dicts in the order of their keys, lists, strings, integers, booleans) and one LF.

    Bytes in strings that are not UTF-8 (as surrogates, the way errors="surrogateescape" makes them) become `\\ufffd`
    each. Pretty is two spaces of indentation.
    """
    if pretty:
        text = json.dumps(config, ensure_ascii=False, check_circular=False, indent=2)
    else:
        text = json.dumps(config, ensure_ascii=False, check_circular=False, separators=(",", ":"))
    for character, escape in _ESCAPED.items():
        if character in text:
            text = text.replace(character, escape)
    if r"\b" in text or r"\f" in text:
        text = _SHORT_ESCAPE.sub(lambda match: _LONG_ESCAPES.get(match[1], match[0]), text)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return _INVALID_BYTE.sub(r"\\ufffd", text).encode() + b"\n"
