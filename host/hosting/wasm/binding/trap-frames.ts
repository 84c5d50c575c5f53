// TrapFrames: the code positions of a module at the moment when V8 stopped it, read from V8's stack trace. The
// names in the trace are V8's own: the rewriter removes the module's names.
import type { WasmFrame } from '@svc/model/guest-fault';

const FRAMES_MAX = 10;
const FRAME = /wasm-function\[(\d+)\]:0x([0-9a-f]+)/g;

/** Returns at most FRAMES_MAX frames, innermost first; undefined if they are unknown. */
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
