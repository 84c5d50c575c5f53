// CoreInterface: the world `service` of wit/0.1.0/runtime.wit as the core module sees it: the closed list
// of its imports, the exports it must have, and their flattened signatures. Names follow the
// convention of the component tools: `INTERFACE#FUNCTION`, `cabi_post_…`, `cabi_realloc`.
import { PROTOCOL_VERSION } from '@svc/contract';

const RUNTIME = 'svc:runtime/';
const versioned = (name: string) => `${RUNTIME}${name}@${PROTOCOL_VERSION}`;

export const CLOCK = versioned('clock');
export const JOURNAL = versioned('journal');
export const ROUTING = versioned('routing');
/** Module name of the imports that are the intrinsics of the exported resource `instance`. */
export const ENTITY_RESOURCE = `[export]${versioned('entity')}`;

export const RESOURCE_NEW = '[resource-new]instance';

/** The only imports a component may have. */
export const COMPONENT_IMPORTS: ReadonlySet<string> = new Set([
  versioned('types'),
  JOURNAL,
  ROUTING,
  CLOCK,
]);
/** The exports a component must have. */
export const COMPONENT_EXPORTS: readonly string[] = [
  versioned('entity'),
  versioned('http'),
  versioned('diagnostics'),
];

/**
 * Returns the version in a name like `svc:runtime/clock@0.2.0`, or '' without a version; undefined for this host's own
 * version, and for a name outside svc:runtime.
 */
export function otherVersionOf(name: string): string | undefined {
  if (!name.startsWith(RUNTIME)) return undefined;
  const at = name.lastIndexOf('@');
  const version = at < 0 ? '' : name.slice(at + 1);
  return version === PROTOCOL_VERSION ? undefined : version;
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

const i32 = (count: number) => Array.from({ length: count }, () => 'i32');
const signature = (parameters: readonly string[], ...results: string[]) =>
  signatureText(parameters, results);

/** Module name → function name → signature: the closed list of a core module's imports. */
export const CORE_IMPORTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [CLOCK, new Map([['now-ms', signature([], 'i64')]])],
  [JOURNAL, new Map([['read', signature([...i32(4), 'i64', ...i32(2)])]])],
  [ROUTING, new Map([['call', signature(i32(14))]])],
  [
    ENTITY_RESOURCE,
    new Map([
      [RESOURCE_NEW, signature(i32(1), 'i32')],
      ['[resource-rep]instance', signature(i32(1), 'i32')],
      ['[resource-drop]instance', signature(i32(1))],
    ]),
  ],
]);

const ENTITY = `${versioned('entity')}#`;
const CALL_IN_CONTEXT = signature(['i32', 'i64', 'i64', ...i32(6)], 'i32');

export const CORE_EXPORT = {
  construct: `${ENTITY}[constructor]instance`,
  destroy: `${ENTITY}[dtor]instance`,
  apply: `${ENTITY}[method]instance.apply`,
  command: `${ENTITY}[method]instance.command`,
  query: `${ENTITY}[method]instance.query`,
  snapshot: `${ENTITY}[method]instance.snapshot`,
  handle: `${versioned('http')}#handle`,
  takeLog: `${versioned('diagnostics')}#take-log`,
  realloc: 'cabi_realloc',
  initialize: '_initialize',
  memory: 'memory',
} as const;
export const postReturnOf = (name: string): string => `cabi_post_${name}`;

/** The exports that are functions of the world's interfaces. */
export const LIFTED_EXPORTS: readonly string[] = [
  CORE_EXPORT.construct,
  CORE_EXPORT.apply,
  CORE_EXPORT.command,
  CORE_EXPORT.query,
  CORE_EXPORT.snapshot,
  CORE_EXPORT.handle,
  CORE_EXPORT.takeLog,
];

/** Function name → signature: the exports that a core module must have besides its memory. */
export const REQUIRED_CORE_EXPORTS: ReadonlyMap<string, string> = new Map([
  [CORE_EXPORT.construct, signature(i32(7), 'i32')],
  [CORE_EXPORT.apply, signature(i32(3), 'i32')],
  [CORE_EXPORT.command, CALL_IN_CONTEXT],
  [CORE_EXPORT.query, CALL_IN_CONTEXT],
  [CORE_EXPORT.snapshot, signature(i32(1), 'i32')],
  [CORE_EXPORT.handle, signature(['i64', 'i64', ...i32(14)], 'i32')],
  [CORE_EXPORT.takeLog, signature([], 'i32')],
  [CORE_EXPORT.realloc, signature(i32(4), 'i32')],
]);

/** Function name → signature: exports that the host calls if they exist. */
export const OPTIONAL_CORE_EXPORTS: ReadonlyMap<string, string> = new Map([
  [CORE_EXPORT.destroy, signature(i32(1))],
  [CORE_EXPORT.initialize, signature([])],
  ...LIFTED_EXPORTS.map((name) => [postReturnOf(name), signature(i32(1))] as const),
]);

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
  readonly handle: Handle;
  readonly handlePost: Release;
  readonly takeLog: () => number;
  readonly takeLogPost: Release;
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
export type Handle = (nowMs: bigint, seed: bigint, ...parameters: readonly number[]) => number;

/** Looks up the exports of an instance; call it once per instance. */
export function coreExports(instance: WebAssembly.Instance): CoreExports {
  const found = instance.exports;
  const optional = <T>(name: string) => found[name] as T | undefined;
  const required = <T>(name: string) => found[name] as T;
  return {
    memory: required(CORE_EXPORT.memory),
    realloc: required(CORE_EXPORT.realloc),
    initialize: optional(CORE_EXPORT.initialize),
    construct: required(CORE_EXPORT.construct),
    constructPost: optional(postReturnOf(CORE_EXPORT.construct)),
    destroy: optional(CORE_EXPORT.destroy),
    apply: required(CORE_EXPORT.apply),
    applyPost: optional(postReturnOf(CORE_EXPORT.apply)),
    command: required(CORE_EXPORT.command),
    commandPost: optional(postReturnOf(CORE_EXPORT.command)),
    query: required(CORE_EXPORT.query),
    queryPost: optional(postReturnOf(CORE_EXPORT.query)),
    snapshot: required(CORE_EXPORT.snapshot),
    snapshotPost: optional(postReturnOf(CORE_EXPORT.snapshot)),
    handle: required(CORE_EXPORT.handle),
    handlePost: optional(postReturnOf(CORE_EXPORT.handle)),
    takeLog: required(CORE_EXPORT.takeLog),
    takeLogPost: optional(postReturnOf(CORE_EXPORT.takeLog)),
  };
}
