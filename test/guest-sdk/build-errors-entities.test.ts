// The compiler's messages about entities that cannot become part of a component.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENTITY, QUERY, UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

const PARTS = `empty(id: string): State { return new State(); } apply(state: State, event: Event): State { return state; } ${QUERY}`;
const command = (text: string): string => entity(`  ${text}`);

describe('entities', () => {
  test.each([
    [
      'a wire name twice',
      entity(
        '@command("a") one(s: State): Effect<Done> { return this.reply(new Done()); }\n@query("a") two(s: State): State { return s; }',
      ),
      /^9:\d+ 'a' is declared twice, by 'one' and 'two'/,
    ],
    [
      'a command that returns no effect',
      command('@command("a") a(s: State): State { return s; }'),
      /^8:\d+ command 'a' must return Effect<Reply>/,
    ],
    [
      'a query with an effect',
      command('@query("a") a(s: State): Effect<Done> { return this.reply(new Done()); }'),
      /^8:\d+ query 'a' cannot have an effect/,
    ],
    [
      'a handler without a state',
      command('@query("a") a(): State { return new State(); }'),
      /^8:\d+ query 'a' needs the state as its first parameter: a\(state: State\)/,
    ],
    [
      'a first parameter that is not the state',
      command('@query("a") a(s: Added): State { return new State(); }'),
      /^8:\d+ the first parameter of a query is the state, 'State'$/,
    ],
    [
      'two inputs',
      command('@query("a") a(s: State, b: i32, c: i32): State { return s; }'),
      /^8:\d+ query 'a' has one input: put 'c' into the class of 'b'$/,
    ],
    [
      'a name that cannot be stored',
      command('@query("a b") a(s: State): State { return s; }'),
      /^8:\d+ @query needs the name it is called by/,
    ],
    [
      'an input that has no JSON form',
      command('@query("a") a(s: State, b: Set<i32>): State { return s; }'),
      /^8:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a reply that has no JSON form',
      command('@query("a") a(s: State): Set<i32> { return new Set<i32>(); }'),
      /^8:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a method that every client has',
      command('@query("a") events(s: State): State { return s; }'),
      /^8:\d+ every client has a member 'events'/,
    ],
    [
      'no component id',
      `${ENTITY}@entity class Thing extends EventSourcedEntity<State, Event> {}`,
      /^5:\d+ @entity needs the id of the component/,
    ],
    [
      'another base',
      `${ENTITY}@entity("thing") class Thing {}`,
      /^5:\d+ entity 'Thing' must extend EventSourcedEntity<State, Event>/,
    ],
    [
      'a state that is not data',
      `${ENTITY}class Plain {}\n@entity("thing") class Thing extends EventSourcedEntity<Plain, Event> { ${PARTS.replaceAll('State', 'Plain')} }`,
      /^6:\d+ the state 'Plain' must be a @data class: it is stored$/,
    ],
    [
      'an event that is not a sum type',
      `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, State> { ${PARTS.replaceAll('Event', 'State')} }`,
      /^5:\d+ the event 'State' must be an abstract @data class with @variant cases/,
    ],
    [
      'an entity that calls one',
      entity('@query("a") a(s: State): State { return new ThingClient("b").a().value; }'),
      /^8:\d+ entity 'Thing' cannot call with 'ThingClient': only endpoints and consumers can: call in the endpoint/,
    ],
    [
      'an apply that takes one case of the event',
      entity(QUERY).replace('event: Event)', 'event: Added)'),
      /^7:3 'apply' of entity 'Thing' has other parameters or another type than the runtime calls it with: write apply\(state: State, event: Event\): State$/,
    ],
    [
      'an apply that returns nothing',
      entity(QUERY).replace('event: Event): State {', 'event: Event): void {'),
      /^7:3 'apply' of entity 'Thing' has other parameters or another type/,
    ],
    [
      'an empty without the id',
      entity(QUERY).replace('empty(id: string)', 'empty()'),
      /^6:3 'empty' of entity 'Thing' has other parameters .*: write empty\(entityId: string\): State$/,
    ],
    [
      'a constructor with parameters',
      entity(`constructor(n: i32) { super(); } ${QUERY}`),
      /^8:\d+ the runtime makes the one object of 'Thing' itself/,
    ],
    [
      'a component id twice',
      `${entity(QUERY)}\n@entity("thing") class Other extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { state.n++; return state; } ${QUERY} }\nregister<Other>();`,
      /^11:\d+ component 'thing' is registered twice, as 'Thing' and as 'Other'/,
    ],
    [
      'a query that persists',
      command(
        '@query("a") a(s: State): State { this.persist(new Added()).thenReply(s); return s; }',
      ),
      /^8:\d+ query 'a' builds an effect with 'this.persist': a query only reads/,
    ],
    [
      'a query that deletes, in a method that it calls',
      entity(
        '@query("a") a(s: State): State { if (s.n > 1) this.tidy(); return s; }\nprivate tidy(): void { this.tidy(); this.deleteEntity(); }',
      ),
      /^8:\d+ query 'a' builds an effect with 'this.deleteEntity' through 'this.tidy'/,
    ],
    [
      'a query that calls a command',
      entity(
        '@query("a") a(s: State): State { this.add(s); return s; }\n@command("add") add(s: State): Effect<Done> { return this.persist(new Added()).thenReply(new Done()); }',
      ),
      /^8:\d+ query 'a' builds an effect with 'this.add'/,
    ],
    [
      'a query that refuses as a command does',
      command('@query("a") a(s: State): Result<State> { this.refuse<State>("no"); return ok(s); }'),
      /^8:\d+ .* with 'this.refuse': in a query, return Result<Reply> and write refuse<Reply>/,
    ],
    [
      'no handler',
      entity(''),
      /^5:\d+ entity 'Thing' has neither a @command nor a @query: nothing can reach it: add one/,
    ],
    [
      'no apply',
      `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); } ${QUERY} }`,
      /^5:\d+ entity 'Thing' has no 'apply', .*: add apply\(state: State, event: Event\): State/,
    ],
    [
      'no empty',
      `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  apply(state: State, event: Event): State { state.n++; return state; } ${QUERY} }`,
      /^5:\d+ entity 'Thing' has no 'empty', .*: add empty\(entityId: string\): State/,
    ],
    [
      'a handler named as a method of the base',
      command('@query("a") reply(s: State): State { return s; }'),
      /^8:\d+ 'reply' is a member of every entity: EventSourcedEntity declares it: give this/,
    ],
    [
      'a handler that folds events',
      `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  @query("apply") apply(state: State, event: Event): State { state.n++; return state; } }`,
      /^7:\d+ 'apply' cannot be a handler: the runtime calls it to fold events/,
    ],
    [
      'a wire name that is no plain name elsewhere',
      command('@query("constructor") a(s: State): State { return s; }'),
      /^8:\d+ what @query names cannot be named 'constructor'/,
    ],
    [
      'the name of its client, imported',
      `import { ok as ThingClient } from "@svc/guest-sdk";${entity(QUERY)}`,
      /^1:\d+ 'ThingClient' is the client that the compiler writes for 'Thing'/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});
