// Programs that compile: the SDK's names under other names, several types with one name, reproducible bytes, and the
// end of the build.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('names of the SDK under other names, and its namespace', async () => {
  const entryFile = await projects.write({
    'index.ts': `import * as svc from "@svc/guest-sdk";
import { EventSourcedEntity as Base, Effect as Outcome, Context as Ctx, register as announce } from "@svc/guest-sdk";
type Count = i32;
@data class State { n: Count = 0; }
@data abstract class Event {}
@variant("added") class Added extends Event {}
@entity("thing") class Thing extends Base<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { if (event instanceof Added) state.n += 1; return state; }
  @command("add") add(state: State, ctx: Ctx, count: Count): Outcome<svc.Done> { return this.persist(new Added()).thenReply(new svc.Done()); }
  @query("maybe") maybe(state: State): svc.Result<Count> { return svc.ok<Count>(1); }
}
announce<Thing>();`,
  });
  const { descriptor, warnings } = await buildComponent({ entryFile });
  expect(warnings).toEqual([]);
  expect(descriptor.entities[0]).toMatchObject({
    component: 'thing',
    state: { manifest: 'State' },
    commands: [{ name: 'add', input: { type: 'integer' }, reply: { type: 'null' } }],
    queries: [{ name: 'maybe', reply: { type: 'integer' } }],
  });
  expect(descriptor.entities[0]?.queries[0]).not.toHaveProperty('input');
});

test('two classes of one name in two files are two types', async () => {
  const entryFile = await projects.write({
    'index.ts': `import { register } from "@svc/guest-sdk";
import { Item } from "./one";
import { Item as Other } from "./two";
@endpoint("") @access("local") class Both {
  @get("/one") one(): Item { return new Item(); }
  @get("/two") two(): Other { return new Other(); }
}
register<Both>();`,
    'one.ts': '@data export class Item { one: i32 = 0; }',
    'two.ts': '@data export class Item { two: i32 = 0; }',
  });
  const { descriptor } = await buildComponent({ entryFile });
  const replies = descriptor.endpoints[0]?.routes.map((route) => route.reply?.schema);
  expect(replies).toEqual([{ $ref: '#/types/Item' }, { $ref: '#/types/two.Item' }]);
  expect(Object.keys(descriptor.types)).toEqual(['Item', 'two.Item']);
});

test('the same files give the same bytes, wherever they lie', async () => {
  const files = { 'index.ts': entity('@query("get") get(s: State): State { return s; }') };
  const first = await buildComponent({ entryFile: await projects.write(files) });
  const second = await buildComponent({ entryFile: await projects.write(files) });
  expect(Buffer.from(first.component).equals(second.component)).toBe(true);
});

test('a lower level of optimizing gives a larger component, and the same description', async () => {
  const entryFile = await projects.write({ 'index.ts': entity(QUERY) });
  const [fast, small] = [
    await buildComponent({ entryFile, optimizeLevel: 0 }),
    await buildComponent({ entryFile }),
  ];
  expect(fast.component.length).toBeGreaterThan(small.component.length);
  expect(fast.descriptor).toEqual(small.descriptor);
});

test('a program that has built a component ends by itself', async () => {
  const entryFile = await projects.write({ 'index.ts': entity(QUERY) });
  const door = new URL('../../guest-sdk/compiler/index.ts', import.meta.url).href;
  const program = `import { buildComponent } from ${JSON.stringify(door)};
const { component } = await buildComponent({ entryFile: ${JSON.stringify(entryFile)} });
console.log(component.length > 0);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { timeout: 60_000 },
  );
  expect(stdout).toBe('true\n');
});
