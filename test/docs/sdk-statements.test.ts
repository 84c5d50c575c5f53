// docs/reference/sdk.md: what its rows say of functions and members, as a module sees it.
import { buildComponent } from '@svc/guest-sdk/compiler';
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';
import { expect, test } from 'vitest';
import { UserProjects } from '../guest-sdk/support/user-projects.ts';

const MODULE = `import { Code, Decimal, Done, Duration, Effect, EventSourcedEntity, NullablePatch, Patch, Refusal, Request, Response, Result,
  checkedAdd, clone, ok, parseF64, parseI32, refuse, register, toJson } from "@svc/guest-sdk";
@data enum Colour { Red, Green }
@data class Paint { coats: Patch<i32> = new Patch(); colour: NullablePatch<Colour> = new NullablePatch(); }
@data class Node { next: Node | null = null; }

@data class State { ms: u64 = 0; }
@data class Ask { isStored: bool = false; }
@data abstract class Asked {}
@variant("time") class Time extends Asked {}
@entity("asking") class Asking extends EventSourcedEntity<State, Asked> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Asked): State {
    if (event instanceof Time) state.ms = Date.now();
    return state;
  }
  @command("ask") ask(state: State, input: Ask): Effect<u64> {
    if (input.isStored) return this.persist(new Time()).thenReply(<u64>0);
    return this.reply(<u64>Date.now());
  }
}

@endpoint("/sdk") @access("internet") class Sdk {
  @get("/value") value(): i32 { return refuse<i32>("x").value; }
  @get("/code") code(): i32 { return <i32>ok(3).code; }
  @get("/patch-value") patchValue(): i32 { return new Patch<i32>().value; }
  @get("/null-value") nullValue(): i32 { return <i32>NullablePatch.ofNull<Colour>().value; }
  @get("/integer") integer(text: string): Result<i32> { return parseI32(text); }
  @get("/float") float(text: string): Result<f64> { return parseF64(text); }
  @get("/sum") sum(a: i8, b: i8): Result<i8> { return checkedAdd<i8>(a, b); }
  @get("/own") own(): Result<i32> {
    const refusal = Refusal.other("MINE", "mine");
    return refuse<i32>(refusal.message + " " + refusal.otherCode, refusal.code);
  }
  @get("/paint") paint(): string[] {
    const paint = new Paint();
    paint.colour = NullablePatch.ofNull<Colour>();
    return [toJson(new Paint()), toJson(paint), paint.coats.orElse(7).toString(), paint.colour.isPresent.toString()];
  }
  @get("/request") request(request: Request): string[] {
    const missing = request.queryParameter("b");
    return [request.caller, request.query, request.queryParameter("a")!, request.queryParameters("a").join(";"),
      missing == null ? "null" : "some", request.header("X-ONE")!, request.headers().pop().name];
  }
  @get("/numbers") numbers(): string[] {
    return [Decimal.fromI64(1250, 2).toString(), new Decimal().toString(),
      (Decimal.fromI64(15, 1) == Decimal.fromI64(150, 2)).toString(), Duration.ofMinutes(90).toString()];
  }
  @get("/done") done(): Response<Done> { return new Response<Done>(new Done()); }
  @get("/page") page(): Response<string> {
    return new Response<string>("a").header("content-type", "text/html").header("x-one", "1");
  }
  @get("/nested") nested(levels: i32): bool {
    const first = new Node();
    let last = first;
    for (let level = 0; level < levels; level++) { const next = new Node(); last.next = next; last = next; }
    return clone(first).next != null;
  }
}
register<Sdk>();
register<Asking>();
`;

const projects = await UserProjects.open();
const entryFile = await projects.write({ 'index.ts': MODULE });
const module = await testModule((await buildComponent({ entryFile })).component);
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  testEndpoints(module).request('GET', `/sdk/${path}`, { headers });
const answer = async (path: string, headers?: Readonly<Record<string, string>>) => {
  const { status, text } = await get(path, headers);
  return [status, text];
};

test.each(['value', 'code', 'patch-value', 'null-value'])(
  '%s of what has none aborts',
  async (path) => {
    expect(await answer(path)).toMatchObject([500, expect.any(String)]);
  },
);

test('a text is a number as in JSON or none', async () => {
  expect(await answer('integer?text=-7')).toEqual([200, '-7']);
  for (const text of ['%2B1', '01', '1.5', '%207', '99999999999', ''])
    expect(await answer(`integer?text=${text}`)).toEqual([
      400,
      '{"status":400,"error":"must be an integer from -2147483648 to 2147483647"}',
    ]);
  expect(await answer('float?text=1e3')).toEqual([200, '1000']);
  expect(await answer('float?text=2.5')).toEqual([200, '2.5']);
  for (const text of ['NaN', '1e999']) expect((await get(`float?text=${text}`)).status).toBe(400);
});

test('a sum that its type cannot hold is 422', async () => {
  expect(await answer('sum?a=100&b=27')).toEqual([200, '127']);
  expect((await get('sum?a=100&b=28')).status).toBe(422);
});

test('a refusal with a word of its own is 500', async () => {
  expect(await answer('own')).toMatchObject([500, expect.stringContaining('mine MINE')]);
});

test('an absent patch is not written', async () => {
  expect((await get('paint')).json).toEqual(['{}', '{"colour":null}', '7', 'true']);
});

test('a request shows its caller, query and headers', async () => {
  const shown = await get('request?a=1%20x&a=2', { 'X-One': 'v' });
  expect(shown.json).toEqual(['internet', 'a=1%20x&a=2', '1 x', '1 x;2', 'null', 'v', 'x-one']);
});

test('decimals and durations are written as the page says', async () => {
  expect((await get('numbers')).json).toEqual(['12.50', '0', 'true', 'PT1H30M']);
});

test('a response has the status of its value, and its headers', async () => {
  expect(await answer('done')).toEqual([204, '']);
  const { status, headers } = await get('page');
  expect([status, headers]).toMatchObject([200, { 'content-type': 'text/html', 'x-one': '1' }]);
});

test('what JSON can hold can be copied, and what is nested too deep uses up the stack', async () => {
  expect(await answer('nested?levels=200')).toEqual([200, 'true']);
  const { status, failure } = await get('nested?levels=10000');
  expect([status, failure]).toEqual([500, 'The module used up its stack.']);
});

test('a command has a clock, and apply has none', () => {
  testEntity(module, 'asking', 'a').at(5).when('ask', { isStored: false }).thenReply(5);
  expect(() => testEntity(module, 'asking', 'a').when('ask', { isStored: true })).toThrow(
    'The module called clock.now-ms where it may not be called.',
  );
});
