// What docs/how-to/errors-and-statuses.md says beyond the example that it is about.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { testEndpoints, testModule, timedOut, unavailable } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { UserProjects } from '../guest-sdk/support/user-projects.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../docs/how-to/errors-and-statuses.md'),
  'utf8',
);

const DOORS = `import { Code, Done, Effect, EventSourcedEntity, Result, refuse, register } from "@svc/guest-sdk";

@data class State { opened: i32 = 0; }
@data abstract class DoorEvent {}
@variant("opened") class Opened extends DoorEvent {}

@entity("door") class Door extends EventSourcedEntity<State, DoorEvent> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: DoorEvent): State { state.opened += 1; return state; }

  @command("open")
  open(state: State): Effect<Done> {
    if (state.opened > 0) return this.refuse<Done>("the door is locked", Code.OTHER, null, "LOCKED");
    return this.persist(new Opened()).thenReply(new Done());
  }

  @query("peep")
  peep(state: State): Result<i32> { return refuse<i32>("no keyhole", Code.OTHER, null, "LOCKED"); }
}

@endpoint("/doors") @access("internet") class Doors {
  @post("/{door}")
  open(door: string): Result<Done> {
    const opened = new DoorClient(door).open();
    if (opened.isOk || opened.refusal!.otherCode != "LOCKED") return opened;
    return refuse<Done>(opened.message, Code.CONFLICT);
  }

  @get("/{door}")
  peep(door: string): Result<i32> { return new DoorClient(door).peep(); }

  @post("/{door}/code/{code}")
  refused(door: string, code: i32): Result<Done> { return refuse<Done>("no", <Code>code); }

  @post("/{door}/fault")
  fault(door: string): Result<Done> { throw new Error("a secret"); }

  @post("/{door}/details")
  details(door: string): Result<Done> { return refuse<Done>("no", Code.CONFLICT, "no JSON"); }
}
register<Door>();
register<Doors>();
`;

const projects = await UserProjects.open();
const entryFile = await projects.write({ 'index.ts': DOORS });
const module = await testModule((await buildComponent({ entryFile, optimizeLevel: 0 })).component);
await projects.remove();

test('each code has the status of its row', async () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
  expect(rows).toHaveLength(8);
  const api = testEndpoints(module);
  for (const [code, [, name, status]] of rows.entries()) {
    const answer = await api.post(`/doors/d/code/${code}`);
    expect([name, answer.status]).toEqual([name, Number(status)]);
    expect(answer.json).toEqual({ status: Number(status), error: 'no' });
  }
});

describe('a code of the module', () => {
  test('is known to the endpoint that asks for it', async () => {
    const api = testEndpoints(module);
    expect((await api.post('/doors/d')).status).toBe(204);
    const locked = await api.post('/doors/d');
    expect(locked.json).toEqual({ status: 409, error: 'the door is locked' });
  });

  test('is 500 where it is passed on, with its message and without an error id', async () => {
    const answer = await testEndpoints(module).get('/doors/d');
    expect(answer.json).toEqual({ status: 500, error: 'no keyhole' });
  });
});

test('a fault says what the page shows, and nothing of what went wrong', async () => {
  const answer = await testEndpoints(module).post('/doors/d/fault');
  expect(answer.text).not.toContain('secret');
  expect(page).toContain(`\n${answer.text.replace(/"errorId":"[^"]+"/, '"errorId":"…"')}\n`);
  expect(answer.failure).toContain('a secret');
});

test('details that are no JSON are left out', async () => {
  const answer = await testEndpoints(module).post('/doors/d/details');
  expect(answer.json).toEqual({ status: 409, error: 'no' });
});

test('a call without a reply that is passed on is 503 or 504', async () => {
  for (const [fake, status] of [
    [unavailable, 503],
    [timedOut, 504],
  ] as const) {
    const api = testEndpoints(module, { components: { door: () => fake() } });
    expect((await api.get('/doors/d')).status).toBe(status);
  }
});
