// Guest modules for tests, written in WAT: the whole world `service` with bodies that a test can replace one by one,
// wrapped into a component as the SDK's compiler does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { componentEmbed, componentNew, parse } from '@bytecodealliance/jco';
import {
  DESCRIPTOR_SECTION,
  type EndpointDescriptor,
  type EntityDescriptor,
  type ModuleDescriptor,
  type ProtocolVersion,
} from '@svc/contract';
import type { StringEncoding } from '../../../../../host/hosting/wasm/binary/component-outline.ts';

const WIT_FOLDER = join(import.meta.dirname, '../../../../../wit');
const WIT: Readonly<Record<ProtocolVersion, string>> = {
  '0.1.0': readFileSync(join(WIT_FOLDER, '0.1.0/runtime.wit'), 'utf8'),
  '0.2.0': readFileSync(join(WIT_FOLDER, 'runtime.wit'), 'utf8'),
};
const RUNTIME = 'svc:runtime/';
const ENTITY = `${RUNTIME}entity@0.1.0#`;
export const COMMAND_EXPORT = `${ENTITY}[method]instance.command`;

const CONTEXT_PARAMETERS = `(param $rep i32) (param $now i64) (param $seed i64)
  (param $metadata i32) (param $metadata-length i32) (param $name i32) (param $name-length i32)
  (param $input i32) (param $input-length i32) (result i32)`;

/** Every function that a module exports, with its parameters. */
const FUNCTIONS = {
  realloc: [
    'cabi_realloc',
    '(param $old i32) (param $old-size i32) (param $alignment i32) (param $size i32) (result i32)',
  ],
  construct: [
    `${ENTITY}[constructor]instance`,
    '(param $component i32) (param $component-length i32) (param $id i32) (param $id-length i32) (param $some i32) (param $snapshot i32) (param $snapshot-length i32) (result i32)',
  ],
  destroy: [`${ENTITY}[dtor]instance`, '(param $rep i32)'],
  apply: [
    `${ENTITY}[method]instance.apply`,
    '(param $rep i32) (param $events i32) (param $count i32) (result i32)',
  ],
  command: [COMMAND_EXPORT, CONTEXT_PARAMETERS],
  query: [`${ENTITY}[method]instance.query`, CONTEXT_PARAMETERS],
  snapshot: [`${ENTITY}[method]instance.snapshot`, '(param $rep i32) (result i32)'],
  handle: [
    `${RUNTIME}http@0.1.0#handle`,
    `(param $now i64) (param $seed i64) (param $metadata i32) (param $metadata-length i32)
    (param $route i32) (param $parameters i32) (param $parameters-length i32) (param $query i32) (param $query-length i32)
    (param $headers i32) (param $headers-length i32) (param $caller i32) (param $caller-length i32)
    (param $body-kind i32) (param $body i32) (param $body-length i32) (result i32)`,
  ],
  takeLog: [`${RUNTIME}diagnostics@0.1.0#take-log`, '(result i32)'],
} as const;
type FunctionName = keyof typeof FUNCTIONS;

/** The functions of the interfaces that a module of version 0.2.0 may export. It exports those that have a body. */
const OPTIONAL_FUNCTIONS = {
  keys: [
    `${RUNTIME}view@0.2.0#keys`,
    '(param $view i32) (param $view-length i32) (param $events i32) (param $count i32) (result i32)',
  ],
  fold: [
    `${RUNTIME}view@0.2.0#fold`,
    `(param $view i32) (param $view-length i32) (param $rows i32) (param $rows-length i32)
    (param $events i32) (param $count i32) (result i32)`,
  ],
  consume: [
    `${RUNTIME}consumer@0.2.0#handle`,
    `(param $now i64) (param $seed i64) (param $metadata i32) (param $metadata-length i32)
    (param $consumer i32) (param $consumer-length i32) (param $component i32) (param $component-length i32)
    (param $id i32) (param $id-length i32) (param $seq i64) (param $time i64)
    (param $manifest i32) (param $manifest-length i32) (param $json i32) (param $json-length i32) (result i32)`,
  ],
} as const;
type OptionalFunctionName = keyof typeof OPTIONAL_FUNCTIONS;

