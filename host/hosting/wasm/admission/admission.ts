// Admission decides whether a module may run here, before any of its code runs. Its component may import
// svc:runtime and nothing else, its main core module only functions of a closed list (CORE_IMPORTS). Everything
// else in the component has to be the component tools' own glue, and the rewriter must be able to meter the
// main module's code. `judgeModule` is the one examination, which the host and the command line share.
import { hash } from 'node:crypto';
import { type ModuleDescriptor, isProtocolVersion } from '@svc/contract';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import {
  type ComponentOutline,
  type StringEncoding,
  structure,
} from '../binary/component-outline.ts';
import { checkCompileCost } from './compile-cost.ts';
import { readComponent } from '../binary/component-reader.ts';
import { checkStructure, mainModuleIndex, soleEncoding } from './component-structure.ts';
import {
  type CoreInterface,
  MEMORY_EXPORT,
  RESOURCE_NEW,
  interfaceOfComponent,
  optionalCoreExports,
  requiredCoreExports,
  runtimeVersionIn,
} from '../binary/core-interface.ts';
import { type CoreModule, readCoreModule } from '../binary/core-module-reader.ts';
import { SUPPORTED_VERSIONS_TEXT, readDescriptor } from './descriptor-section.ts';
import { maximumPages, rewriteCoreModule } from '../metering/module-rewriter.ts';
import { printable } from '../binary/printable.ts';
import { checkName } from './safe-name.ts';
import { type WasmLimits, WASM_LIMITS_DEFAULT } from '../wasm-limits.ts';

export interface ModuleSizes {
  /** Bytes of the file; absent until it was read. */
  readonly module?: number;
  /** Bytes of the main core module; absent until it was found. */
  readonly core?: number;
  /** Bytes of the main core module with its fuel checks. */
  readonly meteredCore?: number;
  /** Initial memory of an instance, in pages of 64 KiB. */
  readonly initialMemoryPages?: number;
  /** Maximum memory of an instance, in pages of 64 KiB: the module's own maximum, or the host's. */
  readonly maximumMemoryPages?: number;
}

export interface ModuleReport {
  /** Names of the component's imports, escaped for printing. */
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly sizes: ModuleSizes;
  readonly stringEncoding?: StringEncoding;
  readonly descriptor?: ModuleDescriptor;
  /** SHA-256 of the file, in hexadecimal digits. Absent if the module is refused. */
  readonly fingerprint?: string;
  /** Absent: the module is admitted. */
  readonly refusal?: { readonly code: SvcErrorCode; readonly message: string };
}

export interface AdmittedModule {
  /** SHA-256 of the file, in hexadecimal digits: it identifies the module. */
  readonly fingerprint: string;
  readonly descriptor: ModuleDescriptor;
  readonly stringEncoding: StringEncoding;
  /** The metered main core module, compiled. */
  readonly compiled: WebAssembly.Module;
  readonly sizes: Required<ModuleSizes>;
}

/** Result of judging a module. */
export interface ModuleVerdict {
  readonly report: ModuleReport;
  /** Present unless the report has a refusal. */
  readonly admitted?: AdmittedModule;
}

/** A report while the examination fills it in. */
type Findings = { -readonly [Key in keyof ModuleReport]: ModuleReport[Key] };

/**
 * Judges a module: reports as much as could be read, with the admitted module or the reason of its refusal. Runs none
 * of the module's code.
 */
export function judgeModule(
  bytes: Uint8Array,
  limits: WasmLimits = WASM_LIMITS_DEFAULT,
): ModuleVerdict {
  const report: Findings = { imports: [], exports: [], sizes: { module: bytes.length } };
  try {
    return { admitted: examine(bytes, limits, report), report };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    report.refusal = { code: error.code, message: error.message };
    return { report };
  }
}

/** Returns the report of `judgeModule` alone. */
export function inspectModule(bytes: Uint8Array, limits?: WasmLimits): ModuleReport {
  return judgeModule(bytes, limits).report;
}

/** Admits a module. Throws an SvcError with a code SVC_MODULE_… that says why the module may not run. */
export function admitModule(bytes: Uint8Array, limits?: WasmLimits): AdmittedModule {
  const { report, admitted } = judgeModule(bytes, limits);
  if (admitted !== undefined) return admitted;
  const { code, message } = report.refusal!;
  throw new SvcError(code, message);
}

