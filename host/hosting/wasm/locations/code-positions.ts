// CodePositions: maps a position in a module's metered code to the instruction of its original code. The mapping
// rewrites the module once more and notes which bytes the rewriter copies. Code that the rewriter inserts
// belongs to the instruction that it precedes or replaces.
import { ByteWriter } from '../binary/byte-writer.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { coreSections, CORE_SECTION } from '../binary/core-section.ts';
import { writeMeteredBody } from '../metering/code-metering.ts';
import type { WasmFrame } from '../../../model/guest-fault.ts';
import { rewriteCoreModule } from '../metering/module-rewriter.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Position in the module's own code, in bytes from its beginning. */
export interface CodePosition {
  readonly offset: number;
  /** Beginning and end of the function's code. */
  readonly start: number;
  readonly end: number;
}

/** Code of one function, as it was copied. */
interface CopiedBody {
  readonly start: number;
  readonly end: number;
  /** Copied runs in their order: each maps an offset of the original code to one of the written body. */
  readonly runs: readonly CopiedRun[];
}

interface CopiedRun {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

export class CodePositions {
  readonly #firstFunction: number;
  readonly #copied: CopiedBody[] = [];
  /** Offsets of the bodies in the metered module. */
  readonly #starts: readonly number[];

  /** `limits`: those that the module was admitted with. */
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

  /** Returns undefined for a position in none of the module's own functions. */
  originalOf({ functionIndex, offset }: WasmFrame): CodePosition | undefined {
    const body = this.#copied[functionIndex - this.#firstFunction];
    if (body === undefined) return undefined;
    const { start, end, runs } = body;
    const at = offset - this.#starts[functionIndex - this.#firstFunction]!;
    const run = runs.findLast(({ to }) => to <= at);
    if (run === undefined) return undefined;
    return { offset: run.from + Math.min(at - run.to, run.length), start, end };
  }
}

/** Notes which of the module's own bytes are copied. */
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
