// CodePlaces: from a place in a module's code as it runs, metered, to the instruction of its own code. The module is
// rewritten once more for it, and what the rewriter copies is noted. What it has put in is a place of the instruction
// that it stands before, or in the place of.
import { ByteWriter } from '../binary/byte-writer.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { coreSections, CORE_SECTION } from '../binary/core-section.ts';
import { writeMeteredBody } from '../metering/code-metering.ts';
import type { WasmFrame } from '../../../model/guest-fault.ts';
import { rewriteCoreModule } from '../metering/module-rewriter.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Of the module's own code, in bytes from its beginning. */
export interface CodePlace {
  readonly offset: number;
  /** Where the function's code begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** One function's code, as it was copied. */
interface CopiedBody {
  readonly start: number;
  readonly end: number;
  /** Pieces, in their order: from its own bytes on, to those behind the beginning of the written body. */
  readonly runs: readonly CopiedRun[];
}

interface CopiedRun {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

export class CodePlaces {
  readonly #firstFunction: number;
  readonly #copied: CopiedBody[] = [];
  /** Where the bodies begin in the module as it runs. */
  readonly #starts: readonly number[];

  /** Of a module that was admitted with these limits. */
  constructor(core: CoreModule, limits: WasmLimits) {
    const rewritten = rewriteCoreModule(core, limits, (out, body, meter, owner) => {
      const { position: start, end } = body;
      const noting = new NotingWriter(core.bytes);
      writeMeteredBody(noting, body, meter, owner);
      this.#copied.push({ start, end, runs: noting.runs });
      out.bytes(noting.written);
    });
    this.#firstFunction = core.functions.length - this.#copied.length;
    this.#starts = bodyStarts(rewritten);
  }

  /** Undefined: it is in none of the module's own functions. */
  placeOf({ functionIndex, offset }: WasmFrame): CodePlace | undefined {
    const body = this.#copied[functionIndex - this.#firstFunction];
    if (body === undefined) return undefined;
    const { start, end, runs } = body;
    const at = offset - this.#starts[functionIndex - this.#firstFunction]!;
    const run = runs.findLast(({ to }) => to <= at);
    if (run === undefined) return undefined;
    return { offset: run.from + Math.min(at - run.to, run.length), start, end };
  }
}

/** Notes what is copied of the module's own bytes. */
class NotingWriter extends ByteWriter {
  readonly runs: CopiedRun[] = [];
  readonly #own: Uint8Array;

  constructor(own: Uint8Array) {
    super();
    this.#own = own;
  }

  override bytes(bytes: Uint8Array): void {
    if (bytes.buffer === this.#own.buffer)
      this.runs.push({
        from: bytes.byteOffset - this.#own.byteOffset,
        to: this.length,
        length: bytes.length,
      });
    super.bytes(bytes);
  }
}

function bodyStarts(module: Uint8Array): number[] {
  const code = coreSections(module)(CORE_SECTION.code);
  if (code === undefined) return [];
  return Array.from({ length: code.count() }, () => code.part(code.u32()).position);
}
