"""Results as JUnit XML, the form in which CI systems show tests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from flatcar_gpu.images.lookup import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flatcar_gpu.images.lookup import Lookup

# A missing image is a failed test; where nobody can tell, the test itself did not come off.
_ELEMENTS = {State.MISSING: "failure", State.UNFIT: "failure", State.DENIED: "error", State.UNKNOWN: "error"}


def junit_xml(results: Sequence[tuple[str, Lookup]]) -> bytes:
    """One test case for each result: the name of what the image is for, and what the registry says."""
    counts: dict[str, str] = {"tests": str(len(results))} | {
        f"{element}s": str(sum(_ELEMENTS.get(lookup.state) == element for _, lookup in results))
        for element in ("failure", "error")
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "flatcar-gpu image check"} | counts)
    for name, lookup in results:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=str(lookup.reference))
        if element := _ELEMENTS.get(lookup.state):
            found = ElementTree.SubElement(case, element, type=str(lookup.state), message=lookup.message)
            found.text = lookup.hint or None
        else:
            ElementTree.SubElement(case, "system-out").text = f"{lookup.digest} {' '.join(lookup.platforms)}".rstrip()
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
