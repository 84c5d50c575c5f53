// GuestSource is a value from which a guest is started (start-guest.ts). It describes itself, and can be posted to the
// thread that starts the guest. A hosting is the code that runs guests of one kind; each has a folder here. The guest
// of an embedded service is started from the program's own definitions, and has no source. Shards, introspection,
// `svc dev` and the tools that read a journal pass sources on without knowing the hosting. To add a hosting, add a
// folder here, a kind to this file, and a case to start-guest.ts and to source-locations.ts.
import type { ModuleDescriptor } from '@svc/contract';
import type { ProcessSource } from './process/process-source.ts';
import type { AdmittedModule } from './wasm/admission/admission.ts';
import type { WasmLimits } from './wasm/wasm-limits.ts';

/**
 * `program` stands for entities and endpoints that a program defines in TypeScript, and `process` for code that a process of its own
 * holds.
 */
export type SourceKind = 'wasm' | 'program' | 'process';

export type SourceWord = 'module' | 'program' | 'process';

/** Returns the word for a source in messages. */
export function sourceWord(kind: SourceKind): SourceWord {
  return kind === 'wasm' ? 'module' : kind;
}

/** The file of a source, and the identity of its content when it was read. */
export interface SourceFile {
  readonly kind: SourceKind;
  /** Path of the file; undefined if the source came from no file. */
  readonly file: string | undefined;
  /**
   * Identity of the content. For a module, the SHA-256 of its file, so that modules that may behave differently have
   * different fingerprints; for a program, that of its descriptor and its version.
   */
  readonly fingerprint: string;
}

/** Description of a source. It is plain data, so it can be stored, compared and sent to another process. */
export interface SourceDescription extends SourceFile {
  readonly descriptor: ModuleDescriptor;
}

/** A WebAssembly module that was admitted; none of its code has run. */
export interface WasmSource extends SourceDescription {
  readonly kind: 'wasm';
  readonly module: AdmittedModule;
}

/** A file of a program that exports its components (program/program-source.ts). Its code is trusted. */
export interface ProgramSource extends SourceDescription {
  readonly kind: 'program';
  readonly file: string;
}

export type GuestSource = WasmSource | ProgramSource | ProcessSource;

/** Settings for running guests: a section for each hosting that has settings. */
export interface HostingSettings {
  readonly wasm: WasmLimits;
}

/** Returns the source of an admitted module. `file`: the module's file; without it faults have no source locations. */
export function wasmSource(module: AdmittedModule, file?: string): WasmSource {
  const { fingerprint, descriptor } = module;
  return { kind: 'wasm', file, fingerprint, descriptor, module };
}

/** Returns the settings with at most `fuel` for a command or a query. */
export function withHandlerFuel({ wasm }: HostingSettings, fuel: number): HostingSettings {
  const commandFuel = Math.min(wasm.commandFuel, fuel);
  const queryFuel = Math.min(wasm.queryFuel, fuel);
  return { wasm: { ...wasm, commandFuel, queryFuel } };
}
