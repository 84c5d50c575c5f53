// A module with a view, in WAT: each counter that has counted has a row. `GET /counters/1/{id}` lets a counter count, and
// answers the number of rows; `GET /counters/2` answers that number alone. The fold fails for ids of three characters.
import type { ModuleDescriptor } from '@svc/contract';
import { counter } from '../host/hosting/wasm/support/counter.ts';
import {
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from '../host/hosting/wasm/support/guest-module.ts';

const TEXTS = { view: [1300, 'counters'], query: [1310, 'all'], input: [1320, '{}'] } as const;
const text = (name: keyof typeof TEXTS) =>
  `(i32.const ${TEXTS[name][0]}) (i32.const ${TEXTS[name][1].length})`;
const data = Object.values(TEXTS).map(([at, content]) => `(data (i32.const ${at}) "${content}")`);

const RESULT = 400;
/** Answers the number of rows of the first page, or 500 and the kind of the failed query. */
const COUNT_ROWS = `(call $find ${text('view')} ${text('query')} ${text('input')} (i32.const 1000)
    (i32.const 0) (i32.const 0) (i32.const 0) (i32.const ${RESULT}))
  (if (i32.load8_u (i32.const ${RESULT})) (then
    (i32.store16 (i32.const 20) (i32.add (i32.const 500) (i32.load8_u (i32.const ${RESULT + 8}))))
    (return (i32.const 16))))
  (i32.store16 (i32.const 20) (i32.const 200))
  (i32.store8 (i32.const 32) (i32.const 2))
  (call $decimal (i32.const 36) (i64.extend_i32_u (i32.load (i32.const ${RESULT + 12}))))
  (return (i32.const 16))`;
/** Lets the counter count that the first parameter names. */
const COUNT = `(call $call (i32.const 1160) (i32.const 7) (i32.load (local.get $parameters))
  (i32.load offset=4 (local.get $parameters)) (i32.const 1170) (i32.const 3) ${text('input')}
  (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256))`;

const HANDLE = `(drop (call $clear))
  (if (i32.eq (local.get $route) (i32.const 1)) (then ${COUNT}))
  ${COUNT_ROWS}
  (i32.const 16)`;

/** Answers the rows that it is given, each with the JSON text {}. */
const FOLD = `(local $row i32) (local $left i32)
  (drop (call $clear))
  (local.set $row (local.get $rows))
  (local.set $left (local.get $rows-length))
  (block $done (loop $next
    (br_if $done (i32.eqz (local.get $left)))
    (if (i32.eq (i32.load offset=4 (local.get $row)) (i32.const 3)) (then unreachable))
    (i32.store8 offset=8 (local.get $row) (i32.const 1))
    (i32.store offset=12 (local.get $row) (i32.const ${TEXTS.input[0]}))
    (i32.store offset=16 (local.get $row) (i32.const 2))
    (local.set $row (i32.add (local.get $row) (i32.const 20)))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))
    (br $next)))
  (i32.store (i32.const 20) (local.get $rows))
  (i32.store (i32.const 24) (local.get $rows-length))
  (global.set $top (i32.const 65536))
  (i32.const 16)`;

function descriptor(definition: string, views: readonly string[]): ModuleDescriptor {
  const base = testDescriptor('0.2.0');
  const [entity] = base.entities;
  const [endpoint] = base.endpoints;
  const nothing = { type: 'null' } as const;
  const id = { name: 'id', schema: { type: 'string' } } as const;
  return {
    ...base,
    entities: [{ ...entity!, commands: [{ name: 'add', reply: nothing }] }],
    endpoints: [
      {
        ...endpoint!,
        routes: endpoint!.routes
          .slice(0, 3)
          .map((route, index) =>
            index === 1 ? { ...route, path: '/1/{id}', parameters: [id] } : route,
          ),
      },
    ],
    views: views.map((view) => ({
      id: view,
      sources: ['counter'],
      row: { type: 'object', properties: {}, required: [] },
      definition,
      indexes: [],
      queries: [{ name: 'all', where: '' }],
    })),
  };
}

/** Returns the component. `definition`: the version of its views, which are all alike. */
export async function viewModule(
  definition = '1',
  views: readonly string[] = ['counters'],
): Promise<Uint8Array> {
  const parts = { ...counter, fields: `${counter.fields}\n${data.join('\n')}` };
  const wat = guestWat({
    ...parts,
    version: '0.2.0',
    handle: HANDLE,
    fold: FOLD,
    keys: '(call $clear)',
  });
  return withDescriptor(await component(wat), descriptor(definition, views));
}