/** All imports, named `$now-ms`, `$read`, `$call`, `$resource-new`, `$resource-rep`, `$resource-drop`. */
const IMPORTS = `
  (import "${RUNTIME}clock@0.1.0" "now-ms" (func $now-ms (result i64)))
  (import "${RUNTIME}journal@0.1.0" "read" (func $read (param i32 i32 i32 i32 i64 i32 i32)))
  (import "${RUNTIME}routing@0.1.0" "call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "[export]${RUNTIME}entity@0.1.0" "[resource-new]instance" (func $resource-new (param i32) (result i32)))
  (import "[export]${RUNTIME}entity@0.1.0" "[resource-rep]instance" (func $resource-rep (param i32) (result i32)))
  (import "[export]${RUNTIME}entity@0.1.0" "[resource-drop]instance" (func $resource-drop (param i32)))`;

/** The further imports of version 0.2.0. */
export const NEW_IMPORTS = `
  (import "${RUNTIME}clock@0.2.0" "set-timer" (func $set-timer (param i32 i32)))
  (import "${RUNTIME}clock@0.2.0" "cancel-timer" (func $cancel-timer (param i32 i32 i32 i32 i32 i32 i32)))
  (import "${RUNTIME}journal@0.2.0" "find" (func $find (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "${RUNTIME}routing@0.2.0" "request" (func $request (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))`;

/**
 * Valid bodies that do nothing. Lowered values are placed from page 1 on, by a pointer that only increases; results
 * lie at 16. Bytes 0 to 15 and 4096 to 65535 are free for a test.
 */
const QUIET: Readonly<Record<FunctionName, string>> = {
  realloc: `(local $at i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (block $fits (loop $grow
      (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
      unreachable))
    (local.get $at)`,
  construct: '(call $resource-new (i32.const 7))',
  destroy: '',
  apply: '(call $clear)',
  command: '(call $clear)',
  query: '(call $clear)',
  snapshot: '(call $clear)',
  handle: '(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 204)) (i32.const 16)',
  takeLog: '(drop (call $clear)) (i32.const 16)',
};

export interface GuestParts extends Partial<Record<FunctionName | OptionalFunctionName, string>> {
  /** The version of svc:runtime; 0.1.0 unless it is given. */
  readonly version?: ProtocolVersion;
  /** Further fields of the module: globals, data, functions, tables. */
  readonly fields?: string;
  readonly memory?: string;
  readonly imports?: string;
}

export const QUIET_MEMORY = '(memory (export "memory") 2)';

export function guestWat(parts: GuestParts = {}): string {
  const functions = Object.entries(FUNCTIONS).map(
    ([name, [exportName, parameters]]) =>
      `(func (export "${exportName}") ${parameters} ${parts[name as FunctionName] ?? QUIET[name as FunctionName]})`,
  );
  const { version = '0.1.0' } = parts;
  const optional = Object.entries(OPTIONAL_FUNCTIONS).flatMap(
    ([name, [exportName, parameters]]) => {
      const body = parts[name as OptionalFunctionName];
      return body === undefined ? [] : [`(func (export "${exportName}") ${parameters} ${body})`];
    },
  );
  const imports = version === '0.1.0' ? IMPORTS : `${IMPORTS}${NEW_IMPORTS}`;
  const text = `(module ${parts.imports ?? imports}
    ${parts.memory ?? QUIET_MEMORY}
    (global $top (mut i32) (i32.const 65536))
    (func $clear (result i32) (memory.fill (i32.const 16) (i32.const 0) (i32.const 64)) (i32.const 16))
    ${parts.fields ?? ''}
    ${functions.join('\n')}
    ${optional.join('\n')})`;
  return text.replaceAll('@0.1.0', `@${version}`);
}

