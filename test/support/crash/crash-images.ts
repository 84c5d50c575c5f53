// CrashImages: the folder as a crash may leave it, after each operation of a trace. What was synced is there;
// of what was not, anything may be: all of it, nothing, some of it, a part of a write.
//
// Invariants
// 1  A write is durable once a sync of its file succeeded after it. After one that failed it may be lost for good,
//    whatever later syncs say: a kernel may forget what it could not write.
// 2  What a folder lists is durable once the folder was synced; before that, any first part of its changes is.
import type { Random } from '../random.ts';
import type { DiskOperation } from './disk-trace.ts';

/** What a disk writes as a whole. */
const SECTOR_BYTES = 512;

export type ImageKind = 'written' | 'synced' | 'some' | 'torn';

export interface CrashImage {
  readonly kind: ImageKind;
  /** After so many operations of the trace. */
  readonly after: number;
  readonly files: ReadonlyMap<string, Buffer>;
}

type Change = Extract<DiskOperation, { kind: 'write' | 'truncate' }>;

interface Pending {
  readonly change: Change;
  /** A sync after it failed. */
  doomed: boolean;
}

interface File {
  written: Content;
  synced: Content;
  pending: Pending[];
}

/** A folder's list of files. */
type Listing = ReadonlyMap<string, File>;

/** Bytes that grow: the buffer has room for more. */
class Content {
  #bytes: Buffer;
  length: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(bytes);
    this.length = bytes.length;
  }

  apply(change: Change, bytesMax = Infinity): void {
    if (change.kind === 'truncate') {
      this.#grow(change.length);
      this.#bytes.fill(0, change.length, this.length);
      this.length = change.length;
      return;
    }
    const bytes = change.bytes.subarray(0, bytesMax);
    const end = change.offset + bytes.length;
    this.#grow(end);
    bytes.copy(this.#bytes, change.offset);
    this.length = Math.max(this.length, end);
  }

  copy(): Content {
    return new Content(this.bytes());
  }

  /** Valid until it changes. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(length, this.#bytes.length * 2, 4_096));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

export class CrashImages {
  readonly #operations: readonly DiskOperation[];
  readonly #random: Random;
  #listing = new Map<string, File>();
  /** What the folder has listed since it was synced, first of all what it did then. */
  #listings: Listing[];

  /** `before`: the files that the folder had when the trace began. */
  constructor(
    operations: readonly DiskOperation[],
    before: ReadonlyMap<string, Buffer>,
    random: Random,
  ) {
    this.#operations = operations;
    this.#random = random;
    for (const [name, bytes] of before)
      this.#listing.set(name, {
        written: new Content(bytes),
        synced: new Content(bytes),
        pending: [],
      });
    this.#listings = [new Map(this.#listing)];
  }

  /** Of every operation that `chosen` picks, the images after it. A caller keeps no image beyond the next. */
  *[Symbol.iterator](): Generator<CrashImage> {
    yield* this.of(() => true);
  }

  *of(chosen: (after: number) => boolean): Generator<CrashImage> {
    for (const [index, operation] of this.#operations.entries()) {
      // All that was acknowledged on the strength of the syncs so far stands before the next one.
      if (operation.kind === 'sync' && chosen(index)) yield this.#image('synced', index);
      this.#do(operation);
      const after = index + 1;
      if (operation.kind === 'mark' || !chosen(after)) continue;
      yield this.#image('written', after);
      if (operation.kind === 'sync') continue;
      yield this.#image('some', after);
      if (operation.kind === 'write') yield this.#image('torn', after, operation);
    }
    yield this.#image('synced', this.#operations.length);
  }

  #do(operation: DiskOperation): void {
    if (operation.kind === 'mark') return;
    // Shared memory in a file: it is made anew from the log when nobody has the database open.
    if (operation.name.endsWith('-shm')) return;
    if (operation.kind === 'sync') this.#sync(operation);
    else if (operation.kind === 'create') {
      if (!this.#listing.has(operation.name))
        this.#list((files) => files.set(operation.name, empty()));
    } else if (operation.kind === 'rename')
      this.#list((files) => {
        const file = files.get(operation.name);
        files.delete(operation.name);
        if (file !== undefined) files.set(operation.to, file);
      });
    else if (operation.kind === 'unlink') this.#list((files) => files.delete(operation.name));
    else {
      const file = this.#listing.get(operation.name);
      if (file === undefined) throw new Error(`${operation.name} is changed, and was never made`);
      file.written.apply(operation);
      file.pending.push({ change: operation, doomed: false });
    }
  }

  #sync({ name, failed }: Extract<DiskOperation, { kind: 'sync' }>): void {
    if (name === '') {
      if (!failed) this.#listings = [new Map(this.#listing)];
      return;
    }
    const file = this.#listing.get(name);
    if (file === undefined) return;
    if (failed) for (const pending of file.pending) pending.doomed = true;
    else {
      for (const { change, doomed } of file.pending) if (!doomed) file.synced.apply(change);
      file.pending = [];
    }
  }

  #list(change: (files: Map<string, File>) => void): void {
    change(this.#listing);
    this.#listings.push(new Map(this.#listing));
  }

  #image(kind: ImageKind, after: number, torn?: Change): CrashImage {
    const listing = this.#listingOf(kind);
    const files = new Map<string, Buffer>();
    for (const [name, file] of listing) files.set(name, this.#contentOf(file, kind, torn).bytes());
    return { kind, after, files };
  }

  #listingOf(kind: ImageKind): Listing {
    if (kind === 'synced') return this.#listings[0]!;
    return kind === 'some' ? this.#random.pick(this.#listings) : this.#listing;
  }

  #contentOf(file: File, kind: ImageKind, torn: Change | undefined): Content {
    if (kind === 'written') return file.written;
    if (kind === 'torn' && file.pending.at(-1)?.change !== torn) return file.written;
    if (kind === 'synced' || file.pending.length === 0) return file.synced;
    const content = file.synced.copy();
    for (const { change } of file.pending)
      if (kind === 'some') {
        if (this.#random.chance(50)) content.apply(change);
      } else if (change === torn && change.kind === 'write')
        content.apply(change, this.#bytesBeforeTear(change.bytes.length));
      else content.apply(change);
    return content;
  }

  #bytesBeforeTear(length: number): number {
    return this.#random.below(Math.ceil(length / SECTOR_BYTES)) * SECTOR_BYTES;
  }
}

function empty(): File {
  return { written: new Content(), synced: new Content(), pending: [] };
}
