"""scripts/test.py finds what test programs leave out, in the words of each kind of them."""

from xml.etree import ElementTree

import pytest

from scripts import test as runner


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("SKIPPED [2] tests/python/x.py:3: no tool", {"t: no tool": 2}),
        ("test_x (m.Case.test_x) ... skipped 'no valgrind'", {"t test_x (m.Case.test_x): 'no valgrind'": 1}),
        ("[  SKIPPED ] 3 tests.", {"t: some of its tests": 3}),
        ("threads: skipped, no threads", {"t threads: no threads": 1}),
        ("skipped: not installed", {"t: not installed": 1}),
        ("3 passed\n", {}),
    ],
)
def test_what_is_left_out_is_found(says: str, expected: dict[str, int]) -> None:
    suite = ElementTree.fromstring("<testsuite><testcase name='t'><system-out/></testcase></testsuite>")
    output = suite.find(".//system-out")
    assert output is not None
    output.text = f"a line\n{says}\nanother"
    assert runner.skips(suite) == expected


def test_a_whole_test_is_found_without_a_word() -> None:
    suite = ElementTree.fromstring("<testsuite><testcase name='t'><skipped/></testcase></testsuite>")
    assert runner.skips(suite) == {"t: no reason given": 1}