/** The version of svc:runtime that the core module uses, and the world that it implements. */
function worldOf(wat: string): { readonly version: ProtocolVersion; readonly world: string } {
  if (!wat.includes('@0.2.0')) return { version: '0.1.0', world: 'service' };
  const parts = ['view', 'consumer'].filter((name) => wat.includes(`"${RUNTIME}${name}@0.2.0#`));
  const world = ['service', ...parts.map((name, at) => `${at === 0 ? 'with' : 'and'}-${name}s`)];
  return { version: '0.2.0', world: world.join('-') };
}

/** A core module's WAT as a component, without a descriptor. */
export async function component(
  wat: string,
  stringEncoding: StringEncoding = 'utf8',
): Promise<Uint8Array> {
  const binary = await parse(wat);
  const { version, world } = worldOf(wat);
  const options = {
    binary,
    witSource: WIT[version],
    world,
    stringEncoding: stringEncoding === 'latin1+utf16' ? 'compact-utf16' : stringEncoding,
  };
  return componentNew(
    await componentEmbed(options as unknown as Parameters<typeof componentEmbed>[0]),
  );
}

export async function guestModule(
  parts: GuestParts = {},
  stringEncoding: StringEncoding = 'utf8',
): Promise<Uint8Array> {
  const bytes = await component(guestWat(parts), stringEncoding);
  return withDescriptor(bytes, testDescriptor(parts.version));
}

export function withDescriptor(bytes: Uint8Array, descriptor: ModuleDescriptor): Uint8Array {
  return withCustomSection(bytes, DESCRIPTOR_SECTION, Buffer.from(JSON.stringify(descriptor)));
}

export function withCustomSection(
  bytes: Uint8Array,
  name: string,
  content: Uint8Array,
): Uint8Array {
  const section = Buffer.concat([vector(Buffer.from(name)), content]);
  return Buffer.concat([bytes, Buffer.from([0]), vector(section)]);
}

/** The component with another main core module, and the section header for it. */
export function withMainCore(bytes: Uint8Array, ...cores: readonly Uint8Array[]): Uint8Array {
  const { start, end } = mainCoreSection(bytes);
  const sections = cores.flatMap((core) => [Buffer.from([1]), vector(core)]);
  return Buffer.concat([bytes.subarray(0, start), ...sections, bytes.subarray(end)]);
}

/** The main core module: the first one in a component of the tools. */
export function mainCore(bytes: Uint8Array): Uint8Array {
  const { content, end } = mainCoreSection(bytes);
  return bytes.subarray(content, end);
}

function mainCoreSection(bytes: Uint8Array): { start: number; content: number; end: number } {
  let position = 8;
  for (;;) {
    const start = position;
    const id = bytes[position++];
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[position++]!;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (id === 1) return { start, content: position, end: position + length };
    position += length;
  }
}

/** Bytes with their count before them. */
export function vector(bytes: Uint8Array): Buffer {
  const count: number[] = [];
  let rest = bytes.length;
  do {
    count.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(count), bytes]);
}

const nothing = { type: 'null' } as const;

/** One entity `counter`, and one endpoint with ten routes. */
export function testDescriptor(protocol: ProtocolVersion = '0.1.0'): ModuleDescriptor {
  const entity: EntityDescriptor = {
    component: 'counter',
    state: { manifest: 'count', schema: nothing },
    event: { manifest: 'counted', schema: nothing },
    commands: [],
    queries: [],
  };
  const endpoint: EndpointDescriptor = {
    name: 'Counters',
    prefix: '/counters',
    access: { allow: 'internet' },
    routes: Array.from({ length: 10 }, (_, index) => ({
      method: 'GET',
      path: `/${index}`,
      handler: `route${index}`,
      parameters: [],
    })),
  };
  return {
    protocol,
    sdk: { name: 'wat', version: '1.0.0' },
    types: {},
    entities: [entity],
    endpoints: [endpoint],
  };
}
