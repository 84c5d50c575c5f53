"""Tests the components in memory, without a runtime. After every command the book is replayed from its events and compared."""

import unittest

from svc_process import Refusal
from svc_process.testing import MemoryService

from book import Lend, Lent, Loan, book, get, give_back, lend
from library import books


class LibraryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = MemoryService(entities=[book], endpoints=[books])

    def test_a_book_that_is_there_is_lent(self) -> None:
        self.assertEqual(self.service.call(lend, "dune", Lend("ada")), Loan("ada", 1))
        self.assertEqual(self.service.events(book, "dune"), [Lent("ada")])

    def test_a_book_that_somebody_has_is_not_lent(self) -> None:
        self.service.call(lend, "dune", Lend("ada"))
        with self.assertRaisesRegex(Refusal, "ada has it"):
            self.service.call(lend, "dune", Lend("bob"))

    def test_a_book_that_came_back_is_lent_again(self) -> None:
        self.service.call(lend, "dune", Lend("ada"))
        self.service.call(give_back, "dune")
        self.assertEqual(self.service.call(get, "dune"), Loan("", 1))

    def test_the_library_lends_over_http(self) -> None:
        answer = self.service.request("POST", "/books/dune/loan", body={"reader": "ada"})
        self.assertEqual(answer.json(), {"reader": "ada", "count": 1})
        self.assertEqual(self.service.request("DELETE", "/books/dune/loan").status, 204)


if __name__ == "__main__":
    unittest.main()
