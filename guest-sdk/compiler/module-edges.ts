// ModuleEdges: the exports and imports of the core module. Exports get the names of the canonical ABI, imports of the
// standard library become calls of the SDK, and an import outside of the contract fails the build.
import { FunctionPrototype, type Program } from 'assemblyscript';
import type binaryen from 'assemblyscript/binaryen';
import type { Problem } from './build-error.ts';
import type { Registered } from './descriptor.ts';
import { foreignImportProblems, type ForeignImport } from './foreign-imports.ts';

type Binaryen = typeof binaryen;
type Module = binaryen.Module;

/**
 * Exports of assembly/abi.ts: the name in the contract, and the function that runs after the host has read the
 * answer.
 */
const EXPORTS: readonly (readonly [from: string, to: string, post?: string])[] = [
  ['entity_constructor', 'svc:runtime/entity@0.2.0#[constructor]instance'],
  ['entity_destructor', 'svc:runtime/entity@0.2.0#[dtor]instance'],
  ['entity_apply', 'svc:runtime/entity@0.2.0#[method]instance.apply', 'post'],
  ['entity_command', 'svc:runtime/entity@0.2.0#[method]instance.command', 'post'],
  ['entity_query', 'svc:runtime/entity@0.2.0#[method]instance.query', 'post'],
  ['entity_snapshot', 'svc:runtime/entity@0.2.0#[method]instance.snapshot', 'post'],
  ['http_handle', 'svc:runtime/http@0.2.0#handle', 'post'],
  ['diagnostics_take_log', 'svc:runtime/diagnostics@0.2.0#take-log', 'log_post'],
  ['cabi_realloc', 'cabi_realloc'],
];

/** Exports of modules that declare views. */
const VIEW_EXPORTS: typeof EXPORTS = [
  ['view_keys', 'svc:runtime/view@0.2.0#keys', 'post'],
  ['view_fold', 'svc:runtime/view@0.2.0#fold', 'post'],
];

/** Exports of modules that declare consumers. */
const CONSUMER_EXPORTS: typeof EXPORTS = [
  ['consumer_handle', 'svc:runtime/consumer@0.2.0#handle', 'post'],
];

/** Imports of the standard library, and the functions of assembly/environment.ts that replace them. */
const ENVIRONMENT: ReadonlyMap<string, string> = new Map([
  ['abort', 'env_abort'],
  ['console.assert', 'env_assert'],
  ['console.debug', 'env_debug'],
  ['console.error', 'env_error'],
  ['console.info', 'env_info'],
  ['console.log', 'env_info'],
  ['console.warn', 'env_warn'],
  ['Date.now', 'env_now'],
  ['seed', 'env_seed'],
  ['trace', 'env_trace'],
]);

const CONTRACT_IMPORTS: ReadonlySet<string> = new Set([
  'svc:runtime/clock@0.2.0 now-ms',
  'svc:runtime/clock@0.2.0 set-timer',
  'svc:runtime/clock@0.2.0 cancel-timer',
  'svc:runtime/journal@0.2.0 read',
  'svc:runtime/journal@0.2.0 find',
  'svc:runtime/routing@0.2.0 call',
  'svc:runtime/routing@0.2.0 request',
  '[export]svc:runtime/entity@0.2.0 [resource-new]instance',
]);

/**
 * Rewrites the exports and imports of the module, and reports imports that are outside of the contract. Also writes the
 * bodies that refer to the compiler's globals (`heap_bytes`, `unseed`) or to the descriptor (`__svc_firstRoute`).
 */
export function closeEdges(
  b: Binaryen,
  module: Module,
  program: Program,
  { endpoints, descriptor }: Registered,
  problems: Problem[],
): void {
  const exported = new Map<string, string>();
  for (let index = 0; index < module.getNumExports(); index++) {
    const info = b.getExportInfo(module.getExportByIndex(index));
    if (info.value !== null) exported.set(info.name, info.value);
  }
  const target = (name: string): string => {
    const value = exported.get(name);
    if (value === undefined) throw new Error(`the SDK does not export ${name}`);
    return value;
  };
  closeImports(b, module, program, target, problems);
  replaceBody(b, module, target('heap_bytes'), module.global.get('~lib/rt/tcms/total', b.i32));
  const isSeeded = '~lib/math/random_seeded';
  replaceBody(b, module, target('unseed'), module.global.set(isSeeded, module.i32.const(0)));
  for (const { reference, firstRoute } of endpoints) {
    const member = reference.getMember('__svc_firstRoute');
    if (!(member instanceof FunctionPrototype))
      throw new Error(`${reference.name} was not written`);
    for (const instance of member.instances?.values() ?? [])
      replaceBody(b, module, instance.internalName, module.i32.const(firstRoute));
  }
  const wanted = [
    ...EXPORTS,
    ...(descriptor.views === undefined ? [] : VIEW_EXPORTS),
    ...(descriptor.consumers === undefined ? [] : CONSUMER_EXPORTS),
  ];
  const renamed = wanted.map(([from, to, post]) => ({
    to,
    internal: target(from),
    post: post === undefined ? undefined : target(post),
  }));
  for (const name of exported.keys()) if (name !== 'memory') module.removeExport(name);
  for (const { to, internal, post } of renamed) {
    module.addFunctionExport(internal, to);
    if (post !== undefined) module.addFunctionExport(post, `cabi_post_${to}`);
  }
}

function replaceBody(b: Binaryen, module: Module, name: string, body: number): void {
  const info = b.getFunctionInfo(module.getFunction(name));
  module.removeFunction(name);
  module.addFunction(name, info.params, info.results, [], body);
}

function closeImports(
  b: Binaryen,
  module: Module,
  program: Program,
  target: (name: string) => string,
  problems: Problem[],
): void {
  const imports: binaryen.FunctionInfo[] = [];
  const foreign: ForeignImport[] = [];
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const info = b.getFunctionInfo(module.getFunctionByIndex(index));
    if (info.module || info.base) imports.push(info);
  }
  for (const info of imports) {
    if (CONTRACT_IMPORTS.has(`${info.module} ${info.base}`)) continue;
    const replacement = info.module === 'env' ? ENVIRONMENT.get(info.base ?? '') : undefined;
    if (replacement === undefined) {
      foreign.push({ module: info.module ?? '', base: info.base ?? '', internalName: info.name });
      continue;
    }
    const called = b.getFunctionInfo(module.getFunction(target(replacement)));
    const given = b.expandType(info.params);
    const wanted = b.expandType(called.params);
    const args = wanted.map((type, index) =>
      index < given.length ? module.local.get(index, type) : module.i32.const(0),
    );
    replaceBody(b, module, info.name, module.call(called.name, args, called.results));
  }
  problems.push(...foreignImportProblems(module, program, foreign));
}
