// FaultPlaces: where in its sources a module was when it failed: from the places in the code that ran, by the map that
// lies beside the module, and from what the module itself said. A map that is missing, damaged or of another build
// names no place; the fault is told all the same.
import { readFile, stat } from 'node:fs/promises';
import type { SourcePlace } from '@svc/contract';
import { readComponent } from './hosting/wasm/component-reader.ts';
import { mainModuleIndex } from './hosting/wasm/component-structure.ts';
import { readCoreModule } from './hosting/wasm/core-module-reader.ts';
import { CodePlaces } from './hosting/wasm/code-places.ts';
import { SourceMap, SourceMapError } from './hosting/wasm/source-map.ts';
import type { WasmLimits } from './hosting/wasm/wasm-limits.ts';
import { readModuleFile } from './module-file.ts';
import type { WasmFrame } from './model/guest-fault.ts';
import { SvcError } from './model/svc-error.ts';
import { systemDigest } from './system.ts';

const MAP_BYTES_MAX = 64 * 1024 * 1024;
const LIBRARY = '~lib/';
/** As the SDK words it: `abort: message at file:line:column`. */
const ABORT = /^abort: [^]* at ([^\s:][^:\n]*):(\d{1,9}):(\d{1,9})$/;

/** What is known of a fault's place. */
export interface PlacedFault {
  readonly frames?: readonly WasmFrame[] | undefined;
  readonly guestMessage?: string | undefined;
}

export interface FaultPlaces {
  /** The innermost first. Those in the library are left out where there are others. */
  placesOf(fault: PlacedFault): SourcePlace[];
}
