// The definition of a view: it changes with the sources that its class reaches, and with no others.
import { Parser } from 'assemblyscript';
import { describe, expect, test } from 'vitest';
import { readDeclarations } from '../../guest-sdk/compiler/declarations.ts';
import { viewDefinitions } from '../../guest-sdk/compiler/view-definition.ts';
import { declaredViews } from '../../host/views/view-definitions.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { compileSources, sourcesOf, type Sources } from '../support/compile-fixture.ts';

const SDK = 'import { RowChange, View, register } from "@svc/guest-sdk";';
const FILES: Readonly<Record<string, string>> = {
  'index.ts': `${SDK}
import { Orders } from "./orders";
import { Endpoint } from "./endpoint";
register<Orders>();
register<Endpoint>();`,
  'orders.ts': `${SDK}
import { OrderEvent, Placed } from "./events";
import { priceOf as price, Shape } from "./prices";
import * as texts from "./texts";
@data export class Row { label: string = ""; cents: i64 = 0; shape: string = ""; }
@view("orders") @index("label")
export class Orders extends View<Row> {
  @from("order") on(row: Row | null, event: OrderEvent): RowChange<Row> {
    const next = new Row();
    if (event instanceof Placed) next.cents = price(event as Placed);
    next.label = texts.label();
    return this.put(next);
  }
}
@data @find("orders", "of-label", "label = :label") export class OfLabel { label: string = ""; }`,
  'events.ts': `@data export abstract class OrderEvent {}
@variant("placed") export class Placed extends OrderEvent { cents: i64 = 0; }
@variant("paid") export class Paid extends OrderEvent {}`,
  'prices.ts': `import { Placed } from "./events";
import { FEE } from "./fees";
export interface Shape { name(): string }
export class Circle implements Shape { name(): string { return "circle"; } }
export function priceOf(placed: Placed): i64 { const shape: Shape = make(); return placed.cents + FEE; }
function make(): Shape { return new Circle(); }
function unused(): i32 { return 1; }`,
  'fees.ts': 'const OWN: i64 = 3; export { OWN as FEE };',
  'texts.ts':
    'export function label(): string { return "a"; } export function other(): string { return "b"; }',
  'endpoint.ts': `const LIMIT = 10;
@endpoint("/orders") export class Endpoint { static count: i32 = 0; @get all(): string { return LIMIT.toString(); } }
@entity("order") export class Order {}`,
};

/** Returns the definition of the view `orders` after changes of files: the text that is replaced, and the new one. */
function definitionOf(...changes: readonly (readonly [file: string, from: string, to: string])[]) {
  const files = new Map(Object.entries(FILES));
  for (const [file, from, to] of changes) {
    const before = files.get(file) ?? '';
    expect(before).toContain(from);
    files.set(file, from === '' ? `${before}\n${to}` : before.replace(from, to));
  }
  const parser = new Parser();
  for (const [name, text] of files) {
    parser.parseFile(text, name, name === 'index.ts');
    while (parser.nextFile() !== null) {
      // Each file is given by itself.
    }
  }
  expect(parser.diagnostics.map(({ message }) => message)).toEqual([]);
  const { views } = readDeclarations(parser);
  const [definition] = viewDefinitions(parser.sources, views.values(), '1').values();
  return definition;
}
const unchanged = definitionOf();

/** The definition with a class that extends one that the view reaches. */
const ring = (text: string) =>
  definitionOf([
    'endpoint.ts',
    '',
    `class Ring extends Circle { name(): string { return "${text}"; } }`,
  ]);

test('a definition is a hash, and the same for the same sources', () => {
  expect(unchanged).toMatch(/^[0-9a-f]{64}$/);
  expect(definitionOf()).toBe(unchanged);
});

describe('the definition stays the same', () => {
  test.each([
    ['an endpoint', 'endpoint.ts', 'LIMIT.toString()', '(LIMIT + 1).toString()'],
    ['a constant of an endpoint', 'endpoint.ts', 'LIMIT = 10', 'LIMIT = 11'],
    ['an entity', 'endpoint.ts', 'class Order {}', 'class Order { a: i32 = 1; }'],
    ['a function that it does not call', 'texts.ts', 'return "b"', 'return "c"'],
    ['another such function', 'prices.ts', 'return 1', 'return 2'],
    ['a registration', 'index.ts', 'register<Endpoint>();', ''],
    ['its indexes', 'orders.ts', '@index("label")', '@index("cents")'],
    ['a query', 'orders.ts', 'label = :label', 'label >= :label'],
    ['the parameters of a query', 'orders.ts', 'class OfLabel { label', 'class OfLabel { text'],
    [
      'a comment before a class',
      'orders.ts',
      '@data export class Row',
      '// Rows\n@data export class Row',
    ],
  ])('when %s changes', (_what, ...change) => {
    expect(definitionOf(change)).toBe(unchanged);
  });
});