function examine(bytes: Uint8Array, limits: WasmLimits, findings: Findings): AdmittedModule {
  if (bytes.length > limits.moduleBytesMax)
    throw new SvcError(
      'SVC_MODULE_TOO_LARGE',
      `The module has ${bytes.length} bytes, and the limit is ${limits.moduleBytesMax} ` +
        '(svc.wasm.module-bytes-max). Build a smaller module.',
    );
  const component = readComponent(bytes);
  findings.imports = component.imports.map(({ name }) => printable(name));
  findings.exports = component.exports.map(({ name }) => printable(name));
  const world = interfaceOfComponent(component);
  checkComponent(component, world);
  const stringEncoding = soleEncoding(component);
  findings.stringEncoding = stringEncoding;
  const descriptor = readDescriptor(component.customSections, world.version);
  findings.descriptor = descriptor;
  const main = mainModuleIndex(component, world);
  const core = readCoreModule(component.coreModules[main]!, limits);
  const read = {
    module: bytes.length,
    core: core.bytes.length,
    initialMemoryPages: core.memory.initial,
    maximumMemoryPages: maximumPages(core, limits),
  };
  findings.sizes = read;
  checkCoreNames(core);
  checkCoreImports(core, world);
  checkCoreExports(core, component, world);
  checkEntities(descriptor, core, world);
  checkDeclared(descriptor, component, world);
  checkStructure(component, main, core, world);
  checkValid(core);
  checkCompileCost(core);
  const rewritten = rewriteCoreModule(core, limits);
  const sizes = { ...read, meteredCore: rewritten.length };
  findings.sizes = sizes;
  const compiled = compile(rewritten);
  checkLinks(compiled, world);
  const fingerprint = hash('sha256', bytes);
  findings.fingerprint = fingerprint;
  return { fingerprint, descriptor, stringEncoding, compiled, sizes };
}

function checkComponent(component: ComponentOutline, world: CoreInterface): void {
  for (const { name } of component.imports) checkName('imports', name);
  for (const { name } of component.exports) checkName('exports', name);
  const foreign = component.imports.filter(({ name }) => !world.componentImports.has(name));
  checkVersions(
    [...foreign, ...component.exports].map(({ name }) => name),
    world,
  );
  if (foreign.length > 0)
    throw foreignImport(foreign.map(({ name }) => `'${printable(name)}'`).slice(0, 10));
  for (const { name, kind } of component.imports)
    if (kind !== 'instance') throw structure(`imports '${name}' as a ${kind}, not as an interface`);
  for (const name of world.requiredExports)
    if (!component.exports.some((found) => found.name === name && found.kind === 'instance'))
      throw structure(`does not export the interface '${name}'`);
  for (const { name, kind } of component.exports) {
    if (!world.componentExports.has(name))
      throw structure(`exports '${name}', which is not of the world`);
    if (kind !== 'instance') throw structure(`exports '${name}' as a ${kind}, not as an interface`);
  }
  checkOnce('imports', component.imports);
  checkOnce('exports', component.exports);
}

function checkOnce(what: string, externs: readonly { readonly name: string }[]): void {
  const names = new Set<string>();
  for (const { name } of externs) {
    if (names.has(name)) throw structure(`${what} '${name}' twice`);
    names.add(name);
  }
}

function checkVersions(names: readonly string[], { version: own }: CoreInterface): void {
  for (const name of names) {
    const version = runtimeVersionIn(name);
    if (version === undefined || version === own) continue;
    throw new SvcError(
      'SVC_MODULE_OTHER_VERSION',
      isProtocolVersion(version)
        ? `The module uses '${printable(name)}' together with svc:runtime ${own}, and a module uses ` +
            'one version of svc:runtime. Build all of it with one SDK.'
        : `The module uses '${printable(name)}', and this host runs modules of svc:runtime ` +
            `${SUPPORTED_VERSIONS_TEXT}. Build it with an SDK of such a version, or run it on a newer host.`,
    );
  }
}

function foreignImport(names: readonly string[]): SvcError {
  return new SvcError(
    'SVC_MODULE_FOREIGN_IMPORT',
    `The module imports ${names.join(', ')}; a module may import the journal, routing and clock ` +
      'of svc:runtime and nothing else. Remove what needs the import, and build it again.',
  );
}

