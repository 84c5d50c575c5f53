"""A day of a control plane with a client that is made from its OpenAPI document alone: every operation succeeds once, and every answer is
what the document says. Environment: API, OWNER, GUEST and ADMIN (access tokens; the address of GUEST is guest@example.com)."""
import json, os, re, time, urllib.error, urllib.request, uuid
from urllib.parse import quote, urlencode

API = os.environ["API"]
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def send(method, target, headers, body=None):
    request = urllib.request.Request(API + target, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, refused.read()


class Document:
    def __init__(self, token):
        status, _, text = send("GET", "/openapi.json", {"authorization": f"Bearer {token}"})
        assert status == 200, text
        self.json = json.loads(text)
        assert self.json["openapi"].startswith("3.1.")
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, methods in self.json["paths"].items()
            for method, operation in methods.items()
        }

    def resolved(self, value):
        while "$ref" in value:
            found = self.json
            for name in value["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            value = found
        return value

    def check(self, value, schema, at):
        """Checks an answer by the keywords that a generated client uses."""
        schema = self.resolved(schema)
        if "anyOf" in schema:
            kinds = [self.resolved(each)["type"] for each in schema["anyOf"]]
            assert any(isinstance(value, TYPES[kind]) for kind in kinds), f"{at}: is none of {kinds}"
            return
        kind = schema["type"]
        assert isinstance(value, TYPES[kind]), f"{at}: is no {kind}"
        assert kind != "integer" or not isinstance(value, bool), f"{at}: is no integer"
        if kind == "object":
            for name in schema.get("required", []):
                assert name in value, f"{at}/{name}: is missing"
            for name, each in schema.get("properties", {}).items():
                if name in value:
                    self.check(value[name], each, f"{at}/{name}")
        if kind == "array":
            for index, each in enumerate(value):
                self.check(each, schema["items"], f"{at}/{index}")
        if kind == "string":
            assert "enum" not in schema or value in schema["enum"], f"{at}: is {value}"
            assert "pattern" not in schema or re.search(schema["pattern"], value), f"{at}: is {value}"
        if kind == "integer":
            assert value >= schema.get("minimum", value), f"{at}: is {value}"


class Refused(Exception):
    def __init__(self, status, reason):
        super().__init__(f"{status}: {reason}")
        self.status = status


class Client:
    succeeded = set()

    def __init__(self, document, token):
        self.document, self.token = document, token

    def __getattr__(self, name):
        return lambda body=None, **values: self.call(name, body, values)

    def call(self, name, body, values):
        method, path, operation = self.document.operations[name]
        headers, query = {}, {}
        if operation.get("security", self.document.json["security"]) != []:
            headers["authorization"] = f"Bearer {self.token}"
        for parameter in map(self.document.resolved, operation.get("parameters", [])):
            key = parameter["name"]
            if parameter["in"] == "header" and key == "Idempotency-Key":
                headers[key] = values.pop("key", str(uuid.uuid4()))
            elif parameter["in"] == "path":
                path = path.replace("{%s}" % key, quote(values.pop(key), safe=""))
            elif key in values:
                query[key] = values.pop(key)
        assert values == {}, f"{name} has no parameters {values}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        target = path + (f"?{urlencode(query)}" if query else "")
        status, received, text = send(method, target, headers, data)
        assert str(status) in operation["responses"], f"{name} answers {status}, which is not declared"
        response = self.document.resolved(operation["responses"][str(status)])
        for header, declared in response.get("headers", {}).items():
            assert header in received or not declared.get("required"), f"{name} {status}: {header} is missing"
        if "content" not in response:
            assert text == b"", f"{name} {status} has a body"
            answer = None
        else:
            [(kind, content)] = response["content"].items()
            assert received.get_content_type() == kind
            answer = json.loads(text)
            self.document.check(answer, content["schema"], f"{name} {status}")
        if status >= 300:
            raise Refused(status, answer["error"])
        Client.succeeded.add(name)
        return answer


def refused(status, call, *body, **values):
    try:
        call(*body, **values)
    except Refused as refusal:
        assert refusal.status == status, refusal
    else:
        raise AssertionError(f"is not refused with {status}")


def refuse_wrong_bodies(document, owner):
    """Each body with a field that it does not have, and a body where none belongs."""
    samples = {"organizationId": "acme", "projectId": "shop", "name": "cart", "subject": "owner", "email": "a@example.com"}
    for name, (method, path, operation) in document.operations.items():
        administrative = name in ("repairMember", "disableOrganization", "enableOrganization")
        if method == "GET" or administrative:
            continue
        values = {key: value for key, value in samples.items() if "{%s}" % key in path}
        refused(400, getattr(owner, name), {"colour": "green"}, **values)


def main():
    document = Document(os.environ["OWNER"])
    owner, guest, admin = (Client(document, os.environ[who]) for who in ("OWNER", "GUEST", "ADMIN"))
    acme, shop = {"organizationId": "acme"}, {"projectId": "shop"}
    cart = {**shop, "name": "cart"}
    assert owner.getLoginInformation()["audience"].startswith("https://")
    me = owner.whoami()["subject"]
    refused(401, Client(document, "no-token").whoami)
    refused(404, owner.getOrganization, **acme)
    owner.createOrganization({"name": "Acme"}, **acme)
    refused(409, owner.createOrganization, {"name": "Acme"}, **acme)
    owner.renameOrganization({"name": "Acme Inc."}, **acme)
    assert owner.getOrganization(**acme)["name"] == "Acme Inc."
    owner.createProject({"name": "Shop", "organizationId": "acme"}, **shop)
    owner.renameProject({"name": "The shop"}, **shop)
    assert [project["name"] for project in owner.listProjects(organization="acme")] == ["The shop"]
    assert owner.getProject(**shop)["services"] == 0

    owner.inviteMember({"email": "guest@example.com"}, **acme)
    owner.inviteMember({"email": "nobody@example.com"}, **acme)
    owner.withdrawInvitation(**acme, email="nobody@example.com")
    assert [each["id"] for each in guest.listOrganizations()] == ["acme"]
    visitor = guest.whoami()["subject"]
    refused(403, guest.renameOrganization, {"name": "Mine"}, **acme)
    owner.setMemberRole({"role": "owner"}, **acme, subject=visitor)
    assert {each["subject"]: each["role"] for each in owner.listMembers(**acme)["members"]} == {me: "owner", visitor: "owner"}
    owner.removeMember(**acme, subject=visitor)
    refused(404, guest.getOrganization, **acme)
    refused(409, owner.removeMember, **acme, subject=me)
    admin.repairMember(**acme, subject=visitor)
    admin.repairMember({"role": "member"}, **acme, subject=visitor)

    descriptor = {"name": "cart", "image": os.environ["IMAGE"]}
    key = str(uuid.uuid4())
    for _ in range(2):
        assert owner.applyService(descriptor, **cart, key=key)["generation"] == 1
    refused(422, owner.applyService, {**descriptor, "instances": 2}, **cart, key=key)
    refused(400, owner.applyService, {**descriptor, "port": "9000"}, **cart)
    refuse_wrong_bodies(document, owner)
    while owner.getService(**cart)["lifecycle"] != "ready":
        time.sleep(0.05)
    assert len(owner.getServiceLogs(**cart, tail=10, previous="true")["instances"]) == 1
    refused(400, owner.getServiceLogs, **cart, tail=-1)
    assert owner.exposeService(**cart)["hostname"].startswith("https://cart-shop.")
    assert not guest.unexposeService(**cart)["exposed"]
    assert owner.restartService(**cart)["generation"] == 2
    assert owner.pauseService(**cart)["paused"]
    refused(409, owner.restartService, **cart)
    assert not owner.resumeService(**cart)["paused"]

    admin.disableOrganization(**acme)
    refused(403, owner.pauseService, **cart)
    assert owner.listServices(**shop)[0]["lifecycle"] == "suspended"
    admin.enableOrganization(**acme)
    kinds = {each["kind"] for each in owner.getServiceHistory(**cart)}
    assert kinds >= {"applied", "exposed", "unexposed", "restarted", "paused", "resumed"}, kinds
    refused(409, owner.deleteProject, **shop)
    owner.deleteService(**cart)
    owner.deleteProject(**shop)
    owner.deleteOrganization(**acme)
    missing = set(document.operations) - Client.succeeded
    assert missing == set(), missing
    print(f"{len(Client.succeeded)} operations")


if __name__ == "__main__":
    main()
