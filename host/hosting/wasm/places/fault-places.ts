// FaultPlaces: the source locations of a module's fault, from the code positions of its stack, mapped by the
// source map beside the module, and from the abort message of the module. A source map that is missing,
// damaged or of another build yields no location; the fault is reported all the same.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { SourcePlace } from '@svc/contract';
import { readComponent } from '../binary/component-reader.ts';
import { mainModuleIndex } from '../admission/component-structure.ts';
import { readCoreModule } from '../binary/core-module-reader.ts';
import { CodePlaces } from './code-places.ts';
import { SourceMap, SourceMapError } from './source-map.ts';
import type { WasmLimits } from '../wasm-limits.ts';
import { readModuleFile } from '../admission/module-file.ts';
import type { WasmFrame } from '../../../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

const MAP_BYTES_MAX = 64 * 1024 * 1024;
const LIBRARY = '~lib/';
/** Abort message of the SDK: `abort: message at file:line:column`. */
const ABORT = /^abort: [^]* at ([^\s:][^:\n]*):(\d{1,9}):(\d{1,9})$/;

/** Facts that locate a fault. */
export interface PlacedFault {
  readonly frames?: readonly WasmFrame[] | undefined;
  readonly guestMessage?: string | undefined;
}

export interface FaultPlaces {
  /** Returns the locations, innermost first. Locations in the library are left out where there are others. */
  placesOf(fault: PlacedFault): SourcePlace[];
}

export interface PlacedModule {
  readonly file: string;
  /** Fingerprint of the running module; the file may be another by now. */
  readonly fingerprint: string;
  /** Limits that the module was admitted with. */
  readonly limits: WasmLimits;
}

/** Never rejects. `report`: receives the reason if only the module's own abort message yields a location. */
export async function readFaultPlaces(
  module: PlacedModule,
  report: (reason: string) => void = () => {},
): Promise<FaultPlaces> {
  const known = await read(module).catch((error: unknown) => {
    if (!(error instanceof SourceMapError || error instanceof SvcError)) throw error;
    report(error.message);
    return undefined;
  });
  return { placesOf: (fault) => placesOf(fault, known) };
}

interface Known {
  readonly code: CodePlaces;
  readonly map: SourceMap;
}

async function read({ file, fingerprint, limits }: PlacedModule): Promise<Known> {
  const map = new SourceMap(await mapText(`${file}.map`), fingerprint);
  const bytes = await readModuleFile(file, limits.moduleBytesMax);
  if (hash('sha256', bytes) !== fingerprint)
    throw new SourceMapError(`${file} is another module by now`);
  const component = readComponent(bytes);
  const core = readCoreModule(component.coreModules[mainModuleIndex(component)]!, limits);
  return { code: new CodePlaces(core, limits), map };
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

function placesOf({ frames = [], guestMessage }: PlacedFault, known?: Known): SourcePlace[] {
  const places: SourcePlace[] = [];
  const add = (place: SourcePlace) => {
    if (!places.some((other) => isSame(place, other))) places.push(place);
  };
  const framed = frames.flatMap((frame) => placesOfFrame(frame, known));
  const said = placeSaid(guestMessage, known);
  // The frame of the same location also knows the function.
  if (said !== undefined) add(framed.find((place) => isSame(place, said)) ?? said);
  for (const place of framed) add(place);
  const own = places.filter(({ file }) => !file.startsWith(LIBRARY));
  return own.length > 0 ? own : places;
}

function placesOfFrame(frame: WasmFrame, known: Known | undefined): SourcePlace[] {
  const code = known?.code.placeOf(frame);
  return code === undefined ? [] : known!.map.placesOf(code, frame.functionIndex);
}

function placeSaid(words: string | undefined, known: Known | undefined): SourcePlace | undefined {
  const [, file, line, column] = ABORT.exec(words ?? '') ?? [];
  if (file === undefined) return undefined;
  return {
    file: known?.map.fileOf(file) ?? file,
    line: Number(line),
    column: Number(column),
    function: null,
  };
}

function isSame(one: SourcePlace, other: SourcePlace): boolean {
  return one.file === other.file && one.line === other.line && one.column === other.column;
}
