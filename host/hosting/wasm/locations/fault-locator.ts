// FaultLocator: the source locations of a module's fault, from the code positions of its stack, mapped by the
// source map beside the module, and from the abort message of the module. A source map that is missing,
// damaged or of another build yields no location; the fault is reported all the same.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { SourceLocation } from '@svc/contract';
import { interfaceOfComponent } from '../binary/core-interface.ts';
import { readComponent } from '../binary/component-reader.ts';
import { mainModuleIndex } from '../admission/component-structure.ts';
import { readCoreModule } from '../binary/core-module-reader.ts';
import { CodePositions } from './code-positions.ts';
import { SourceMap, SourceMapError } from './source-map.ts';
import type { WasmLimits } from '../wasm-limits.ts';
import { readModuleFile } from '../admission/module-file.ts';
import type { WasmFrame } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';

const MAP_BYTES_MAX = 64 * 1024 * 1024;
const LIBRARY = '~lib/';
/** Abort message of the SDK: `abort: message at file:line:column`. */
const ABORT = /^abort: [^]* at ([^\s:][^:\n]*):(\d{1,9}):(\d{1,9})$/;

/** Facts that locate a fault. */
export interface LocatableFault {
  readonly frames?: readonly WasmFrame[] | undefined;
  readonly guestMessage?: string | undefined;
}

export interface FaultLocator {
  /** Returns the locations, innermost first. Locations in the library are left out where there are others. */
  locationsOf(fault: LocatableFault): SourceLocation[];
}

export interface LocatableModule {
  readonly file: string;
  /** Fingerprint of the running module; the file may be another by now. */
  readonly fingerprint: string;
  /** Limits that the module was admitted with. */
  readonly limits: WasmLimits;
}

/**
 * Rejects only because of a bug of the host. `report`: receives the reason if only the module's own abort message
 * yields a location.
 */
export async function readFaultLocator(
  module: LocatableModule,
  report: (reason: string) => void = () => {},
): Promise<FaultLocator> {
  const known = await read(module).catch((error: unknown) => {
    if (!(error instanceof SourceMapError || error instanceof SvcError)) throw error;
    report(error.message);
    return undefined;
  });
  return { locationsOf: (fault) => locationsOf(fault, known) };
}

interface Known {
  readonly code: CodePositions;
  readonly map: SourceMap;
}

async function read({ file, fingerprint, limits }: LocatableModule): Promise<Known> {
  const map = new SourceMap(await mapText(`${file}.map`), fingerprint);
  const bytes = await readModuleFile(file, limits.moduleBytesMax);
  if (hash('sha256', bytes) !== fingerprint)
    throw new SourceMapError(`${file} is another module by now`);
  const component = readComponent(bytes);
  const main = mainModuleIndex(component, interfaceOfComponent(component));
  const core = readCoreModule(component.coreModules[main]!, limits);
  return { code: new CodePositions(core, limits), map };
}

async function mapText(file: string): Promise<string> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MAP_BYTES_MAX)
      throw new SourceMapError(`${file} is no file of at most ${MAP_BYTES_MAX} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof SourceMapError) throw error;
    throw new SourceMapError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function locationsOf(
  { frames = [], guestMessage }: LocatableFault,
  known?: Known,
): SourceLocation[] {
  const found: SourceLocation[] = [];
  const add = (location: SourceLocation) => {
    if (!found.some((other) => isSame(location, other))) found.push(location);
  };
  const framed = frames.flatMap((frame) => locationsOfFrame(frame, known));
  const inMessage = locationInMessage(guestMessage, known);
  // The frame of the same location also knows the function.
  if (inMessage !== undefined)
    add(framed.find((location) => isSame(location, inMessage)) ?? inMessage);
  for (const location of framed) add(location);
  const own = found.filter(({ file }) => !file.startsWith(LIBRARY));
  return own.length > 0 ? own : found;
}

function locationsOfFrame(frame: WasmFrame, known: Known | undefined): SourceLocation[] {
  const code = known?.code.originalOf(frame);
  return code === undefined ? [] : known!.map.locationsOf(code, frame.functionIndex);
}

function locationInMessage(
  words: string | undefined,
  known: Known | undefined,
): SourceLocation | undefined {
  const [, file, line, column] = ABORT.exec(words ?? '') ?? [];
  if (file === undefined) return undefined;
  return {
    file: known?.map.fileOf(file) ?? file,
    line: Number(line),
    column: Number(column),
    function: null,
  };
}

function isSame(one: SourceLocation, other: SourceLocation): boolean {
  return one.file === other.file && one.line === other.line && one.column === other.column;
}
