// CoreInterface: the worlds of the WIT package svc:runtime as a core module sees them, one table for each version (wit/runtime.wit
// and wit/VERSION/runtime.wit): the closed list of its imports, its exports, and their flattened signatures. Names
// follow the convention of the component tools: `INTERFACE#FUNCTION`, `cabi_post_…`, `cabi_realloc`.
import assert from 'node:assert/strict';
import {
  type ModuleDescriptor,
  PROTOCOL_VERSION,
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  isProtocolVersion,
} from '@svc/contract';
import type { ComponentOutline } from './component-outline.ts';

const RUNTIME = 'svc:runtime/';

/** Returns `svc:runtime/clock@0.2.0`. */
function versioned(name: string, version: ProtocolVersion): string {
  return `${RUNTIME}${name}@${version}`;
}

/** Returns the version in a name like `svc:runtime/clock@0.2.0`, '' without one; undefined for a name outside svc:runtime. */
export function runtimeVersionIn(name: string): string | undefined {
  if (!name.startsWith(RUNTIME)) return undefined;
  const at = name.lastIndexOf('@');
  return at < 0 ? '' : name.slice(at + 1);
}

/** Returns `i32 i64 -> i32`: a core function's type, for comparing and for messages. */
export function signatureText(parameters: readonly string[], results: readonly string[]): string {
  return `${parameters.join(' ')} -> ${results.join(' ')}`.trim();
}

export interface Arity {
  readonly parameters: number;
  readonly results: number;
}

/** Returns the arity of a type that `signatureText` wrote. */
export function arityOf(text: string): Arity {
  const [parameters = '', results = ''] = text.split('->');
  return { parameters: wordsOf(parameters), results: wordsOf(results) };
}

function wordsOf(text: string): number {
  const words = text.trim();
  return words === '' ? 0 : words.split(' ').length;
}

function i32(count: number): string[] {
  return Array.from({ length: count }, () => 'i32');
}

function signature(parameters: readonly string[], ...results: string[]): string {
  return signatureText(parameters, results);
}

export const RESOURCE_NEW = '[resource-new]instance';
export const MEMORY_EXPORT = 'memory';
export const REALLOC_EXPORT = 'cabi_realloc';
export const INITIALIZE_EXPORT = '_initialize';
export const postReturnOf = (name: string): string => `cabi_post_${name}`;

/** Function name → signature. */
type Functions = ReadonlyMap<string, string>;

export interface CoreInterface {
  readonly version: ProtocolVersion;
  /** Names of the interfaces that a module imports. */
  readonly clock: string;
  readonly journal: string;
  readonly routing: string;
  /** Names of the interfaces that a module with views, or with consumers, exports. */
  readonly view: string;
  readonly consumer: string;
  /** Module name of the imports that are the intrinsics of the exported resource `instance`. */
  readonly entityResource: string;
  readonly names: ExportNames;
  /**
   * Whether clock and journal have timers and views, effects have changes of timers, and `routing` has requests to other
   * services.
   */
  readonly hasTimersAndViews: boolean;
  /** The only imports a component may have. */
  readonly componentImports: ReadonlySet<string>;
  /** The exports that a component must have. */
  readonly requiredExports: readonly string[];
  /** All exports that a component may have → the functions of each as the core module exports them. */
  readonly componentExports: ReadonlyMap<string, Functions>;
  /** Module name → function name → signature: the closed list of a core module's imports. */
  readonly coreImports: ReadonlyMap<string, Functions>;
}

/** Names of the exports of a core module that are functions of the world's interfaces. */
type ExportNames = ReturnType<typeof exportNames>;

function exportNames(version: ProtocolVersion) {
  const entity = `${versioned('entity', version)}#`;
  return {
    construct: `${entity}[constructor]instance`,
    destroy: `${entity}[dtor]instance`,
    apply: `${entity}[method]instance.apply`,
    command: `${entity}[method]instance.command`,
    query: `${entity}[method]instance.query`,
    snapshot: `${entity}[method]instance.snapshot`,
    handle: `${versioned('http', version)}#handle`,
    takeLog: `${versioned('diagnostics', version)}#take-log`,
    keys: `${versioned('view', version)}#keys`,
    fold: `${versioned('view', version)}#fold`,
    consume: `${versioned('consumer', version)}#handle`,
  } as const;
}

