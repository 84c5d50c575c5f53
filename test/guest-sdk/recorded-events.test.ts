// RecordedEvent in JSON: in a handler's answer, in its input, and in the schema.
import { openApi, parseModuleDescriptor } from '@svc/contract';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { type ModuleUnderTest, testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserProjects, problemLine } from './support/user-projects.ts';

const SOURCE = `import { Effect, EventSourcedEntity, RecordedEvent, Result, register } from "@svc/guest-sdk";
@data class Count { n: i32 = 0; }
@data abstract class CountEvent {}
@variant("added") class Added extends CountEvent { by: i32 = 0; }
@data class Page<E> { events: RecordedEvent<E>[] = []; last: RecordedEvent<E> | null = null; }
@entity("counter") class Counter extends EventSourcedEntity<Count, CountEvent> {
  empty(id: string): Count { return new Count(); }
  apply(state: Count, event: CountEvent): Count {
    if (event instanceof Added) state.n += (event as Added).by;
    return state;
  }
  @command("add") add(state: Count, by: i32): Effect<i32> {
    const added: Added = { by };
    return this.persist(added).thenReply<i32>(state.n + by);
  }
}
@endpoint("/counters") @access("internet") class Counters {
  @post("/{id}") add(id: string, by: i32): Result<i32> { return new CounterClient(id).add(by); }
  @get("/{id}/events") events(id: string): Result<RecordedEvent<CountEvent>[]> { return new CounterClient(id).events(); }
  @get("/{id}/page") page(id: string): Page<CountEvent> {
    const page = new Page<CountEvent>();
    page.events = new CounterClient(id).events().value;
    page.last = page.events[page.events.length - 1];
    return page.clone();
  }
  @post("/echo/one") echo(event: RecordedEvent<CountEvent>): RecordedEvent<CountEvent> { return event; }
}
register<Counter>();
register<Counters>();
`;

let projects: UserProjects;
let counters: ModuleUnderTest;
let document: unknown;

beforeAll(async () => {
  projects = await UserProjects.open();
  const entryFile = await projects.write({ 'index.ts': SOURCE });
  const { component, descriptor } = await buildComponent({ entryFile });
  counters = await testModule(component);
  const parsed = parseModuleDescriptor(JSON.stringify(descriptor));
  if (!parsed.ok) throw new Error(parsed.problems.join());
  document = openApi(parsed.descriptor, { title: 'counters', version: '1' });
});
afterAll(() => projects.remove());

test('a handler answers with what has happened, as it is stored', async () => {
  const service = testEndpoints(counters);
  await service.post('/counters/a?by=2');
  await service.post('/counters/a?by=3');
  const answer = await service.get('/counters/a/events');
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual([
    { seq: 1, timeMs: expect.any(Number) as number, event: { type: 'added', by: 2 } },
    { seq: 2, timeMs: expect.any(Number) as number, event: { type: 'added', by: 3 } },
  ]);
  const { json } = await service.get('/counters/a/page');
  expect(json).toMatchObject({ events: answer.json as unknown[], last: { seq: 2 } });
});

test('one is read strictly, with the place of what is wrong', async () => {
  const service = testEndpoints(counters);
  const given = { seq: 7, timeMs: 1_750_000_000_000, event: { type: 'added', by: 1 } };
  expect((await service.post('/counters/echo/one', { ...given, more: [1] })).json).toEqual(given);
  for (const [wrong, problem] of [
    ['{"seq":1,"timeMs":2}', /event/],
    ['{"timeMs":2,"event":{"type":"added","by":1}}', /seq/],
    ['{"seq":1,"seq":1,"timeMs":2,"event":{"type":"added","by":1}}', /seq.*twice/],
    ['{"seq":1,"timeMs":-2,"event":{"type":"added","by":1}}', /timeMs/],
    ['{"seq":1,"timeMs":2,"event":{"type":"added","by":"x"}}', /event\.by/],
  ] as const) {
    const answer = await service.request('POST', '/counters/echo/one', {
      body: wrong,
      headers: { 'content-type': 'application/json' },
    });
    expect([wrong, answer.status]).toEqual([wrong, 400]);
    expect(answer.text).toMatch(problem);
  }
});

test('it is described under the name of its type', () => {
  const { schemas } = (document as { components: { schemas: Record<string, unknown> } }).components;
  expect(schemas['RecordedEvent_CountEvent']).toMatchObject({
    title: 'RecordedEvent<CountEvent>',
    required: ['seq', 'timeMs', 'event'],
    properties: { event: { $ref: '#/components/schemas/CountEvent' } },
  });
});

test('a field of a generic class that has no JSON form is said once, whatever its type arguments are', async () => {
  const problems = await projects.problemsOf(`${SOURCE}
@data class Pair<A, B> { constructor(public a: A, public b: B) {} }
@endpoint("/pairs") @access("internet") class Pairs {
  @post("") swap(pair: Pair<Set<i32>, Set<u8>>): Pair<Set<u8>, Set<i32>> { return unreachable(); }
}
register<Pairs>();
`);
  expect(problems.map((problem) => problemLine(problem))).toEqual([
    "type 'Set<i32>' has no JSON form: use an array, i32[]",
    "type 'Set<u8>' has no JSON form: use an array, u8[]",
  ]);
});
