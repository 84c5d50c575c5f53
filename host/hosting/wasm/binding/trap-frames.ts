// TrapFrames: where a module's code was when the engine stopped it: the places in the stack that the engine notes.
// The names in it are the engine's alone: the rewriter leaves those of a module away.
import type { WasmFrame } from '../../../model/guest-fault.ts';

const FRAMES_MAX = 10;
const FRAME = /wasm-function\[(\d+)\]:0x([0-9a-f]+)/g;

/** The innermost first; undefined where it is not known. */
export function trapFrames(error: unknown): readonly WasmFrame[] | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined;
  const frames = error.stack
    .matchAll(FRAME)
    .take(FRAMES_MAX)
    .map(([, index, offset]) => ({
      functionIndex: Number(index),
      offset: Number.parseInt(offset!, 16),
    }))
    .toArray();
  return frames.length === 0 ? undefined : frames;
}
