// What a module hands to the runtime to call another service, and what it makes of the response.
import { afterAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { compileCoreModule } from '../../guest-sdk/compiler/core-module.ts';
import { CoreGuest } from '../support/core-guest.ts';
import type { CoreRequestSent, CoreServiceAnswer } from '../support/core-services.ts';
import { problemLine, QUERY, UserProjects, entity } from './support/user-projects.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

const MODULE = `import { Done, Header, Response, Result, ServiceClient, ServiceReply, ServiceResponse, ok, refuse, register, toJson } from "@svc/guest-sdk";
@data class Invoice { id: string = ""; @optional lines: string[] = []; }
@endpoint("/x") @access("internet") class X {
  @get("/typed") typed(): Result<Invoice> { return new ServiceClient("billing").get<Invoice>("/invoices/ö?a=1"); }
  @get("/text") text(): Result<string> { return new ServiceClient("ledger.finance").header("Accept", "text/plain").header("b", "\\ud800").get<string>("/t"); }
  @get("/bytes") bytes(): Result<Uint8Array> { return new ServiceClient("billing").delete<Uint8Array>("/b"); }
  @get("/done") done(): Result<Done> { return new ServiceClient("billing").put<Done>("/d", "{}"); }
  @get("/list") list(): Result<string[]> { return new ServiceClient("billing").patch<string[]>("/l", "[\\"\\ud800\\"]"); }
  @get("/nullable") nullable(): string {
    const reply = new ServiceClient("billing").post<Invoice | null>("/n", toJson<i32>(7));
    if (!reply.isOk) return reply.code.toString() + " " + reply.message;
    return reply.value === null ? "null" : reply.value!.id;
  }
  @get("/head") head(): string {
    const reply = new ServiceClient("billing").get<Invoice>("/h");
    if (reply.status == 0) return "none: " + reply.message;
    const response = reply.response;
    const all = response.headers();
    let text = reply.status.toString() + (response.isOk ? " ok " : " no ") + all.length.toString();
    const tag = response.header("ETag");
    if (tag !== null) text += " " + tag;
    return text + " " + response.text();
  }
  @get("/abort") abort(): i32 { return new ServiceClient("billing").get<Invoice>("/h").response.status; }
  @get("/raw") raw(): string {
    const sent = new ServiceClient("billing").request("OPTIONS", "/r", Uint8Array.wrap(String.UTF8.encode("é")));
    if (!sent.isOk) return sent.code.toString() + " " + sent.refusal!.otherCode + " " + sent.message;
    const read = sent.value.json<Invoice>();
    return sent.value.status.toString() + " " + (read.isOk ? read.value.id : read.message);
  }
}
register<X>();`;
const ROUTES = ['typed', 'text', 'bytes', 'done', 'list', 'nullable', 'head', 'abort', 'raw'];
const entryFile = await projects.write({ 'index.ts': MODULE });
const { core } = await compileCoreModule(
  entryFile,
  { name: 'sdk', version: '1' },
  { optimizeLevel: 0, sourceMap: false },
);
const module = new WebAssembly.Module(core);

/** Handles a request to the route, whose call of a service gets this answer. */
function handled(route: string, answer: CoreServiceAnswer) {
  const sent: CoreRequestSent[] = [];
  const guest = new CoreGuest(module, { request: (given) => (sent.push(given), answer) });
  const outcome = guest.handle({ route: ROUTES.indexOf(route) });
  const shown = 'ok' in outcome ? outcome.ok.body.content : outcome.refused;
  return { sent, outcome, shown };
}

test.each<[string, Partial<CoreRequestSent>]>([
  ['typed', { method: 'GET', path: '/invoices/ö?a=1' }],
  [
    'text',
    {
      service: 'ledger.finance',
      path: '/t',
      headers: [
        ['Accept', 'text/plain'],
        ['b', '\ufffd'],
      ],
    },
  ],
  ['bytes', { method: 'DELETE', path: '/b' }],
  [
    'done',
    { method: 'PUT', path: '/d', headers: [['content-type', 'application/json']], body: '{}' },
  ],
  [
    'list',
    { method: 'PATCH', headers: [['content-type', 'application/json']], body: '["\ufffd"]' },
  ],
  ['nullable', { method: 'POST', headers: [['content-type', 'application/json']], body: '7' }],
  ['raw', { method: 'OPTIONS', path: '/r', body: 'é' }],
])('%s sends its request', (route, request) => {
  const { sent } = handled(route, { status: 204 });
  const plain = { service: 'billing', method: 'GET', headers: [], body: '', ...request };
  expect(sent).toEqual([expect.objectContaining(plain)]);
});

test.each<[string, string, CoreServiceAnswer, unknown]>([
  [
    'a value',
    'typed',
    { status: 200, body: '{"id":"é","lines":["a"]}' },
    '{"id":"é","lines":["a"]}',
  ],
  [
    'a value with unknown members',
    'typed',
    { status: 201, body: '{"id":"1","x":{}}' },
    '{"id":"1","lines":[]}',
  ],
  ['a text, which need not be JSON', 'text', { status: 200, body: 'a{é' }, 'a{é'],
  [
    'a text that is not UTF-8',
    'text',
    { status: 200, body: Uint8Array.of(0x61, 0xed, 0xa0, 0x80) },
    'a\ufffd',
  ],
  ['bytes', 'bytes', { status: 200, body: Uint8Array.of(0, 255) }, '00ff'],
  ['nothing', 'done', { status: 204 }, ''],
  ['a list', 'list', { status: 200, body: '["a"]' }, '["a"]'],
  ['null', 'nullable', { status: 200, body: 'null' }, 'null'],
  [
    'status and headers',
    'head',
    { status: 200, headers: [['etag', '"1"']], body: '{"id":"1"}' },
    '200 ok 1 "1" {"id":"1"}',
  ],
  [
    'those of a response that is no success',
    'head',
    { status: 304, headers: [['etag', '"2"']] },
    '304 no 1 "2" ',
  ],
  ['why nothing was sent', 'head', { denied: 'no' }, 'none: no'],
  ['a raw response whatever its status', 'raw', { status: 500, body: '{"id":"e"}' }, '500 e'],
  [
    'a raw response that does not decode',
    'raw',
    { status: 200, body: '<p>' },
    "200 the response of service 'billing' does not decode: body: must be an object, found <",
  ],
  [
    'the reason of a raw request that was not sent',
    'raw',
    { unavailable: 'too much' },
    '7 UNAVAILABLE too much',
  ],
])('%s is read', (_what, route, answer, expected) => {
  expect(handled(route, answer).shown).toBe(expected);
});

test.each<[CoreServiceAnswer, number, string, string]>([
  [{ status: 400, body: '{"error":"é"}' }, 0, '', "service 'billing' answered 400: é"],
  [{ status: 401 }, 1, '', "service 'billing' answered 401"],
  [{ status: 403, body: 'no' }, 2, '', "service 'billing' answered 403"],
  [{ status: 404, body: '{"status":404,"error":"x"}' }, 3, '', "service 'billing' answered 404: x"],
  [{ status: 409, body: '{"error":7}' }, 4, '', "service 'billing' answered 409"],
  [{ status: 422, body: '[' }, 5, '', "service 'billing' answered 422"],
  [{ status: 429, body: '{"a":' }, 6, '', "service 'billing' answered 429"],
  [{ status: 302 }, 7, 'INTERNAL', "service 'billing' answered 302"],
  [{ status: 500 }, 7, 'INTERNAL', "service 'billing' answered 500"],
  [{ status: 502 }, 7, 'INTERNAL', "service 'billing' answered 502"],
  [{ status: 503 }, 7, 'UNAVAILABLE', "service 'billing' answered 503"],
  [{ status: 504 }, 7, 'TIMED_OUT', "service 'billing' answered 504"],
  [
    { status: 200, body: '{"id":1}' },
    7,
    'INTERNAL',
    "the response of service 'billing' does not decode: id: must be a string, found 1",
  ],
  [{ denied: 'because' }, 2, '', 'because'],
])('%j is a refusal, which a handler can return', (answer, code, otherCode, message) => {
  expect(handled('typed', answer).shown).toEqual({ code, otherCode, message, details: undefined });
});

test('a response that is not there aborts the handler that asks for it', () => {
  expect(() => handled('abort', { denied: 'no' })).toThrow(WebAssembly.RuntimeError);
});

test('a module that calls no service does not import the function', async () => {
  const file = await projects.write({ 'index.ts': entity(QUERY) });
  const { component } = await buildComponent({ entryFile: file, optimizeLevel: 0 });
  expect(Buffer.from(component).includes('routing@0.2.0')).toBe(false);
});

const client = (made: string) => `import { ServiceClient } from "@svc/guest-sdk";
import * as svc from "@svc/guest-sdk";
${entity(QUERY)}
@endpoint("/e") @access("internet") class E { @get("/e") e(): Result<string> { return ${made}; } }
register<E>();`;

test.each([
  [
    'a name with capitals',
    client('new ServiceClient("Billing").get<string>("/")'),
    /"Billing" is no name of a service: write the service, "billing"/,
  ],
  [
    'a name with a path',
    client('new ServiceClient("billing/invoices").get<string>("/")'),
    /is no name of a service/,
  ],
  [
    'a name through the namespace',
    client('new svc.ServiceClient("").get<string>("/")'),
    /"" is no name of a service/,
  ],
  [
    'a path without a slash',
    client('new ServiceClient("billing").get<string>("invoices")'),
    /the path of a request begins with a slash: write "\/invoices"/,
  ],
  [
    'a method for a path',
    client('new ServiceClient("billing").request("GET", "a").value.json<string>()'),
    /begins with a slash/,
  ],
  [
    'a name that the SDK has not',
    client('new ServiceCleint("billing").get<string>("/")'),
    /ServiceClient/,
  ],
  [
    'an entity that calls',
    `import { ServiceClient } from "@svc/guest-sdk";\n${entity('@command("c") c(s: State): Effect<Done> { new ServiceClient("billing").get<string>("/"); return this.reply(new Done()); }')}`,
    /entity 'Thing' cannot call other services: only endpoints and consumers can: call in the endpoint/,
  ],
])('%s is a problem of the build', async (_what, source, expected) => {
  const [problem] = await projects.problemsOf(source);
  expect(problemLine(problem)).toMatch(expected);
});
