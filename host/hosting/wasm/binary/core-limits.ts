// CoreLimits: limits on the number of types, functions and so on in a core module, checked before the host or V8
// allocates anything for them. Some are settings; the others are constants that no compiler comes near.
import { SvcError } from '@svc/kit/svc-error';
import type { ByteReader } from './byte-reader.ts';
import { CORE_SECTION, type CoreSections } from './core-section.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Maximum number of function types. */
const TYPES_MAX = 10_000;
/** Maximum number of parameters, and of results, of one function type. */
export const PARAMETERS_MAX = 255;
const TABLES_MAX = 100;
const ELEMENT_SEGMENTS_MAX = 10_000;
const DATA_SEGMENTS_MAX = 50_000;

/** Checks the counts and the lengths of functions. Throws SVC_MODULE_TOO_LARGE, SVC_MODULE_MALFORMED. */
export function checkCounts(section: CoreSections, limits: WasmLimits): void {
  const check = (id: number, what: string, max: number, setting?: string) => {
    const count = section(id)?.count() ?? 0;
    if (count > max) throw tooMany(`${count} ${what}`, max, setting);
  };
  check(CORE_SECTION.type, 'types of functions', TYPES_MAX);
  check(CORE_SECTION.function, 'functions', limits.functionsMax, 'functions-max');
  check(CORE_SECTION.global, 'globals', limits.globalsMax, 'globals-max');
  check(CORE_SECTION.table, 'tables', TABLES_MAX);
  check(CORE_SECTION.element, 'element segments', ELEMENT_SEGMENTS_MAX);
  check(CORE_SECTION.data, 'data segments', DATA_SEGMENTS_MAX);
  const code = section(CORE_SECTION.code);
  if (code !== undefined) checkFunctions(code, limits.functionBytesMax);
}

/** Checks the functions' lengths: V8 compiles a function as a whole, with memory that no heap limit bounds. */
function checkFunctions(code: ByteReader, bytesMax: number): void {
  for (let left = code.count(); left > 0; left--) {
    const length = code.u32();
    if (length > bytesMax)
      throw tooMany(`a function of ${length} bytes`, bytesMax, 'function-bytes-max');
    code.skip(length);
  }
}

/** Creates an error SVC_MODULE_TOO_LARGE. `setting`: name of the limit below `svc.wasm`; absent for a constant. */
export function tooMany(what: string, max: number, setting?: string): SvcError {
  return new SvcError(
    'SVC_MODULE_TOO_LARGE',
    `The module has ${what}, and the limit is ${max}` +
      `${setting === undefined ? '' : ` (svc.wasm.${setting})`}. Build a smaller module.`,
  );
}
