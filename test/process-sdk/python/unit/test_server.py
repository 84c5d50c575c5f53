"""A process that serves lets its event loop run beside computing handlers, and its functions name their options."""

from __future__ import annotations

import inspect
import sys
import typing
import unittest
from typing import Any
from unittest import mock

from svc_process import Endpoint, server


class Serving(unittest.TestCase):
    def test_computing_threads_let_the_event_loop_run_soon(self) -> None:
        def ended(work: Any) -> None:
            found.append(sys.getswitchinterval())
            work.close()

        found: list[float] = []
        before = sys.getswitchinterval()
        try:
            with mock.patch("asyncio.run", ended), mock.patch.object(server, "serve_async", mock.Mock()):
                server.serve()
        finally:
            sys.setswitchinterval(before)
        self.assertLessEqual(found[0], 0.0006)

    def test_serve_has_the_options_of_serve_async(self) -> None:
        self.assertEqual(inspect.signature(server.serve).parameters, inspect.signature(server.serve_async).parameters)

    def test_the_options_of_a_route_are_those_of_its_registration(self) -> None:
        options = set(inspect.signature(Endpoint.route).parameters) - {"self", "method", "path"}
        for function in (Endpoint.get, Endpoint.post, Endpoint.put, Endpoint.patch, Endpoint.delete):
            (hint,) = typing.get_args(typing.get_type_hints(function)["options"])
            self.assertEqual(set(typing.get_type_hints(hint)), options)


if __name__ == "__main__":
    unittest.main()
