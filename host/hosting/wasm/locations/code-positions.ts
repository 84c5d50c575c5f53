// CodePositions: maps a position in a module's metered code to the instruction of its original code. To build the
// map, the module is rewritten a second time, and each range of bytes that the rewriter copies is recorded. Code that
// the rewriter inserts belongs to the instruction that it precedes or replaces.
import { ByteWriter } from '../binary/byte-writer.ts';
import type { CoreModule } from '../binary/core-module-reader.ts';
import { coreSections, CORE_SECTION } from '../binary/core-section.ts';
import { writeMeteredBody } from '../metering/code-metering.ts';
import type { WasmFrame } from '@svc/model/guest-fault';
import { rewriteCoreModule } from '../metering/module-rewriter.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Position in the module's own code, in bytes from its beginning. */
export interface CodePosition {
  readonly offset: number;
  /** Beginning and end of the function's code. */
  readonly start: number;
  readonly end: number;
}

/** Code of one function in the original module, and the ranges of it that the rewriter copied. */
interface CopiedBody {
  readonly start: number;
  readonly end: number;
  /** Copied ranges, in order. */
  readonly runs: readonly CopiedRun[];
}

/** Maps `length` bytes from the offset `from` of the original module to the offset `to` of the rewritten body. */
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

  /** `limits`: the limits with which the module was admitted. */
  constructor(core: CoreModule, limits: WasmLimits) {
    const rewritten = rewriteCoreModule(core, limits, (out, body, meter, owner) => {
      const { position: start, end } = body;
      const writer = new RecordingWriter(core.bytes);
      writeMeteredBody(writer, body, meter, owner);
      this.#copied.push({ start, end, runs: writer.runs });
      out.bytes(writer.written);
    });
    this.#firstFunction = core.functions.length - this.#copied.length;
    this.#starts = bodyStarts(rewritten);
  }

  /** Returns undefined if the position is not in a function of the original module. */
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

/** Records which bytes of the original module are copied. */
class RecordingWriter extends ByteWriter {
  readonly runs: CopiedRun[] = [];
  readonly #original: Uint8Array;

  constructor(original: Uint8Array) {
    super();
    this.#original = original;
  }

  override bytes(bytes: Uint8Array): void {
    if (bytes.buffer === this.#original.buffer)
      this.runs.push({
        from: bytes.byteOffset - this.#original.byteOffset,
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
