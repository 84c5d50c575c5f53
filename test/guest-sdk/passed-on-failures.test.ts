// A handler that compensates: several of its calls fail in different ways, and it returns the result of one of them.
// The caller receives the failure of that call, whatever happened to the others.
import { beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import type { Guest } from '../../model/guest.ts';
import {
  type CallEnd,
  CORRUPT,
  DONE,
  OUT_OF_FUEL,
  OVERLOADED,
  REFUSED,
  statusOf,
  TIMED_OUT,
  TRAPPED,
  UNAVAILABLE,
  UNCERTAIN,
} from '../support/ended-calls.ts';
import { UserProjects } from './support/user-projects.ts';

const MODULE = `import { Code, Done, Effect, EventSourcedEntity, Result, ok, refuse, register } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { state.n += 1; return state; }
  @command("begin") begin(s: State): Effect<State> { return this.persist(new Added()).thenReply(s); }
  @command("end") end(s: State): Effect<Done> { return this.persist(new Added()).thenReply(new Done()); }
}
function begun(id: string): Result<State> { return new ThingClient(id).begin(); }
@endpoint("/things") @access("internet") class Things {
  @post("/first") first(): Result<State> {
    const first = new ThingClient("a").begin();
    new ThingClient("b").end();
    return first;
  }
  @post("/second") second(): Result<Done> {
    new ThingClient("a").begin();
    return new ThingClient("b").end();
  }
  @post("/first-as") firstAs(): Result<i32> {
    const first = new ThingClient("a").begin();
    const second = new ThingClient("b").end();
    if (first.isOk) return second.isOk ? ok<i32>(1) : second.refusedAs<i32>();
    return first.refusedAs<i32>();
  }
  @post("/kept") kept(): Result<State> {
    const results: Result<State>[] = [];
    for (let i = 0; i < 3; ++i) results.push(begun(String.fromCharCode(97 + i)));
    return results[0].isOk ? results[1] : results[0];
  }
  @post("/in-own-words") ownWords(): Result<Done> {
    const first = new ThingClient("a").begin();
    new ThingClient("b").end();
    if (first.isOk) return ok(new Done());
    return refuse<Done>("not begun: " + first.message, first.code, null, first.refusal!.otherCode);
  }
  @post("/unreadable") unreadable(): Result<Done> {
    new ThingClient("a").events();
    const second = new ThingClient("b").begin();
    return second.isOk ? ok(new Done()) : second.refusedAs<Done>();
  }
}
register<Thing>();
register<Things>();`;
const ROUTES = ['first', 'second', 'first-as', 'kept', 'in-own-words', 'unreadable'] as const;
type Route = (typeof ROUTES)[number];

let guest: Guest;

beforeAll(async () => {
  const projects = await UserProjects.open();
  const { component } = await buildComponent({
    entryFile: await projects.write({ 'index.ts': MODULE }),
  });
  guest = await createWasmGuest(component, WASM_LIMITS_DEFAULT);
  await projects.remove();
  return () => guest.close();
});

const CASES: readonly [route: Route, a: CallEnd, b: CallEnd, status: number][] = [
  ['first', TIMED_OUT, UNAVAILABLE, 504],
  ['first', UNCERTAIN, OVERLOADED, 504],
  ['first', TIMED_OUT, TRAPPED, 504],
  ['first', TIMED_OUT, REFUSED, 504],
  ['first', TIMED_OUT, DONE, 504],
  ['first', UNAVAILABLE, TIMED_OUT, 503],
  ['first', UNAVAILABLE, OVERLOADED, 503],
  ['first', TRAPPED, UNAVAILABLE, 500],
  ['first', TRAPPED, OUT_OF_FUEL, 500],
  ['first', OUT_OF_FUEL, TRAPPED, 504],
  ['first', REFUSED, TIMED_OUT, 409],
  ['first', DONE, TIMED_OUT, 200],
  ['second', TIMED_OUT, UNAVAILABLE, 503],
  ['second', UNAVAILABLE, TIMED_OUT, 504],
  ['second', TIMED_OUT, REFUSED, 409],
  ['first-as', TIMED_OUT, UNAVAILABLE, 504],
  ['first-as', UNAVAILABLE, TIMED_OUT, 503],
  ['first-as', TRAPPED, UNAVAILABLE, 500],
  ['first-as', DONE, TIMED_OUT, 504],
  ['kept', TIMED_OUT, UNAVAILABLE, 504],
  ['kept', DONE, TIMED_OUT, 504],
  ['kept', DONE, UNAVAILABLE, 503],
  ['in-own-words', TIMED_OUT, UNAVAILABLE, 504],
  ['in-own-words', UNAVAILABLE, TIMED_OUT, 503],
  ['unreadable', UNAVAILABLE, { kind: 'reply', json: '{"n":"x"}' }, 500],
  ['unreadable', UNAVAILABLE, CORRUPT, 500],
];

describe.each([
  ['where it waits', false],
  ['where it does not wait', true],
])('%s, a handler that returns', (_where, isPrompt) => {
  test.each(CASES)(
    'the result of "%s" after %s and %s is answered with %i',
    async (route, a, b, status) => {
      const ends = { a, b, c: OVERLOADED };
      expect(await statusOf(guest, ROUTES.indexOf(route), ends, isPrompt)).toBe(status);
    },
  );
});
