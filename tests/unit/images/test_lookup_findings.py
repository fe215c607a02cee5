from __future__ import annotations

from flatcar_gpu.images.findings import BUILD, findings
from flatcar_gpu.images.lookup import Lookup, State
from flatcar_gpu.images.reference import parse_reference

ONE, TWO = parse_reference("nvcr.io/nvidia/driver:1"), parse_reference("nvcr.io/nvidia/driver:2")


def test_what_is_there_is_no_finding() -> None:
    assert len(findings([Lookup(ONE, State.PRESENT, "sha256:")])) == 0


def test_the_same_cause_is_said_once_with_the_number_of_images() -> None:
    down = [Lookup(reference, State.UNKNOWN, message="nvcr.io is down", hint="wait") for reference in (ONE, TWO, TWO)]
    (problem,) = findings(down)
    assert (problem.message, problem.hint) == ("nvcr.io is down (2 images)", "wait")


def test_each_missing_image_is_a_finding_with_a_way_out() -> None:
    missing = [
        Lookup(ONE, State.MISSING, message="1 is missing"),
        Lookup(TWO, State.MISSING, message="2", hint="has 3"),
    ]
    first, second = findings(missing)
    assert (first.message, first.hint) == ("1 is missing", BUILD)
    assert second.hint == f"has 3; {BUILD}"
