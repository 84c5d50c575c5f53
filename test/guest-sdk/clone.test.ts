// `clone()` of data classes: a copy shares no mutable object with its value. The test kit encodes the state before
// and after each call, so a query that changes an object shared by the state and its copy fails.
import { buildComponent } from '@svc/guest-sdk/compiler';
import { testEntity, type ModuleUnderTest, testModule } from '@svc/guest-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guest } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import type { CallableEngine } from '../../host/http/requests/callable-engine.ts';
import { RequestCalls } from '../../host/http/requests/request-calls.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { UserProjects } from './support/user-projects.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

const SHELF = `import { Effect, EventSourcedEntity, clone, register } from "@svc/guest-sdk";
@data enum Colour { Red, Green }
@data class Page<T> { items: T[] = []; next: Page<T> | null = null; }
@data abstract class Shape { note: string = ""; }
@variant("dot") class Dot extends Shape { at: i32[] = []; }
@variant("box") class Box extends Shape { inside: Shape | null = null; }
@data class Fixed { readonly list: i32[]; constructor(first: i32) { this.list = [first]; } }
@data class Own { words: string[] = []; clone(): string { return "mine"; } }
@data abstract class Mark {}
@variant("tick") class Tick extends Mark { clone: i32[] = []; }
@variant("cross") class Cross extends Mark { arms: i32[] = []; }
@data class Empty {}
@data class State {
  flag: bool = true; big: u64 = 18446744073709551615; real: f64 = 0.5; colour: Colour = Colour.Green;
  text: string = "a"; none: string | null = null; some: string | null = "b";
  when: Date = new Date(0); bytes: Uint8Array = new Uint8Array(2); colours: Colour[] = [Colour.Green];
  grid: i32[][] = [[1], [2]]; counts: Map<string, i32> = new Map(); pages: Map<string, Page<string>> = new Map();
  page: Page<Shape> = new Page(); fixed: Fixed = new Fixed(7); own: Own = new Own(); mark: Mark = new Tick();
  marks: Mark[] = []; holes: (Fixed | null)[] = [null]; empty: Empty = new Empty();
}
@data abstract class Event {}
@variant("seen") class Seen extends Event {}

function filled(): State {
  const state = new State();
  state.counts.set("one", 1);
  const page = new Page<string>();
  page.items.push("x");
  page.next = new Page<string>();
  state.pages.set("first", page);
  const dot = new Dot();
  dot.at.push(3);
  const box = new Box();
  box.inside = dot;
  state.page.items.push(box);
  state.marks.push(new Cross());
  state.holes.push(new Fixed(8));
  return state;
}

@entity("shelf") class Shelf extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return filled(); }
  apply(state: State, event: Event): State { if (event instanceof Seen) return state; return state; }
  @query("get") get(state: State): State { return state; }
  @query("copy") copy(state: State): State { return state.clone(); }
  @query("changed") changed(state: State): State {
    const copy = state.clone();
    copy.flag = false; copy.big = 1; copy.text = "z"; copy.none = "n"; copy.some = null;
    copy.when.setTime(86400000); copy.bytes[1] = 255; copy.colours[0] = Colour.Red;
    copy.grid[1][0] = 9; copy.counts.set("one", 9); copy.pages.get("first").items[0] = "z";
    copy.pages.get("first").next!.items.push("z");
    ((copy.page.items[0] as Box).inside as Dot).at[0] = 9;
    copy.page.items[0].note = "z";
    copy.fixed.list[0] = 9; copy.own.words.push("z"); (copy.mark as Tick).clone.push(9);
    (copy.marks[0] as Cross).arms.push(9); copy.holes[1]!.list[0] = 9;
    return copy;
  }
  @query("parts") parts(state: State): string[] {
    const shape: Shape = state.page.items[0].clone();
    shape.note = "of the base class";
    const list = clone(state.grid);
    list[0].push(5);
    const map = clone(state.counts);
    map.set("two", 2);
    const none = clone<Fixed | null>(state.holes[0]);
    const cross = (state.marks[0] as Cross).clone();
    cross.arms.push(1);
    return [shape.note, list[0].length.toString(), map.size.toString(), none == null ? "null" : "some",
      state.own.clone(), clone(Colour.Green).toString(), cross.arms.length.toString()];
  }
}
register<Shelf>();
`;

