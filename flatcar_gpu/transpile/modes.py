"""File modes: which ones people mean, and which they wrote in decimal by mistake."""

from __future__ import annotations

_READ, _WRITE, _EXECUTE = 4, 2, 1
_SETUID, _SETGID, _STICKY = 0o4000, 0o2000, 0o1000


def octal_reading(mode: int, *, directory: bool) -> int | None:
    """The mode that was meant by the decimal digits of `mode`, None where it can be meant as it is.

    644 is an odd mode (01204), but read as octal a usual one.
    """
    digits = str(mode)
    if not 0 <= mode <= 7777 or not set(digits) <= set("01234567"):
        return None
    octal = int(digits, 8)
    return octal if is_usual(octal, directory=directory) and not is_usual(mode, directory=directory) else None


def is_usual(mode: int, *, directory: bool) -> bool:
    """Whether people give files or directories such modes. Source: coreos/butane base/util/mode.go, by behaviour."""
    if mode == 0:
        return True
    classes = [mode & 7, mode >> 3 & 7, mode >> 6 & 7]
    anyone = classes[0] | classes[1] | classes[2]
    return _grows(classes) and bool(anyone & _READ) and (_usual_directory if directory else _usual_file)(mode, anyone)


def _grows(classes: list[int]) -> bool:
    """Others, group, user: each has the rights of the one before, nobody writes or runs what he cannot read."""
    earlier = 0
    for rights in classes:
        if earlier & ~rights or (rights & (_WRITE | _EXECUTE) and not rights & _READ):
            return False
        if rights & _EXECUTE and earlier & _READ and not earlier & _EXECUTE:
            return False
        earlier |= rights
    return True


def _usual_directory(mode: int, anyone: int) -> bool:
    if not anyone & _EXECUTE or mode & _SETUID:
        return False
    return not mode & (_SETGID | _STICKY) or bool(anyone & _WRITE)


def _usual_file(mode: int, anyone: int) -> bool:
    if mode & _STICKY:
        return False
    return not mode & (_SETUID | _SETGID) or (bool(anyone & _EXECUTE) and not mode & _WRITE)
