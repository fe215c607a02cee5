"""What YAML and JSON texts are read into: a tree of nodes with their places."""

from __future__ import annotations


class YamlError(Exception):
    """The text is not YAML that go-yaml reads.

    `str(error)` is go-yaml's text (`yaml: line 4: …`), `problem` that without the place, `line` and `column` the true
    place from 1 on, 0 where unknown.
    """

    def __init__(self, problem: str, line: int = 0, column: int = 0, *, where: str = "") -> None:
        super().__init__(f"yaml: {where}{problem}")
        self.problem = problem
        self.line = line
        self.column = column


class Node:
    """A place in the document; `line` and `column` count from 1, 0 for trees that never were text."""

    __slots__ = ("column", "line", "tag")

    tag: str
    """The short tag (`!!str`, `!own`) as written, empty where none is."""


class Scalar(Node):
    __slots__ = ("plain", "value")

    def __init__(self, value: str, plain: bool, tag: str, line: int, column: int) -> None:
        self.value = value
        self.plain = plain
        self.tag = tag
        self.line = line
        self.column = column


class Mapping(Node):
    __slots__ = ("content",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        self.content: list[AnyNode] = []
        """Keys and values by turns."""
        self.tag = tag
        self.line = line
        self.column = column


class Sequence(Node):
    __slots__ = ("content",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        self.content: list[AnyNode] = []
        self.tag = tag
        self.line = line
        self.column = column


class Alias(Node):
    __slots__ = ("target", "value")

    def __init__(self, value: str, target: AnyNode, line: int, column: int) -> None:
        self.value = value
        self.target = target
        self.tag = ""
        self.line = line
        self.column = column


AnyNode = Scalar | Mapping | Sequence | Alias