const NO_ENGINE: CallableEngine = {
  call: () => Promise.reject(new Error('no entity is asked')),
  ...WITHOUT_TIMERS,
  readEvents: () => Promise.reject(new Error('no journal is read')),
};

let projects: UserProjects;
const open = async (source: string) => {
  const entryFile = await projects.write({ 'index.ts': source });
  return testModule((await buildComponent({ entryFile, optimizeLevel: 0 })).component);
};

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('a copy is the value, and nothing that is changed in it is seen in the value', async () => {
  const module = await open(SHELF);
  const shelf = testEntity(module, 'shelf', 'one');
  const before = shelf.query('get').reply<Record<string, unknown>>();
  expect(shelf.query('copy').reply()).toEqual(before);
  const changed = shelf.query('changed').reply<Record<string, unknown>>();
  const same = Object.keys(changed).filter(
    (name) => JSON.stringify(changed[name]) === JSON.stringify(before[name]),
  );
  expect(same).toEqual(['real', 'colour', 'empty']);
  expect(shelf.query('get').reply()).toEqual(before);
  expect(shelf.query('parts').reply()).toEqual([
    'of the base class',
    '2',
    '2',
    'null',
    'mine',
    '1',
    '1',
  ]);
});

const DEEP = `import { Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
@data class State { n: i32 = 0; }
@data class Chain { next: Chain | null = null; }
@data class Tree { kids: Tree[] = []; }
@data class Named { kids: Map<string, Named> = new Map(); }
@data abstract class Shape {}
@variant("dot") class Dot extends Shape {}
@variant("box") class Box extends Shape { inside: Shape = new Dot(); }
@data abstract class Event {}
@variant("seen") class Seen extends Event {}

/** Copies a value with this many levels, and returns the levels of the copy; 0: the value contains itself. */
function chain(levels: i32): i32 {
  let value = new Chain();
  if (levels == 0) value.next = value;
  for (let i = 1; i < levels; ++i) { const outer = new Chain(); outer.next = value; value = outer; }
  let copied = 0;
  for (let at: Chain | null = value.clone(); at != null; at = at.next) ++copied;
  return copied;
}
function tree(levels: i32): i32 {
  let value = new Tree();
  if (levels == 0) value.kids.push(value);
  for (let i = 1; i < levels; ++i) { const outer = new Tree(); outer.kids.push(value); value = outer; }
  let copied = 1;
  for (let at = value.clone(); at.kids.length > 0; at = at.kids[0]) ++copied;
  return copied;
}
function named(levels: i32): i32 {
  let value = new Named();
  if (levels == 0) value.kids.set("x", value);
  for (let i = 1; i < levels; ++i) { const outer = new Named(); outer.kids.set("x", value); value = outer; }
  let copied = 1;
  for (let at = value.clone(); at.kids.size > 0; at = at.kids.get("x")) ++copied;
  return copied;
}
function shape(levels: i32): i32 {
  let value: Shape = new Dot();
  if (levels == 0) { const own = new Box(); own.inside = own; value = own; }
  for (let i = 1; i < levels; ++i) { const outer = new Box(); outer.inside = value; value = outer; }
  let copied = 1;
  for (let at = value.clone(); at instanceof Box; at = (at as Box).inside) ++copied;
  return copied;
}
function copied(kind: string, levels: i32): i32 {
  if (kind == "chain") return chain(levels);
  if (kind == "tree") return tree(levels);
  return kind == "named" ? named(levels) : shape(levels);
}
@data class Wanted { kind: string = ""; levels: i32 = 0; }
@entity("deep") class Deep extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { if (event instanceof Seen) return state; return state; }
  @query("copied") copied(state: State, wanted: Wanted): i32 { return copied(wanted.kind, wanted.levels); }
}
@endpoint("/deep") @access("internet") class Deeps {
  @get("/{kind}/{levels}") get(kind: string, levels: i32): i32 { return copied(kind, levels); }
}
register<Deep>();
register<Deeps>();
`;
/** Maximum number of levels that can be written as JSON. */
const LEVELS = 200;

