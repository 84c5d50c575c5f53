// What two versions of a service that run at the same time do not understand of each other.
import type { EntityDescriptor, ModuleDescriptor, TypeSchema } from '@svc/contract';
import { expect, test } from 'vitest';
import { rollingDifferences } from '../../../host/history/rolling-difference.ts';

const TEXT = { type: 'string' } as const;
const BYTE = { type: 'integer', minimum: 0, maximum: 255 } as const;
const FLAG = { type: 'boolean' } as const;
const NULL = { type: 'null' } as const;
const RUNNING = 'the running version';
const NEW = 'the new version';

const KEYS =
  "rolling-key-refused (cart): the two versions write the input of command 'add' in different ways: a request that is repeated with its " +
  'idempotency key at a node with the other version is refused';

type Fields = Readonly<Record<string, TypeSchema>>;

function record(required: Fields, optional: Fields = {}): TypeSchema {
  const properties = { ...required, ...optional };
  return { type: 'object', properties, required: Object.keys(required) };
}

/** A version with the entity `cart`. */
function version(given: Partial<EntityDescriptor> = {}): ModuleDescriptor {
  const cart: EntityDescriptor = {
    component: 'cart',
    state: { manifest: 'Cart', schema: record({ items: BYTE }) },
    event: { manifest: 'CartEvent', schema: record({ sku: TEXT }) },
    commands: [{ name: 'add', input: record({ sku: TEXT }), reply: NULL }],
    queries: [{ name: 'get', reply: record({ items: BYTE }) }],
    ...given,
  };
  return {
    protocol: '0.2.0',
    sdk: { name: 'test', version: '1' },
    types: { Named: record({ sku: TEXT }) },
    entities: [cart],
    endpoints: [],
  };
}

const event = (schema: TypeSchema, manifest = 'CartEvent') => ({ event: { manifest, schema } });
const add = (input: TypeSchema | undefined, reply: TypeSchema = NULL) => ({
  commands: [{ name: 'add', ...(input && { input }), reply }],
});
const get = (reply: TypeSchema) => ({ queries: [{ name: 'get', reply }] });

const found = (running: ModuleDescriptor, now: ModuleDescriptor) =>
  rollingDifferences(running, now).map(
    ({ name, component, message }) => `${name} (${component}): ${message}`,
  );

test.each<readonly [string, Partial<EntityDescriptor>]>([
  ['is the same', {}],
  ['has another state', { state: { manifest: 'Other', schema: TEXT } }],
  ['stores a further field that may be missing', event(record({ sku: TEXT }, { note: TEXT }))],
  ['has another name of a type', { ...add({ $ref: '#/types/Named' }) }],
  ['replies a further field', get(record({ items: BYTE }, { note: TEXT }))],
])('a new version runs beside one if it %s', (_what, change) => {
  expect(found(version(), version(change))).toEqual([]);
  expect(found(version(change), version())).toEqual([]);
});

test.each<readonly [string, Partial<EntityDescriptor>, readonly string[]]>([
  [
    'stores a field with another type',
    event(record({ sku: BYTE })),
    [
      `rolling-event-unread (cart): ${NEW} does not read every event of ${RUNNING}. From the latter to the former: sku: text became an integer from 0 to 255`,
      `rolling-event-unread (cart): ${RUNNING} does not read every event of ${NEW}. From the latter to the former: sku: an integer from 0 to 255 became text`,
    ],
  ],
  [
    'needs a field that was not stored',
    event(record({ sku: TEXT, isGift: FLAG })),
    [
      `rolling-event-unread (cart): ${NEW} does not read every event of ${RUNNING}. From the latter to the former: isGift: it may not be missing any more`,
    ],
  ],
  [
    'stores a field no more',
    event(record({})),
    [
      `rolling-event-unread (cart): ${RUNNING} does not read every event of ${NEW}. From the latter to the former: sku: it may not be missing any more`,
    ],
  ],
  [
    'stores events under another name',
    event(record({ sku: TEXT }), 'CartEvent2'),
    [
      `rolling-event-unread (cart): ${RUNNING} stores events as 'CartEvent', and ${NEW} reads 'CartEvent2'`,
      `rolling-event-unread (cart): ${NEW} stores events as 'CartEvent2', and ${RUNNING} reads 'CartEvent'`,
    ],
  ],
  [
    'has a further command',
    {
      commands: [
        { name: 'add', input: record({ sku: TEXT }), reply: NULL },
        { name: 'clear', reply: NULL },
      ],
    },
    [
      `rolling-call-refused (cart): ${RUNNING} has no command 'clear', which ${NEW} may send to its nodes`,
    ],
  ],
  [
    'has a query no more',
    { queries: [] },
    [
      `rolling-call-refused (cart): ${NEW} has no query 'get', which ${RUNNING} may send to its nodes`,
    ],
  ],
  [
    'needs a further input',
    add(record({ sku: TEXT, count: BYTE })),
    [
      `rolling-call-refused (cart): ${NEW} does not take every input of command 'add' of ${RUNNING}. From the latter to the former: count: it may not be missing any more`,
      KEYS,
    ],
  ],
  ['takes a further input that may be missing', add(record({ sku: TEXT }, { note: TEXT })), [KEYS]],
  [
    'has an input no more',
    add(undefined),
    [
      `rolling-call-refused (cart): ${RUNNING} does not take every input of command 'add' of ${NEW}. From the latter to the former: the input: null is refused`,
      KEYS,
    ],
  ],
  [
    'replies less',
    get(record({})),
    [
      `rolling-reply-unread (cart): ${RUNNING} does not read every reply to query 'get' of ${NEW}. From the latter to the former: items: it may not be missing any more`,
    ],
  ],
  [
    'needs more of a reply',
    get(record({ items: BYTE, isOpen: FLAG })),
    [
      `rolling-reply-unread (cart): ${NEW} does not read every reply to query 'get' of ${RUNNING}. From the latter to the former: isOpen: it may not be missing any more`,
    ],
  ],
])('a new version does not run beside one if it %s', (_what, change, messages) => {
  expect(found(version(), version(change))).toEqual(messages);
});

/** A case of an event. */
function caseOf(tag: string): TypeSchema {
  const properties = { type: { const: tag }, sku: TEXT };
  return { type: 'object', properties, required: ['type', 'sku'] };
}

/** A version whose event has these cases. */
function withCases(...tags: readonly string[]): ModuleDescriptor {
  const oneOf = tags.map((tag) => ({ $ref: `#/types/${tag}` }));
  const types = Object.fromEntries(tags.map((tag) => [tag, caseOf(tag)]));
  return { ...version(event({ oneOf } as TypeSchema)), types };
}

test.each([
  [['added'], ['added', 'removed'], RUNNING, NEW],
  [['added', 'removed'], ['added'], NEW, RUNNING],
])('cases %j before and %j now: a case that one does not know is found', (...given) => {
  const [before, now, reader, writer] = given;
  expect(found(withCases(...before), withCases(...now))).toEqual([
    `rolling-event-unread (cart): ${reader} does not read every event of ${writer}. From the latter to the former: the event: ` +
      "of case 'removed': case 'removed' is refused",
  ]);
});

test.each([
  [[], [version()], RUNNING],
  [[version()], [], NEW],
])('a component that only one version has is found', (before, now, reader) => {
  const nothing: ModuleDescriptor = { ...version(), entities: [] };
  expect(found(before[0] ?? nothing, now[0] ?? nothing)).toEqual([
    `rolling-component-missing (cart): ${reader} has no component 'cart': its nodes fail calls of it, and do not start again once it has events`,
  ]);
});
