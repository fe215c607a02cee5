"""What a plain YAML scalar is to go-yaml: its tag and its value."""

from __future__ import annotations

import re
from datetime import date

NULL, BOOL, INT, FLOAT, STR = "!!null", "!!bool", "!!int", "!!float", "!!str"
TIMESTAMP, MERGE, BINARY, MAP, SEQ = "!!timestamp", "!!merge", "!!binary", "!!map", "!!seq"

Value = str | int | float | bool | None

NULLS = frozenset(("", "~", "null", "Null", "NULL"))
MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)
MAX_UINT64 = 2**64 - 1

# The tags that resolution may check; any other tag is taken as it is, with the source text as value.
_RESOLVABLE = frozenset(("", STR, BOOL, INT, FLOAT, NULL, TIMESTAMP))

_WORDS: dict[str, tuple[str, Value]] = {
    **dict.fromkeys(NULLS, (NULL, None)),
    **dict.fromkeys(("true", "True", "TRUE"), (BOOL, True)),
    **dict.fromkeys(("false", "False", "FALSE"), (BOOL, False)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, float("nan"))),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (FLOAT, float("inf"))),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, float("-inf"))),
}
# Only these words mean a boolean where a boolean is asked for and a string stands (YAML 1.1).
BOOLEAN_WORDS = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}

_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_DOT_FLOAT = re.compile(r"\.[0-9]+([eE][-+]?[0-9]+)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[+-](\d\d):(\d\d)))"
    r"|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?))?",
    re.ASCII,
)
_BASES = {"0x": 16, "0b": 2, "0o": 8}
_DIGITS = {
    2: re.compile("[01]+"),
    8: re.compile("[0-7]+"),
    10: re.compile("[0-9]+"),
    16: re.compile("[0-9a-fA-F]+"),
}


class TagMismatch(Exception):
    """A scalar that its explicit tag does not fit; the text is go-yaml's."""


def resolve(tag: str, text: str) -> tuple[str, Value]:
    """Tag and value of the scalar `text` with the short tag `tag`, empty for none.

    Raises TagMismatch where the tag asks for something else.
    """
    if tag not in _RESOLVABLE:
        return tag, text
    found, value = (STR, text) if tag == STR else _resolve_plain(text, dates=tag in ("", TIMESTAMP))
    if tag in ("", found, STR):
        return found, value
    if tag == FLOAT and found == INT and isinstance(value, int):
        return FLOAT, float(value)
    raise TagMismatch(f"cannot decode {found} `{text}` as a {tag}")


def _resolve_plain(text: str, *, dates: bool) -> tuple[str, Value]:
    word = _WORDS.get(text)
    if word is not None:
        return word
    first = text[0]
    if first == ".":
        return (FLOAT, float(text)) if _DOT_FLOAT.fullmatch(text) else (STR, text)
    if first not in "+-0123456789":
        return STR, text
    if dates and is_timestamp(text):
        return TIMESTAMP, text
    plain = text.replace("_", "")
    number = parse_integer(plain)
    if number is not None:
        return INT, number
    if _FLOAT.fullmatch(plain) and float(plain) not in (float("inf"), float("-inf")):
        return FLOAT, float(plain)
    return STR, text


def parse_integer(text: str) -> int | None:
    """Go's ParseInt with base 0 in 64 bits, else its ParseUint; None where both fail."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    base = _BASES.get(digits[:2].lower())
    if base is not None:
        digits = digits[2:]
    elif len(digits) > 1 and digits[0] == "0":
        base, digits = 8, digits[1:]
    else:
        base = 10
    if not _DIGITS[base].fullmatch(digits) or len(digits) > 64 + len(digits) - len(digits.lstrip("0")):
        return None
    number = int(sign + digits, base)
    return number if MIN_INT64 <= number <= (MAX_INT64 if sign else MAX_UINT64) else None


def is_timestamp(text: str) -> bool:
    """Whether go-yaml takes `text` for a date or a date with a time."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return False
    year, month, day, *times = (int(group) if group else 0 for group in match.groups())
    hour, minute, second, zone_hour, zone_minute = (
        times[0] or times[5],
        times[1] or times[6],
        times[2] or times[7],
        *times[3:5],
    )
    if hour > 23 or minute > 59 or second > 59 or zone_hour > 24 or zone_minute > 60:
        return False
    try:
        # Go's year 0 is a leap year, which Python's calendar lacks; 2000 is one, too.
        date(year or 2000, month, day)
    except ValueError:
        return False
    return True
