"""scripts/test.py: a test that its surroundings made fail runs once more, any other failure is one."""

from pathlib import Path
from types import ModuleType

import pytest

from scripts import test

MESSAGE = "The PMIx server's listener thread failed to start. We cannot"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.setattr(test, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["test.py"])
    return test


def suite(build: Path, **scripts: str) -> None:
    """A build directory of tests by name, each a script of the shell."""
    build.mkdir()
    lines = [f'add_test([[{name}]] "sh" "-c" [[{script}]])' for name, script in scripts.items()]
    (build / "CTestTestfile.cmake").write_text("\n".join(lines))


def fails_first(folder: Path, message: str) -> str:
    return f'[ -e {folder}/was ] || {{ touch {folder}/was; echo "{message}"; exit 1; }}'


@pytest.mark.parametrize("message", [MESSAGE, "unisono: network: not measured, messages came too unevenly"])
def test_a_failure_by_the_surroundings(
    runner: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], message: str
) -> None:
    suite(tmp_path / "build", good="true", shaken=fails_first(tmp_path, message))
    assert runner.main() == 0
    out = capfd.readouterr().out
    assert "shaken: no launcher started" in out
    assert out.endswith("\n2 passed, 0 failed\n")


def test_it_has_one_more_chance(
    runner: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    suite(tmp_path / "build", good="true", never=f'echo "{MESSAGE}"; exit 1')
    assert runner.main() != 0
    assert capfd.readouterr().out.endswith("\n1 passed, 1 failed\n")


def test_other_failures_stay(runner: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    suite(tmp_path / "build", good="true", other=fails_first(tmp_path, "a wrong sum"))
    assert runner.main() != 0
    out = capfd.readouterr().out
    assert "once more" not in out
    assert out.endswith("\n1 passed, 1 failed\n")


def test_what_is_left_out_the_second_time_is_counted(
    runner: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    script = fails_first(tmp_path, MESSAGE) + "; echo 'skipped: no reason'"
    suite(tmp_path / "build", launched=script)
    assert runner.main() != 0
    assert "1 skipped" in capfd.readouterr().out
