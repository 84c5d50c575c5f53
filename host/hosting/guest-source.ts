// GuestSource is what a guest is started from (start-guest.ts): a value that says what it is, and that can be posted to
// the thread which starts the guest. Each hosting has one kind. Shards, introspection, the loop of `svc dev` and the tools
// that read a journal pass sources on and know no hosting; another hosting is a folder here, a kind in this file, and a
// case in start-guest.ts and source-locations.ts.
import type { ModuleDescriptor } from '@svc/contract';
import type { AdmittedModule } from './wasm/admission/admission.ts';
import type { WasmLimits } from './wasm/wasm-limits.ts';

/** `program`: entities and endpoints that a program defines in TypeScript. */
export type SourceKind = 'wasm' | 'program';

/** A file that guests are started from, and what it held when it was read. */
export interface SourceFile {
  readonly kind: SourceKind;
  /** Path of the file that it was read from; undefined: it came from no file. */
  readonly file: string | undefined;
  /** It differs from the fingerprint of every source that may behave differently. A module's is the SHA-256 of its file. */
  readonly fingerprint: string;
}

/** What is said of a source. It starts nothing, so it can be kept, compared and sent to another process. */
export interface SourceDescription extends SourceFile {
  readonly descriptor: ModuleDescriptor;
}

/** A WebAssembly module that was admitted; none of its code has run. */
export interface WasmSource extends SourceDescription {
  readonly kind: 'wasm';
  readonly module: AdmittedModule;
}

export type GuestSource = WasmSource;

/** The settings under which guests run: a section for each hosting that has some. */
export interface HostingSettings {
  readonly wasm: WasmLimits;
}

/** `file`: where the module was read from; left out: its faults have no source locations. */
export function wasmSource(module: AdmittedModule, file?: string): WasmSource {
  const { fingerprint, descriptor } = module;
  return { kind: 'wasm', file, fingerprint, descriptor, module };
}

/** The same settings, where a command or a query may use at most `fuel`. */
export function withHandlerFuel({ wasm }: HostingSettings, fuel: number): HostingSettings {
  const commandFuel = Math.min(wasm.commandFuel, fuel);
  const queryFuel = Math.min(wasm.queryFuel, fuel);
  return { wasm: { ...wasm, commandFuel, queryFuel } };
}
