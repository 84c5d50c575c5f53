// The compiler's messages about commands that cannot reply from the state after their events.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const using = (call: string, methods = '', reply = 'State'): string =>
  entity(
    `  @command("a") a(s: State, input: i32): Effect<${reply}> { return this.persist(new Added()).${call}; }\n${methods}`,
  );
const METHOD = 'f(s: State): State { return s; }';

test.each([
  [
    'a state that is no reply of the command',
    using('thenReplyState()', '', 'Done'),
    /^8:\d+ Type 'Effect<State>' is not assignable to type 'Effect<Done>'.*: it replies State: declare the command as Effect<State>, or reply with Done/,
  ],
  [
    'a method with another reply',
    using('thenReplyFrom(this.f)', METHOD, 'Done'),
    /^8:\d+ Type 'Effect<State>' is not assignable to type 'Effect<Done>'/,
  ],
  [
    'a function in the place of a method',
    using('thenReplyFrom((s: State) => s)'),
    /^8:\d+ thenReplyFrom takes a method of the entity: write thenReplyFrom\(this.summary\)/,
  ],
  ['nothing at all', using('thenReplyFrom()'), /^8:\d+ thenReplyFrom takes a method of the entity/],
  [
    'a method that there is not',
    using('thenReplyFrom(this.f)'),
    /^8:\d+ entity 'Thing' has no method 'f': add f\(state: State\): Reply/,
  ],
  [
    'a value too few',
    using('thenReplyFrom(this.f)', 'f(s: State, word: i32): State { return s; }'),
    /^8:\d+ 'f' is given 0 values after the state, and takes 1: thenReplyFrom\(this.f, word\)/,
  ],
  [
    'a value too many',
    using('thenReplyFrom(this.f, input)', METHOD),
    /^8:\d+ 'f' is given 1 value after the state, and takes 0: thenReplyFrom\(this.f\)/,
  ],
  [
    'a value of another type',
    using('thenReplyFrom(this.f, "x")', 'f(s: State, word: i32): State { return s; }'),
    /^8:\d+ Type 'string' is not assignable to type 'i32'/,
  ],
  [
    'a method that takes something else than the state',
    using('thenReplyFrom(this.f)', 'f(s: Event): State { return new State(); }'),
    /^9:\d+ the first parameter of 'f' is the state after the events, 'State'/,
  ],
  [
    'a method without parameters',
    using('thenReplyFrom(this.f)', 'f(): State { return new State(); }'),
    /^9:\d+ 'f' computes a reply and needs the state as its first parameter/,
  ],
  [
    'a method that is static',
    using('thenReplyFrom(this.f)', `static ${METHOD}`),
    /^9:\d+ handler 'f' cannot be static/,
  ],
  [
    'a method that returns nothing',
    using('thenReplyFrom(this.f)', 'f(s: State): void {}'),
    /^9:\d+ 'f' computes a reply and has to return one/,
  ],
  [
    'a method that could refuse',
    using('thenReplyFrom(this.f)', 'f(s: State): Result<State> { return ok(s); }'),
    /^9:\d+ 'f' computes a reply once the events are applied, and so cannot return Result/,
  ],
  [
    'a command in the place of a method',
    using('thenReplyFrom(this.a)'),
    /^8:\d+ 'a' is a command: thenReplyFrom takes a method that computes a reply/,
  ],
  [
    'a method that builds an effect',
    using('thenReplyFrom(this.f)', 'f(s: State): State { this.deleteEntity(); return s; }'),
    /^9:\d+ 'f' builds an effect with 'this.deleteEntity': it computes the reply of a command/,
  ],
  [
    'a reply that has no JSON form',
    using('thenReplyFrom(this.f)', 'f(s: State): Set<i32> { return new Set<i32>(); }'),
    /^9:\d+ type 'Set<i32>' has no JSON form/,
  ],
  [
    'a function outside of the entity',
    `import { Change } from "@svc/guest-sdk";
function done(change: Change<State, Event>): Effect<State> { return change.thenReplyFrom((s: State) => s); }
${entity('@command("a") a(s: State): Effect<State> { return done(this.persist(new Added())); }')}`,
    /^2:\d+ Type argument expected.*: thenReplyFrom is called in the class of the entity/,
  ],
  [
    'a change with the type of its event alone',
    `import { Change } from "@svc/guest-sdk";
${entity('@command("a") a(s: State): Effect<State> { const c: Change<Event> = this.persist(new Added()); return c.thenReplyState(); }')}`,
    /^9:\d+ Expected 2 type arguments, but got 1.*: Change<State, Event> has both types/,
  ],
])('%s', async (_name, source, expected) => {
  expect(await projects.firstLine(source)).toMatch(expected);
});
