"""Catalogues: what registers itself is found by name, and what goes wrong on the way says where."""

from __future__ import annotations

import doctest
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import engine.catalog
from engine.catalog import Catalog, did_you_mean
from engine.errors import ConfigurationException

SHADES: Catalog[int] = Catalog("shade", package="")
SUGGESTIONS = [
    ("queuName", ["queueName", "transactionMode"], "; did you mean queueName?"),
    ("QUEUENAME", ["queueName"], "; did you mean queueName?"),
    ("SUBSTRNG", ["SUBSTRING", "STRING"], "; did you mean SUBSTRING?"),
    ("abcdefgxyz", ["abcdefghij"], "; did you mean abcdefghij?"),
    ("abcdefwxyz", ["abcdefghij"], ""),
    ("x", ["queueName"], ""),
    ("", ["queueName"], ""),
    ("queueName", [], ""),
    ("trace", ["Trace", "TRACE"], "; did you mean Trace?"),
]


@pytest.mark.parametrize(("name", "known", "phrase"), SUGGESTIONS)
def test_a_close_name_is_suggested(name: str, known: list[str], phrase: str) -> None:
    """A name is suggested where seven parts in ten agree, whatever the case of letters, and none where fewer do."""
    assert phrase == did_you_mean(name, known)


def test_two_things_of_one_name_are_refused() -> None:
    """A name that is taken is refused to another thing, and given again to the same one."""
    colours: Catalog[int] = Catalog("colour", package="")
    assert colours.register("red", "rouge")(1000) == 1000
    colours.register("red")(colours.find("red"))
    with pytest.raises(ConfigurationException, match="two colours called red: rename one"):
        colours.register("red")(2000)
    assert colours.find("rouge") == 1000


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    """What is not there is None to get, and an error to find."""
    colours: Catalog[int] = Catalog("colour", package="")
    colours.register("green", "blue")(1)
    assert colours.get("gren") is None
    with pytest.raises(ConfigurationException, match=r"no colour called gren; did you mean green\?$") as error:
        colours.find("gren")
    assert error.value.number == 2066
    assert list(colours) == ["blue", "green"]


def package(folder: Path, name: str, **modules: str) -> str:
    """A package of modules, each given as its text, under a name that no other test uses."""
    (folder / name).mkdir()
    for module, text in {"__init__": "", **modules}.items():
        (folder / name / f"{module}.py").write_text(text, "utf-8")
    return name


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which packages can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_package_is_imported_at_the_first_question(importable: Path) -> None:
    """Nothing is imported until a name is asked for; then all modules are, in the order of their names."""
    text = "import sys; sys.modules['catalogue_order'].append(__name__)"
    name = package(importable, "loaded_late", beta=text, alpha=text)
    order: list[str] = []
    sys.modules["catalogue_order"] = order  # type: ignore[assignment]  # a list will do
    try:
        catalog: Catalog[int] = Catalog("thing", package=name)
        assert order == []
        assert catalog.get("nothing") is None
        assert list(catalog) == []
        assert order == ["loaded_late.alpha", "loaded_late.beta"]
    finally:
        del sys.modules["catalogue_order"]


BROKEN = [
    ("import no_such_module_at_all", "No module named 'no_such_module_at_all'"),
    ("1 / 0", "division by zero"),
    ("def (", "invalid syntax"),
]


@pytest.mark.parametrize(("text", "why"), BROKEN, ids=["import", "run", "syntax"])
def test_a_module_that_cannot_be_imported_is_named(importable: Path, text: str, why: str) -> None:
    """One broken module makes every question an error that names it, the second no less than the first."""
    name = package(
        importable, f"broken_{text[:3].strip().replace(' ', '_').replace('/', '')}_{len(text)}", alpha="", broken=text
    )
    catalog: Catalog[int] = Catalog("thing", package=name)
    for _ in range(2):
        with pytest.raises(ConfigurationException, match=rf"{name}\.broken cannot be loaded, .*things.*{why}"):
            catalog.find("anything")
    with pytest.raises(ConfigurationException, match=rf"{name}\.broken"):
        list(catalog)


def test_a_package_that_is_not_there_is_named() -> None:
    """A catalogue over no package says which one."""
    catalog: Catalog[int] = Catalog("thing", package="no_such_package_at_all")
    with pytest.raises(ConfigurationException, match="no_such_package_at_all cannot be loaded"):
        catalog.get("anything")


def test_the_examples_run() -> None:
    """What the module shows is what it does."""
    assert doctest.testmod(engine.catalog).failed == 0


def test_a_package_that_another_thread_imports_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is asked for while the package is on its way is found there, as by who asked first."""
    (tmp_path / "slow_shades").mkdir()
    (tmp_path / "slow_shades" / "__init__.py").write_text("")
    (tmp_path / "slow_shades" / "grey.py").write_text(
        "import time\nfrom tests.engine import test_catalog\ntime.sleep(0.3)\ntest_catalog.SHADES.register('grey')(7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(f"{__name__}.SHADES", Catalog[int]("shade", package="slow_shades"))
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(SHADES.find, "grey") for _ in range(2)]
        assert [7, 7] == [one.result(20) for one in asked]