const CALL_IN_CONTEXT = signature(['i32', 'i64', 'i64', ...i32(6)], 'i32');

function interfaceOf(version: ProtocolVersion): CoreInterface {
  const named = (name: string) => versioned(name, version);
  const names = exportNames(version);
  const hasTimersAndViews = version !== '0.1.0';
  const required: readonly (readonly [string, Functions])[] = [
    [
      named('entity'),
      new Map([
        [names.construct, signature(i32(7), 'i32')],
        [names.apply, signature(i32(3), 'i32')],
        [names.command, CALL_IN_CONTEXT],
        [names.query, CALL_IN_CONTEXT],
        [names.snapshot, signature(i32(1), 'i32')],
      ]),
    ],
    [named('http'), new Map([[names.handle, signature(['i64', 'i64', ...i32(14)], 'i32')]])],
    [named('diagnostics'), new Map([[names.takeLog, signature([], 'i32')]])],
  ];
  const optional: readonly (readonly [string, Functions])[] = [
    [
      named('view'),
      new Map([
        [names.keys, signature(i32(4), 'i32')],
        [names.fold, signature(i32(6), 'i32')],
      ]),
    ],
    [
      named('consumer'),
      new Map([
        [names.consume, signature(['i64', 'i64', ...i32(8), 'i64', 'i64', ...i32(4)], 'i32')],
      ]),
    ],
  ];
  const clock: [string, string][] = [['now-ms', signature([], 'i64')]];
  const journal: [string, string][] = [['read', signature([...i32(4), 'i64', ...i32(2)])]];
  const routing: [string, string][] = [['call', signature(i32(14))]];
  if (hasTimersAndViews) {
    clock.push(['set-timer', signature(i32(2))], ['cancel-timer', signature(i32(7))]);
    journal.push(['find', signature(i32(11))]);
    routing.push(['request', signature(i32(11))]);
  }
  return {
    version,
    clock: named('clock'),
    journal: named('journal'),
    routing: named('routing'),
    view: named('view'),
    consumer: named('consumer'),
    entityResource: `[export]${named('entity')}`,
    names,
    hasTimersAndViews,
    componentImports: new Set(['types', 'journal', 'routing', 'clock'].map(named)),
    requiredExports: required.map(([name]) => name),
    componentExports: new Map(hasTimersAndViews ? [...required, ...optional] : required),
    coreImports: new Map([
      [named('clock'), new Map(clock)],
      [named('journal'), new Map(journal)],
      [named('routing'), new Map(routing)],
      [
        `[export]${named('entity')}`,
        new Map([
          [RESOURCE_NEW, signature(i32(1), 'i32')],
          ['[resource-rep]instance', signature(i32(1), 'i32')],
          ['[resource-drop]instance', signature(i32(1))],
        ]),
      ],
    ]),
  };
}

const INTERFACES: ReadonlyMap<string, CoreInterface> = new Map(
  PROTOCOL_VERSIONS.map((version) => [version, interfaceOf(version)]),
);

export function coreInterface(version: ProtocolVersion): CoreInterface {
  return INTERFACES.get(version)!;
}

/** Returns the interface of an admitted module. */
export function interfaceOfModule({ protocol }: ModuleDescriptor): CoreInterface {
  assert(isProtocolVersion(protocol), 'a module of an unknown version was admitted');
  return coreInterface(protocol);
}

/**
 * Returns the interface of a component: the version is that of the first export or import whose version is known; the
 * newest if there is none.
 */
export function interfaceOfComponent({
  exports,
  imports,
}: Pick<ComponentOutline, 'exports' | 'imports'>): CoreInterface {
  const versions = [...exports, ...imports].map(({ name }) => runtimeVersionIn(name) ?? '');
  return coreInterface(versions.find(isProtocolVersion) ?? PROTOCOL_VERSION);
}

/**
 * Returns function name → signature: the exports that a core module must have besides its memory, if its component exports
 * the interfaces `exported`.
 */