describe('the definition changes', () => {
  test.each([
    ['the class', 'orders.ts', 'this.put(next)', 'this.keep()'],
    ['the id of a source', 'orders.ts', '@from("order")', '@from("other")'],
    ['the row', 'orders.ts', 'cents: i64 = 0', 'cents: i64 = 1'],
    [
      'the manifest of a type',
      'events.ts',
      '@data export abstract',
      '@data("order-event") export abstract',
    ],
    ['the name of a case', 'events.ts', '@variant("paid")', '@variant("payed")'],
    ['a field of a case', 'events.ts', 'cents: i64 = 0', 'cents: i64 = 1'],
    [
      'a case that it does not name',
      'events.ts',
      'class Paid extends OrderEvent {}',
      'class Paid extends OrderEvent { a: i32 = 0; }',
    ],
    ['a function under another name', 'prices.ts', 'placed.cents + FEE', 'placed.cents - FEE'],
    [
      'a function that this one calls',
      'prices.ts',
      'return new Circle()',
      'return changetype<Shape>(new Circle())',
    ],
    ['a class behind an interface', 'prices.ts', '"circle"', '"ring"'],
    ['a constant that is exported under another name', 'fees.ts', 'OWN: i64 = 3', 'OWN: i64 = 4'],
    ['a function of a namespace import', 'texts.ts', 'return "a"', 'return "z"'],
    ['code that runs at the start', 'endpoint.ts', '', 'start();'],
    ['a variable that such code sets', 'endpoint.ts', '', 'export let counted: i32 = next();'],
    ['a static field that such code sets', 'endpoint.ts', 'count: i32 = 0', 'count: i32 = next()'],
    ['a namespace', 'endpoint.ts', '', 'namespace inner { export const a: i32 = 1; }'],
  ])('with %s', (_what, ...change) => {
    const changed = definitionOf(change);
    expect(changed).toMatch(/^[0-9a-f]{64}$/);
    expect(changed).not.toBe(unchanged);
  });

  test('with a class that overrides a method of one that it reaches', () => {
    expect(ring('a')).not.toBe(unchanged);
    expect(ring('a')).not.toBe(ring('b'));
  });
});

test.each([
  ['idof<Row>()', 'the number of a class'],
  ['changetype<usize>(next)', 'an address'],
  ['load<i64>(8)', 'memory'],
  ['<i64>__heap_base', 'the end of the static data'],
])('a view that uses %s has no definition of its own: %s depends on the whole module', (text) => {
  const change = ['orders.ts', 'price(event as Placed)', text] as const;
  expect(definitionOf(change)).toBeUndefined();
});

test('a version that the view declares stands for its code', () => {
  const parser = new Parser();
  parser.parseFile(
    FILES['orders.ts']!.replace('@view("orders")', '@view("orders", "2")'),
    'orders.ts',
    true,
  );
  const { views, problems } = readDeclarations(parser);
  expect(problems).toEqual([]);
  expect([...views.values()].map(({ version }) => version)).toEqual(['2']);
});

/** The definitions that the host gives the views of a module. */
const definitions = async (changed: Sources) => {
  const { descriptor, fingerprint } = admitModule(await compileSources('order-list', changed));
  return Object.fromEntries(
    declaredViews(descriptor, fingerprint).map(({ folded }) => [
      folded.id,
      folded.stored.definition,
    ]),
  );
};

test('the rows of a module stay those of its former build while no code of their views has changed', async () => {
  const sources = await sourcesOf('order-list');
  const change = (file: string, from: string, to: string) => {
    expect(sources.get(file)).toContain(from);
    return definitions(new Map([...sources, [file, sources.get(file)!.replace(from, to)]]));
  };
  const first = await definitions(sources);
  expect(await change('orders-endpoint.ts', 'limit: u32 = 100', 'limit: u32 = 50')).toEqual(first);
  const next = await change('orders.ts', 'row.reminders += 1', 'row.reminders += 2');
  expect(next['amounts']).toBe(first['amounts']);
  expect(next['orders']).not.toBe(first['orders']);
  const version = await change('orders.ts', '@view("orders")', '@view("orders", "1")');
  const both = await definitions(
    new Map([
      ...sources,
      [
        'orders.ts',
        sources
          .get('orders.ts')!
          .replace('@view("orders")', '@view("orders", "1")')
          .replace('row.reminders += 1', 'row.reminders += 2'),
      ],
    ]),
  );
  expect(both['orders']).toBe(version['orders']);
});
