"""The test kit holds requests to the bearer rules of their routes, and handlers see the principal."""

from __future__ import annotations

import unittest

from members_program import admin, configuration, members, visitors
from svc_process import Bearer, DefinitionError, Endpoint, Grants, Principal, Refusal
from svc_process.bearer import bearer_rule
from svc_process.testing import MemoryService

ADA = Principal("ada", "https://login.example.com", "Ada", None, ("reader",), ("books:read",), "{}")


class BearerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = MemoryService(endpoints=[members, visitors], configuration=configuration)

    def test_a_request_without_a_principal_is_refused_where_a_token_is_asked_for(self) -> None:
        with self.assertRaises(Refusal) as refused:
            self.service.request("GET", "/members/admin")
        self.assertEqual(refused.exception.code, "UNAUTHENTICATED")

    def test_a_role_that_is_missing_is_refused_and_one_of_several_is_enough(self) -> None:
        with self.assertRaises(Refusal) as refused:
            self.service.request("GET", "/members/admin", principal=ADA)
        self.assertEqual(refused.exception.code, "FORBIDDEN")
        owner = Principal("eve", "https://login.example.com", None, None, ("owner",), (), "{}")
        self.assertEqual(self.service.request("GET", "/members/admin", principal=owner).status, 200)
        self.assertTrue(callable(admin))

    def test_a_route_without_a_rule_has_no_principal(self) -> None:
        self.assertEqual(self.service.request("GET", "/visitors/me").json(), {"isKnown": False})

    def test_a_rule_is_described_as_the_runtime_reads_it(self) -> None:
        rule = Bearer(roles=Grants.any("a", "b"), scopes=Grants.all("c"), forwards_token=True)
        self.assertEqual(
            bearer_rule(rule),
            {
                "roles": {"match": "any", "names": ["a", "b"]},
                "scopes": {"match": "all", "names": ["c"]},
                "forwardsToken": True,
            },
        )

    def test_what_is_no_rule_is_an_error_of_the_definition(self) -> None:
        with self.assertRaises(DefinitionError):
            Endpoint("/x", bearer=True)  # type: ignore[arg-type]
