"""Runs the unit tests of the SDK, and prints one line for each."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
suite = unittest.defaultTestLoader.discover(str(here.parent / "unit"), pattern="test_*.py")
result = unittest.TextTestRunner(verbosity=2, stream=sys.stderr).run(suite)
print(f"{result.testsRun} run, {len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
