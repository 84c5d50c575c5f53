// A handler that compensates: several of its calls fail, each in a way of its own, and it returns the result of one
// of them. The caller is answered as that one ended, whatever came of the others.
import { beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { failureAnswer, refusalAnswer } from '../../host/http/answers.ts';
import type { Guest } from '../../host/engine/needs/guest.ts';
import type { Refusal, Reply } from '../../host/model/call.ts';
import { GuestFault } from '../../host/model/guest-fault.ts';
import { SvcError } from '../../host/model/svc-error.ts';
import { requestHandler } from '../../host/requests/request-handler.ts';
import { endlessTurn } from '../support/endless-turn.ts';
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

const error = (code: ConstructorParameters<typeof SvcError>[0]) => new SvcError(code, code);
const TIMED_OUT = error('SVC_ANSWER_TIMED_OUT');
const UNCERTAIN = error('SVC_CALL_UNCERTAIN');
const UNAVAILABLE = error('SVC_SHARD_UNAVAILABLE');
const OVERLOADED = error('SVC_OVERLOADED');
const CORRUPT = error('SVC_JOURNAL_CORRUPT');
const TRAPPED = new GuestFault('trap', 'unreachable');
const OUT_OF_FUEL = new GuestFault('fuel', 'out of fuel');
const DONE: Reply = { kind: 'reply', json: '{"n":1}' };
const REFUSED: Refusal = { kind: 'refusal', code: 'CONFLICT', message: 'taken' };
type End = Error | Reply | Refusal;

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

/** The status of the answer, where calls end as `ends` says of their entities. */
async function statusOf(
  route: Route,
  ends: Readonly<Record<string, End>>,
  isPrompt: boolean,
): Promise<number> {
  const endOf = (id: string): Reply | Refusal => {
    const end = ends[id]!;
    if (end instanceof Error) throw end;
    return end;
  };
  const call = ({ id }: { readonly id: string }) => endOf(id);
  const handle = requestHandler({
    guest,
    engine: {
      call: async (target) => call(target),
      ...(isPrompt && { callAhead: call }),
      readEvents: async ({ id }) => {
        endOf(id);
        return [];
      },
    },
    clock: { nowMs: () => 1 },
    chance: { seed: () => 2n },
    turn: endlessTurn(),
  });
  const request = {
    route: ROUTES.indexOf(route),
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'none' },
  } as const;
  try {
    const answer = await handle(request, []);
    return answer.kind === 'refusal' ? refusalAnswer(answer).status : answer.status;
  } catch (failure) {
    return failureAnswer(failure, 'id').status;
  }
}

const CASES: readonly [route: Route, a: End, b: End, status: number][] = [
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
      expect(await statusOf(route, { a, b, c: OVERLOADED }, isPrompt)).toBe(status);
    },
  );
});