export function requiredCoreExports(
  { componentExports }: CoreInterface,
  exported: readonly string[],
): ReadonlyMap<string, string> {
  return new Map([
    ...exported.flatMap((name) => [...(componentExports.get(name) ?? [])]),
    [REALLOC_EXPORT, signature(i32(4), 'i32')],
  ]);
}

/** Returns function name → signature: the exports that the host calls if they exist. */
export function optionalCoreExports({
  names,
  requiredExports,
  componentExports,
}: CoreInterface): ReadonlyMap<string, string> {
  const optional = new Map([
    [names.destroy, signature(i32(1))],
    [INITIALIZE_EXPORT, signature([])],
  ]);
  for (const [exported, functions] of componentExports)
    for (const [name, type] of functions) {
      if (!requiredExports.includes(exported)) optional.set(name, type);
      optional.set(postReturnOf(name), signature(i32(1)));
    }
  return optional;
}

/** A post-return function; its parameter is the result of the function before it. */
type Release = ((result: number) => void) | undefined;

/** The exports of one instance, as the bindings call them. Their signatures were checked. */
export interface CoreExports {
  readonly memory: WebAssembly.Memory;
  readonly realloc: (old: number, oldSize: number, alignment: number, size: number) => number;
  readonly initialize: (() => void) | undefined;
  readonly construct: (...parameters: readonly number[]) => number;
  readonly constructPost: Release;
  readonly destroy: ((rep: number) => void) | undefined;
  readonly apply: (rep: number, events: number, count: number) => number;
  readonly applyPost: Release;
  readonly command: CallInContext;
  readonly commandPost: Release;
  readonly query: CallInContext;
  readonly queryPost: Release;
  readonly snapshot: (rep: number) => number;
  readonly snapshotPost: Release;
  readonly handle: Handler;
  readonly handlePost: Release;
  readonly takeLog: () => number;
  readonly takeLogPost: Release;
  /** Those of `view` exist if the module declares views. */
  readonly keys: ((...parameters: readonly number[]) => number) | undefined;
  readonly keysPost: Release;
  readonly fold: ((...parameters: readonly number[]) => number) | undefined;
  readonly foldPost: Release;
  /** `consumer.handle`; exists if the module declares consumers. */
  readonly consume: Handler | undefined;
  readonly consumePost: Release;
}
/** The parameters of `command` and `query`, as the canonical ABI flattens them. */
type ContextParameters = readonly [
  rep: number,
  nowMs: bigint,
  seed: bigint,
  metadata: number,
  metadataLength: number,
  name: number,
  nameLength: number,
  input: number,
  inputLength: number,
];
export type CallInContext = (...parameters: ContextParameters) => number;
/** The type of `http.handle` and `consumer.handle`. */
export type Handler = (
  nowMs: bigint,
  seed: bigint,
  ...parameters: readonly (number | bigint)[]
) => number;

/** Looks up the exports of an instance; call it once per instance. */
export function coreExports(instance: WebAssembly.Instance, { names }: CoreInterface): CoreExports {
  const found = instance.exports;
  const optional = <T>(name: string) => found[name] as T | undefined;
  const required = <T>(name: string) => found[name] as T;
  return {
    memory: required(MEMORY_EXPORT),
    realloc: required(REALLOC_EXPORT),
    initialize: optional(INITIALIZE_EXPORT),
    construct: required(names.construct),
    constructPost: optional(postReturnOf(names.construct)),
    destroy: optional(names.destroy),
    apply: required(names.apply),
    applyPost: optional(postReturnOf(names.apply)),
    command: required(names.command),
    commandPost: optional(postReturnOf(names.command)),
    query: required(names.query),
    queryPost: optional(postReturnOf(names.query)),
    snapshot: required(names.snapshot),
    snapshotPost: optional(postReturnOf(names.snapshot)),
    handle: required(names.handle),
    handlePost: optional(postReturnOf(names.handle)),
    takeLog: required(names.takeLog),
    takeLogPost: optional(postReturnOf(names.takeLog)),
    keys: optional(names.keys),
    keysPost: optional(postReturnOf(names.keys)),
    fold: optional(names.fold),
    foldPost: optional(postReturnOf(names.fold)),
    consume: optional(names.consume),
    consumePost: optional(postReturnOf(names.consume)),
  };
}
