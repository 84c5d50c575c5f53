// FaultLocator: each way of trapping is located at its line of the source.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceLocation } from '@svc/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../../../../guest-sdk/compiler/index.ts';
import type { Guest } from '../../../../../model/guest.ts';
import {
  type FaultLocator,
  readFaultLocator,
} from '../../../../../host/hosting/wasm/locations/fault-locator.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { GuestFault } from '../../../../../model/guest-fault.ts';
import { temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';
import { CONTEXT, faultOf, hostCalls, request } from '../support/live-guest.ts';

/** The line of each is marked with `// NAME`. */
const SOURCE = `import { register } from "@svc/guest-sdk";
import { inner } from "./inner";
function below(depth: i32): i32 {
  if (depth < 0) return depth; // stack
  return below(depth + 1) * 3 + depth;
}
@endpoint("") @access("local") class Faults {
  @get("/unreachable/{n}") a(n: i32): i32 {
    if (n < 1000) unreachable(); // unreachable
    return n;
  }
  @get("/bounds/{n}") b(n: i32): i32 {
    return load<i32>(0xfffffff0 + n); // bounds
  }
  @get("/zero/{n}") c(n: i32): i32 {
    return 100 / (n - n); // zero
  }
  @get("/stack/{n}") d(n: i32): i32 { return below(n); }
  @get("/fuel/{n}") e(n: i32): i32 {
    let x = n | 1;
    while (x != 0) { // fuel
      x *= 3;
    }
    return x;
  }
  @get("/abort/{n}") f(n: i32): i32 {
    if (n < 1000) throw new Error("told to"); // abort
    return n;
  }
  @get("/index/{n}") g(n: i32): i32 {
    const all: i32[] = [];
    for (let i = 0; i < n; i++) all.push(i * n);
    return all[n + 10]; // index
  }
  @get("/inner/{n}") h(n: i32): i32 { return inner(n); }
}
register<Faults>();
`;
const INNER = `export function inner(n: i32): i32 {
  return 7 % (n & 0);
}
`;
const KINDS = ['unreachable', 'bounds', 'zero', 'stack', 'fuel', 'abort', 'index'] as const;
const lineOf = (mark: string) =>
  SOURCE.split('\n').findIndex((line) => line.endsWith(` // ${mark}`)) + 1;

const folder = temporaryFolderOfFile();
const file = join(folder, 'faults.wasm');
let guest: Guest;
let fingerprint: string;
let locator: FaultLocator;
let faults: ReadonlyMap<string, GuestFault>;

beforeAll(async () => {
  writeFileSync(join(folder, 'index.ts'), SOURCE);
  writeFileSync(join(folder, 'inner.ts'), INNER);
  const { component, sourceMap } = await buildComponent({ entryFile: join(folder, 'index.ts') });
  fingerprint = sourceMap!.x_svc_module;
  writeFileSync(file, component);
  writeFileSync(`${file}.map`, JSON.stringify({ ...sourceMap, sourceRoot: 'assembly/' }));
  guest = await createWasmGuest(component);
  locator = await readFaultLocator({ file, fingerprint, limits: WASM_LIMITS_DEFAULT });
  const all = new Map<string, GuestFault>();
  for (const [route, name] of [...KINDS, 'inner'].entries())
    all.set(
      name,
      await faultOf(() =>
        guest.endpoints.handle(CONTEXT, request(route, { parameters: ['5'] }), hostCalls()),
      ),
    );
  faults = all;
});

const first = (name: string): SourceLocation | undefined =>
  locator.locationsOf(faults.get(name)!)[0];

test.each(KINDS)('%s is located at the line of the AssemblyScript', (kind) => {
  const fault = faults.get(kind)!;
  expect(fault.frames?.length).toBeGreaterThan(0);
  expect(first(kind)).toMatchObject({ file: 'assembly/index.ts', line: lineOf(kind) });
});

test('a map knows its module by the fingerprint that the runtime knows it by', () => {
  expect(guest.fingerprint).toBe(fingerprint);
});

test('the file is the one that the code stands in, and what called it follows', () => {
  const [inner, caller] = locator.locationsOf(faults.get('inner')!);
  expect(inner).toMatchObject({ file: 'assembly/inner.ts', line: 2 });
  expect(caller === undefined || caller.file === 'assembly/index.ts').toBe(true);
});

test('a function is named as its author wrote it, and nothing of the library is named beside the author’s', () => {
  expect(first('stack')?.function).toBe('below');
  for (const fault of faults.values())
    for (const location of locator.locationsOf(fault)) expect(location.file).toMatch(/^assembly\//);
});

test('a fault whose frames are in the library alone is located there', () => {
  const { guestMessage } = faults.get('index')!;
  expect(guestMessage).toMatch(/~lib\/array\.ts:\d+:\d+$/);
  expect(locator.locationsOf({ guestMessage })).toMatchObject([{ file: '~lib/array.ts' }]);
});

describe('without a map that fits, the module’s own words are all there is:', () => {
  const reported = { guestMessage: 'abort: no: at all at cart.ts:31:5', frames: [] };
  const traps = { frames: [{ functionIndex: 20, offset: 700 }] };

  test.each([
    ['none', () => join(folder, 'nowhere.wasm'), 'cannot be read (ENOENT)'],
    ['a map that is a folder', () => besideFolder(), 'is no file'],
  ])('%s', async (_what, module, reason) => {
    const reasons: string[] = [];
    const without = await readFaultLocator(
      { file: module(), fingerprint, limits: WASM_LIMITS_DEFAULT },
      (why) => reasons.push(why),
    );
    expect(reasons.join()).toContain(reason);
    expect(without.locationsOf(reported)).toEqual([
      { file: 'cart.ts', line: 31, column: 5, function: null },
    ]);
    expect(without.locationsOf(traps)).toEqual([]);
  });

  test('a module that was built again', async () => {
    const reasons: string[] = [];
    const module = { file, fingerprint: 'e'.repeat(64), limits: WASM_LIMITS_DEFAULT };
    const without = await readFaultLocator(module, (why) => reasons.push(why));
    expect(reasons).toEqual(['it belongs to another build of the module']);
    expect(without.locationsOf(faults.get('zero')!)).toEqual([]);
  });

  test('a map beside another module', async () => {
    const other = join(folder, 'other.wasm');
    writeFileSync(other, Buffer.from('other'));
    writeFileSync(`${other}.map`, JSON.stringify({ ...MAP, x_svc_module: fingerprint }));
    const reasons: string[] = [];
    await readFaultLocator({ file: other, fingerprint, limits: WASM_LIMITS_DEFAULT }, (why) =>
      reasons.push(why),
    );
    expect(reasons).toEqual([`${other} is another module by now`]);
  });
});

const MAP = { version: 3, sources: [], names: [], mappings: '' };

function besideFolder(): string {
  const module = join(folder, 'beside.wasm');
  mkdirSync(`${module}.map`);
  return module;
}
