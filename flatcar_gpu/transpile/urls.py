"""URLs and data URLs as far as Ignition looks into them, with the texts of what is wrong with them.

Source: Go's net/url (strict colons off, as for modules older than Go 1.26) and vincent-petithory/dataurl 1.0.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_PORT = re.compile(r"(:[0-9]*)?", re.ASCII)
# In a host only bytes beyond ASCII may be written with a percent sign, and the sign itself.
_BAD_HOST = re.compile(r"%(?![89A-Fa-f][0-9A-Fa-f]|25)|[\x00-\x20\\^`{|}@/?#]", re.ASCII)
_BAD_ZONE = re.compile(r"%(?![0-9A-Fa-f]{2})|[\\^`{|}@/?#]", re.ASCII)


class BadUrl(ValueError):
    """Not a URL that Go parses, or a data URL that the library refuses; the text is the one to show."""


@dataclass(frozen=True, slots=True)
class Url:
    scheme: str
    """In lower case."""
    opaque: str
    """What stands behind the scheme, if that does not begin with a slash."""
    query: str


def parse(text: str) -> Url:
    """The parts of a URL. Raises BadUrl where Go's url.Parse fails."""
    url, _, fragment = text.partition("#")
    if _CONTROL.search(url) or _BAD_ESCAPE.search(fragment) or url.startswith(":"):
        raise BadUrl("unable to parse url")
    match = _SCHEME.match(url)
    scheme = match[1].lower() if match else ""
    rest, _, query = url[match.end() if match else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, rest, query)
        if ":" in rest.partition("/")[0]:
            raise BadUrl("unable to parse url")
    path = rest
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
        if not _is_authority(authority):
            raise BadUrl("unable to parse url")
    if _BAD_ESCAPE.search(path):
        raise BadUrl("unable to parse url")
    return Url(scheme, "", query)


def _is_authority(authority: str) -> bool:
    userinfo, at, host = authority.rpartition("@")
    if at and (not _USERINFO.fullmatch(userinfo) or _BAD_ESCAPE.search(userinfo)):
        return False
    if host.startswith("["):
        address, bracket, port = host.rpartition("]")
        address, _, zone = address.partition("%25")
        return bool(bracket and _PORT.fullmatch(port)) and not (_BAD_HOST.search(address) or _BAD_ZONE.search(zone))
    colon = host.rfind(":")
    return bool(_PORT.fullmatch(host[colon:] if colon >= 0 else "")) and not _BAD_HOST.search(host)


def query_value(query: str, name: str) -> str | None:
    """The first value of `name` in a query string, None where it has none; pieces that Go skips are skipped."""
    for piece in query.split("&"):
        if not piece or ";" in piece or _BAD_ESCAPE.search(piece):
            continue
        key, _, value = piece.partition("=")
        if _unescaped(key) == name:
            return value
    return None


def _unescaped(text: str) -> str:
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), text.replace("+", " "))


_TOKEN = re.compile(r"[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]+", re.ASCII)
_QUOTED = re.compile(r'(?:[^"\\\x80-\U0010ffff]|\\[\x00-\x7f])*', re.DOTALL)
_DATA = re.compile(r"[!$%&'()*+,\-./0-9:;=?@A-Z_a-z~]*", re.ASCII)
_BASE64_DATA = re.compile(r"[A-Za-z0-9+/=]*", re.ASCII)
_MEDIA_TYPES = ("text", "image", "audio", "video", "application", "message", "multipart")


def check_data_url(text: str) -> None:
    """Raise BadUrl, with the library's text, where `text` is not a data URL that it decodes."""
    if not text.startswith("data:"):
        raise BadUrl("missing data prefix")
    at = _after_media_type(text, len("data:"))
    base64 = False
    while text[at : at + 1] == ";":
        at, base64 = _after_parameter(text, at + 1)
        if base64:
            break
    if at >= len(text):
        raise BadUrl("missing comma before data")
    if text[at] != ",":
        raise BadUrl("expected semicolon or comma")
    data = text[at + 1 :]
    if not (_BASE64_DATA if base64 else _DATA).fullmatch(data):
        raise BadUrl("invalid data character")
    if base64:
        _check_base64(data)
    else:
        _check_escapes(data)


def _after_media_type(text: str, at: int) -> int:
    """Where the media type, if there is one, ends."""
    if text[at : at + 1] in ("", ";", ","):
        return at
    type_ = _TOKEN.match(text, at)
    if type_ is None:
        raise BadUrl("invalid character after data prefix")
    slash = type_.end()
    if text[slash : slash + 1] != "/":
        raise BadUrl("missing media type slash" if slash == len(text) else "invalid character for media type")
    if not type_[0].startswith(_MEDIA_TYPES) and type_[0][:2] not in ("x-", "X-"):
        raise BadUrl("invalid media type")
    subtype = _TOKEN.match(text, slash + 1)
    end = subtype.end() if subtype else slash + 1
    if end == len(text):
        raise BadUrl("incomplete media type")
    if text[end] not in ";,":
        raise BadUrl("invalid character for media subtype")
    return end


def _after_parameter(text: str, at: int) -> tuple[int, bool]:
    """Where the parameter ends, and whether it is the `base64` that ends all parameters."""
    name = _TOKEN.match(text, at)
    end = name.end() if name else at
    following = text[end : end + 1]
    if name is None or not following:
        if following in ("", ",", "="):
            raise BadUrl("unterminated parameter sequence")
        raise BadUrl("invalid character for parameter attribute")
    if following == ",":
        if name[0] != "base64":
            raise BadUrl(f"expected base64, got {name[0]}")
        return end, True
    if following != "=":
        raise BadUrl("invalid character for parameter attribute")
    if text[end + 1 : end + 2] == '"':
        return _after_quoted(text, end + 2), False
    value = _TOKEN.match(text, end + 1)
    if value is None:
        raise BadUrl("missing comma before data" if end + 1 == len(text) else "invalid character for parameter value")
    if value.end() < len(text) and text[value.end()] not in ";,":
        raise BadUrl("invalid character for parameter value")
    if value.end() < len(text):
        _check_escapes(value[0])
    return value.end(), False


def _after_quoted(text: str, at: int) -> int:
    quoted = _QUOTED.match(text, at)
    end = quoted.end() if quoted else at
    following = text[end : end + 1]
    if following != '"':
        raise BadUrl("invalid character for parameter value" if following else "unclosed quoted string")
    return end + 1


def _check_base64(data: str) -> None:
    """Go's StdEncoding: groups of four, padded; the place of the error as Go counts it."""
    padding = data.find("=")
    digits = len(data) if padding < 0 else padding
    rest = digits % 4
    padded = digits + (4 - rest) % 4
    if padding < 0:
        wrong = digits - rest if rest else -1
    elif rest < 2:
        wrong = padding
    elif data[padding:padded] != "=" * (padded - padding):
        wrong = padding + 1
    else:
        wrong = padded if len(data) > padded else -1
    if wrong >= 0:
        raise BadUrl(f"illegal base64 data at input byte {wrong}")


def _check_escapes(data: str) -> None:
    match = _BAD_ESCAPE.search(data)
    if match is None:
        return
    if re.fullmatch("%[0-9A-Fa-f]?", data[match.start() :]):
        raise BadUrl("rfc2396: unexpected end of unescape sequence")
    # The library names the percent sign, not the character that is wrong.
    raise BadUrl("rfc2396: invalid char 0x25 in unescape sequence")