describe('a copy of a deep value', () => {
  let module: ModuleUnderTest;
  let guest: Guest;
  beforeAll(async () => {
    const entryFile = await projects.write({ 'index.ts': DEEP });
    const { component } = await buildComponent({ entryFile });
    module = await testModule(component);
    guest = await createWasmGuest(component, WASM_LIMITS_DEFAULT);
    return () => guest.close();
  });

  const inEntity = (kind: string, levels: number) =>
    testEntity(module, 'deep', 'one').query('copied', { kind, levels }).reply();
  /** Runs on the stack of a handler that may wait, which is the smallest. */
  const inHandler = async (kind: string, levels: number): Promise<unknown> => {
    const context = { nowMs: 1, seed: 2n, metadata: [] };
    const request = {
      route: 0,
      parameters: [kind, String(levels)],
      query: '',
      headers: [],
      caller: 'local',
      body: { kind: 'none' },
    } as const;
    const calls = new RequestCalls(NO_ENGINE, { nowMs: () => 1 });
    return guest.endpoints.handle(context, request, calls);
  };

  test.each(['chain', 'tree', 'named', 'shape'])(
    'is made of as many levels as JSON may have, in entities and handlers: %s',
    async (kind) => {
      expect(inEntity(kind, LEVELS)).toBe(LEVELS);
      expect(await inHandler(kind, LEVELS)).toMatchObject({
        status: 200,
        body: { kind: 'json', text: String(LEVELS) },
      });
    },
  );

  test.each(['chain', 'tree', 'named', 'shape'])(
    'that contains itself is a fault of the stack, after which the module serves on: %s',
    async (kind) => {
      expect(() => inEntity(kind, 0)).toThrow('used up its stack');
      await expect(inHandler(kind, 0)).rejects.toMatchObject({ faultCause: 'stack' });
      expect(inEntity(kind, 1)).toBe(1);
      expect(await inHandler(kind, 1)).toMatchObject({ status: 200 });
    },
  );
});

const PAGE = 'docs/errors/SVC_STATE_CHANGED.md';
const snippet = snippetsOf(PAGE, 'ts').map(({ code }) => code);
const CART = `import { Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
@data class Line { sku: string = ""; quantity: i32 = 0; }
@data class Cart { lines: Line[] = []; }
@data abstract class CartEvent {}
@variant("added") class Added extends CartEvent { line: Line = new Line(); }
@entity("cart") class CartEntity extends EventSourcedEntity<Cart, CartEvent> {
  empty(id: string): Cart { return new Cart(); }
  apply(state: Cart, event: CartEvent): Cart {
    if (event instanceof Added) state.lines.push((event as Added).line);
    return state;
  }
${snippet.join('\n')}
}
register<CartEntity>();
`;

const line = (sku: string, quantity: number) => ({ sku, quantity });

test('the handler on the page of SVC_STATE_CHANGED answers a changed copy', async () => {
  expect(snippet).toHaveLength(1);
  testEntity(await open(CART), 'cart', 'one')
    .given([
      { type: 'added', line: line('b', 2) },
      { type: 'added', line: line('a', 1) },
    ])
    .query('by-quantity')
    .thenReply({ lines: [line('a', 1), line('b', 2)] });
});

test('a handler that works on the state itself fails, and not on its copy', async () => {
  const inPlace = CART.replace('state.clone()', 'state');
  expect(inPlace).not.toBe(CART);
  const cart = testEntity(await open(inPlace), 'cart', 'one').given([
    { type: 'added', line: line('b', 2) },
    { type: 'added', line: line('a', 1) },
  ]);
  expect(() => cart.query('by-quantity').reply()).toThrow('changed the state');
});
