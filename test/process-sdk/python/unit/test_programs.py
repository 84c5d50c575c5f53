"""The programs of the template, the examples and the tests have type hints that Python can read."""

from __future__ import annotations

import importlib.util
import sys
import typing
import unittest
from pathlib import Path
from unittest import mock

import svc_process.server

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = ("cli/template/process-python", "examples/12-process-python", "bench/process", "test/process-sdk/python/support")


def hints_of_module(file: Path) -> dict[str, object]:
    """Imports a program, which serves nothing here, and returns the types of its variables."""
    spec = importlib.util.spec_from_file_location(f"hints_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = [str(file.parent), *sys.path]
    with mock.patch.dict(sys.modules, {spec.name: module}), mock.patch.object(sys, "path", path), mock.patch("svc_process.serve"):
        spec.loader.exec_module(module)
        return typing.get_type_hints(module, include_extras=True)


class Programs(unittest.TestCase):
    def test_the_types_of_their_variables_exist(self) -> None:
        files = [file for folder in FOLDERS for file in (ROOT / folder).glob("*.py") if file.name != "run_tests.py"]
        self.assertGreater(len(files), len(FOLDERS))
        self.assertTrue(callable(svc_process.server.serve))
        for file in sorted(files):
            with self.subTest(file=str(file.relative_to(ROOT))):
                hints_of_module(file)


if __name__ == "__main__":
    unittest.main()
