// The trace of a FaultDisk: what happened to the files of a folder, in order, as fault-disk.c wrote it down.
import { readFileSync } from 'node:fs';

export type DiskOperation =
  | { readonly kind: 'create'; readonly name: string }
  | {
      readonly kind: 'write';
      readonly name: string;
      readonly offset: number;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'truncate'; readonly name: string; readonly length: number }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly name: string }
  /** Of a file; of the folder, when the name is empty. `failed`: what was written before may be lost for good. */
  | { readonly kind: 'sync'; readonly name: string; readonly failed: boolean }
  /** What the process noted for the test, one after the other with what the disk was asked for. */
  | { readonly kind: 'mark'; readonly text: string };

/** Of the file that is not one of the folder's: what is written to it is a mark. */
export const MARKS = 'marks';

const HEAD_BYTES = 24;
/** Of fault-disk.c. */
const KIND = { write: 1, sync: 2, truncate: 4, rename: 8, unlink: 16, create: 32 } as const;

export function readTrace(path: string): readonly DiskOperation[] {
  const bytes = readFileSync(path);
  const operations: DiskOperation[] = [];
  for (let at = 0; at < bytes.length;) {
    const kind = bytes.readUInt8(at);
    const failed = bytes.readUInt8(at + 1) !== 0;
    const nameLength = bytes.readUInt16LE(at + 2);
    const otherLength = bytes.readUInt16LE(at + 4);
    const length = bytes.readUInt32LE(at + 8);
    const offset = Number(bytes.readBigInt64LE(at + 16));
    const nameAt = at + HEAD_BYTES;
    const contentAt = nameAt + nameLength + otherLength;
    const name = bytes.toString('utf8', nameAt, nameAt + nameLength);
    const to = bytes.toString('utf8', nameAt + nameLength, contentAt);
    at = contentAt + length;
    const content = bytes.subarray(contentAt, at);
    const operation = operationOf(kind, failed, { name, to, offset, bytes: content });
    if (operation !== undefined) operations.push(operation);
  }
  return operations;
}

/** The entry of the trace without its head; which parts mean something depends on its kind. */
interface TraceEntry {
  readonly name: string;
  readonly to: string;
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Answers undefined for an entry that changed nothing. */
function operationOf(
  kind: number,
  failed: boolean,
  { name, to, offset, bytes }: TraceEntry,
): DiskOperation | undefined {
  if (name === MARKS)
    return kind === KIND.write ? { kind: 'mark', text: bytes.toString().trimEnd() } : undefined;
  if (kind === KIND.sync) return { kind: 'sync', name, failed };
  if (failed) return undefined;
  switch (kind) {
    case KIND.write:
      return { kind: 'write', name, offset, bytes };
    case KIND.truncate:
      return { kind: 'truncate', name, length: offset };
    case KIND.rename:
      return { kind: 'rename', name, to };
    case KIND.unlink:
      return { kind: 'unlink', name };
    case KIND.create:
      return { kind: 'create', name };
    default:
      throw new Error(`the trace has an operation ${kind}`);
  }
}
