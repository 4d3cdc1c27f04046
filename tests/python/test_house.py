"""scripts/house.py counts what it says it counts, and fails where it says so."""

from pathlib import Path

import pytest

from scripts import house

CATALOGUE = """#include "algorithms/algorithms.h"
constexpr Algorithm kCatalogue[] = {
    {set_of(bcast), "chain", bcast::chain, kSegment},
};
"""
CHAIN = """namespace unisono::bcast {

/// Not counted.
void chain(Builder& b) {
  for (int i = 0; i < 3; ++i) {
    b.send(i);
  }
}

}  // namespace unisono::bcast
"""
TABLE = """    {neighbor_alltoall, "neighbor_alltoall", false},
"""
KERNELS = """void gather(Team& team, int root);
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    files = {
        "src/algorithms/catalogue.cpp": CATALOGUE,
        "src/algorithms/bcast/chain.cpp": CHAIN,
        "src/node/kernels.h": KERNELS,
        "src/schedule/semantics.h": TABLE,
        "src/node/gather.cpp": "void gather(Team& team, int root) {\n  copy();\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("sys.argv", ["house.py"])
    return tmp_path


def test_a_small_tree(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert house.main() == 0
    output = capsys.readouterr().out
    assert "longest function: 5 lines (src/algorithms/bcast/chain.cpp:chain)" in output
    assert "longest file: 10 lines (src/algorithms/bcast/chain.cpp)" in output
    assert "files of an algorithm: at most 2 (bcast::chain; 1 looked at)" in output
    assert "files of a kernel: at most 2 (node::gather; 1 looked at)" in output


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("src/algorithms/list.h", "auto f = bcast::chain;\n", "bcast::chain is written down in 3 files"),
        ("src/one.cpp", "case neighbor_alltoall:\n", "neighbor_alltoall is written down in 2 files"),
        ("src/base/long.cpp", "int a;\n" * 501, "src/base/long.cpp has 501 lines, 500 are enough"),
        ("src/base/f.cpp", "void f() {\n" + "  g();\n" * 60 + "}\n", "f.cpp:f has 62 lines, 60 are enough"),
        ("python/f.py", "def f():\n" + "    g()\n" * 60, "python/f.py:f has 61 lines, 60 are enough"),
    ],
)
def test_what_is_too_much(
    tree: Path, name: str, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    assert house.main() == 1
    assert complaint in capsys.readouterr().out


def test_a_kernel_in_too_many_files(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tree / "src" / f"{name}.cpp").write_text("auto f = node::gather;\n")
    assert house.main() == 1
    assert "node::gather is written down in 4 files, 3 are enough" in capsys.readouterr().out