/** Checks that the core module is valid WebAssembly, which the rewriter relies on. */
function checkValid({ bytes }: CoreModule): void {
  if (!WebAssembly.validate(bytes))
    throw new SvcError(
      'SVC_MODULE_MALFORMED',
      "The module's core is not valid WebAssembly. " +
        'The file may have been changed; build the module again.',
    );
}

/**
 * Checks the import of the resource intrinsics: an entity is a resource, and a module needs this import to create
 * one.
 */
function checkEntities(
  { entities }: ModuleDescriptor,
  { imports }: CoreModule,
  { entityResource }: CoreInterface,
): void {
  const [entity] = entities;
  const makesResources = imports.some(
    ({ module, name }) => module === entityResource && name === RESOURCE_NEW,
  );
  if (entity !== undefined && !makesResources)
    throw new SvcError(
      'SVC_MODULE_BAD_DESCRIPTOR',
      `The module declares the component '${entity.component}', and its core does not import ` +
        `'${RESOURCE_NEW}', without which it has no entities. Build the module again with ` +
        'the current `svc build`.',
    );
}

/** Checks that a module which declares views or consumers exports the interface by which they are called. */
function checkDeclared(
  { views, consumers }: ModuleDescriptor,
  { exports }: ComponentOutline,
  { view, consumer }: CoreInterface,
): void {
  for (const [what, declarations, wanted] of [
    ['view', views, view],
    ['consumer', consumers, consumer],
  ] as const) {
    const [first] = declarations ?? [];
    if (first !== undefined && !exports.some(({ name }) => name === wanted))
      throw new SvcError(
        'SVC_MODULE_BAD_DESCRIPTOR',
        `The module declares the ${what} '${first.id}', and does not export '${wanted}', by which ` +
          `${what}s are called. Build the module again with the current \`svc build\`.`,
      );
  }
}

function checkCoreNames(core: CoreModule): void {
  for (const { module, name } of core.imports) {
    checkName('imports from', module);
    checkName('imports', name);
  }
  for (const { name } of core.exports) checkName('exports', name);
}

function checkCoreImports(core: CoreModule, { coreImports }: CoreInterface): void {
  for (const { module, name, signature } of core.imports) {
    const expected = coreImports.get(module)?.get(name);
    if (expected === undefined) throw foreignImport([coreName(module, name)]);
    if (signature !== expected)
      throw structure(`imports ${coreName(module, name)} with another type than it has`);
  }
}

const coreName = (module: string, name: string) => `'${printable(name)}' of '${printable(module)}'`;

function checkCoreExports(
  core: CoreModule,
  component: ComponentOutline,
  world: CoreInterface,
): void {
  const functions = new Map<string, number>();
  let exportsMemory = false;
  for (const { name, kind, index } of core.exports) {
    if (kind === 0) functions.set(name, index);
    if (kind === 2 && name === MEMORY_EXPORT) exportsMemory = true;
  }
  if (!exportsMemory) throw structure(`does not export its memory as '${MEMORY_EXPORT}'`);
  const required = requiredCoreExports(
    world,
    component.exports.map(({ name }) => name),
  );
  for (const [name, expected] of [...required, ...optionalCoreExports(world)]) {
    const index = functions.get(name);
    if (index === undefined) {
      if (required.has(name)) throw structure(`does not export '${name}'`);
      if (core.exports.some((found) => found.name === name))
        throw structure(`exports '${name}', which is not a function`);
      continue;
    }
    if (index < core.imports.length) throw structure(`exports an import as '${name}'`);
    if (core.functions[index] !== expected)
      throw structure(`exports '${name}' with another type than it has`);
  }
}

function compile(bytes: Uint8Array): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new SvcError(
      'SVC_MODULE_UNSUPPORTED_CODE',
      "The module's code cannot be compiled with the host's limits in it. " +
        'Build it with smaller functions.',
      { cause: error },
    );
  }
}

/** Checks the imports a second time, as V8 itself reads them: every import is a function of the closed list. */
export function checkLinks(compiled: WebAssembly.Module, { coreImports }: CoreInterface): void {
  for (const { module, name, kind } of WebAssembly.Module.imports(compiled))
    if (kind !== 'function' || coreImports.get(module)?.has(name) !== true)
      throw foreignImport([coreName(module, name)]);
}
