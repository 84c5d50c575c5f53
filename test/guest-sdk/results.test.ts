// A handler's uses of the result of a call: reads it, passes it on, sets its status and headers.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import type { CallAnswer } from '../support/core-answers.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { UserProjects } from './support/user-projects.ts';

const MODULE = `import { Code, Done, Effect, EventSourcedEntity, Response, Result, ok, refuse, register, toJson } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data class Limit { left: i32 = 0; names: string[] = []; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { state.n += 1; return state; }
  @command("add") add(s: State): Effect<State> { return this.persist(new Added()).thenReply(s); }
  @query("none") none(s: State): Result<Done> { return ok(new Done()).withStatus(201).header("a", "b"); }
}
@endpoint("/things") @access("internet") class Things {
  @get("/{id}") look(id: string): string {
    const reply = new ThingClient(id).add();
    if (reply.isOk) return reply.value.n.toString();
    return reply.code.toString() + " " + reply.refusal!.otherCode + ": " + reply.message;
  }
  @get("/{id}/as") as(id: string): Result<i32> {
    const reply = new ThingClient(id).add();
    return reply.isOk ? ok<i32>(reply.value.n) : reply.refusedAs<i32>();
  }
  @post("/{id}") create(id: string): Result<State> {
    return new ThingClient(id).add().withStatus(201).header("location", "/things/" + id).header("x", "y");
  }
  @put("/{id}") looked(id: string): Result<State> {
    const reply = new ThingClient(id).add();
    return reply.isOk ? reply.withStatus(202) : reply.withStatus(200);
  }
  @patch("/{id}") response(id: string): Result<Response<State>> {
    return ok(new Response<State>(new State(), 202).header("a", "1")).header("b", "2");
  }
  @del("/{id}") done(id: string): Result<Done> { return ok(new Done()).withStatus(202); }
  @get("/{id}/details") details(id: string): Result<State> {
    const limit: Limit = { left: 0, names: ["ä", "\\"b\\""] };
    return refuse<State>("no more", Code.CONFLICT, toJson(limit));
  }
}
register<Thing>();
register<Things>();`;
const [LOOK, AS, CREATE, LOOKED, RESPONSE, DONE, DETAILS] = [0, 1, 2, 3, 4, 5, 6] as const;

let guest: CoreGuest;
let answer: CallAnswer;

beforeAll(async () => {
  const projects = await UserProjects.open();
  const { core } = await buildComponent({
    entryFile: await projects.write({ 'index.ts': MODULE }),
  });
  guest = new CoreGuest(new WebAssembly.Module(core), {
    call: () => answer,
  });
  await projects.remove();
});

beforeEach(() => {
  answer = { ok: '{"n":3}' };
});

const handle = (route: number): ReturnType<CoreGuest['handle']> =>
  guest.handle({ route, parameters: ['t1'] });
const json = (
  status: number,
  headers: readonly (readonly [string, string])[],
  content: string,
) => ({
  ok: { status, headers, body: { kind: 'json', content } },
});

test('a reply that is looked at and does not decode is a refusal that says so', () => {
  const message = "the reply of 'add' does not decode: n: must be an integer";
  expect(handle(LOOK)).toMatchObject({ ok: { body: { content: '3' } } });
  for (const wrong of ['{"n":"x"}', '{"n":2.5}']) {
    answer = { ok: wrong };
    const looked = handle(LOOK);
    expect(looked).toMatchObject({
      ok: { body: { content: expect.stringMatching(`^7 INTERNAL: ${message}`) } },
    });
    expect(handle(AS)).toMatchObject({
      refused: { code: 7, otherCode: 'INTERNAL', message: expect.stringContaining(message) },
    });
    expect(handle(LOOKED)).toMatchObject({ refused: { code: 7, otherCode: 'INTERNAL' } });
  }
  answer = { ok: '{"n":1' };
  expect(handle(AS)).toMatchObject({
    refused: { code: 7, message: expect.stringContaining('is not JSON') },
  });
});

test('a result has a status and headers beside its value, looked at or passed on as it came', () => {
  answer = { ok: '{"n":3,"more":true}' };
  expect(handle(CREATE)).toEqual(
    json(
      201,
      [
        ['location', '/things/t1'],
        ['x', 'y'],
      ],
      '{"n":3,"more":true}',
    ),
  );
  expect(handle(LOOKED)).toEqual(json(202, [], '{"n":3}'));
  expect(handle(DONE)).toEqual({
    ok: { status: 202, headers: [], body: { kind: 'none', content: '' } },
  });
  expect(handle(RESPONSE)).toEqual(
    json(
      202,
      [
        ['a', '1'],
        ['b', '2'],
      ],
      '{"n":0}',
    ),
  );
});

test('a refusal keeps the status of its code', () => {
  answer = { refused: { code: 4, otherCode: '', message: 'taken', details: undefined } };
  expect(handle(CREATE)).toEqual(answer);
  expect(handle(LOOKED)).toEqual(answer);
});

test('the status of a query is not the status of the route', () => {
  const entity = guest.open('thing', 't1');
  expect(guest.query(entity, 'none', 'null')).toEqual({ ok: 'null' });
});

test('details are made of a value', () => {
  expect(handle(DETAILS)).toEqual({
    refused: {
      code: 4,
      otherCode: '',
      message: 'no more',
      details: '{"left":0,"names":["ä","\\"b\\""]}',
    },
  });
});
