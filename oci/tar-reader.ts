// TarReader: reads the entries of a tar archive from a stream, strictly: an archive that two readers could read differently is
// refused. Formats are ustar and the extended headers of POSIX.1-2001 with path and size. The archive has to end with two blocks
// of zeros, and nothing but zeros may follow them. It decides nothing about paths and kinds.
import type { Chunks } from './digest.ts';
import { ImageError } from './image-error.ts';
import { ENTRIES_MAX, EXTENDED_HEADER_BYTES_MAX, PATH_BYTES_MAX } from './image-limits.ts';
import { BLOCK_BYTES, parseHeader, type TarHeader } from './tar-header.ts';
import { paddingOf } from './tar-writer.ts';

export interface TarEntry extends TarHeader {
  /** Position of the content in the archive, in bytes. */
  readonly offset: number;
  /** The content, to be read before the next entry; what is not read is skipped. */
  readonly content: Chunks;
}

/** Reads the entries. Throws SVC_IMAGE_LAYER_DAMAGED and SVC_IMAGE_TOO_LARGE. `where`: the archive, for messages. */
export async function* readTar(chunks: Chunks, where: string): AsyncGenerator<TarEntry> {
  const input = new TarInput(chunks, where);
  try {
    yield* entriesOf(input, where);
    await input.expectZeros();
  } finally {
    await input.close();
  }
}

async function* entriesOf(input: TarInput, where: string): AsyncGenerator<TarEntry> {
  let extended: ExtendedHeader = {};
  for (let count = 1; ; count++) {
    const block = await input.exactly(BLOCK_BYTES);
    if (isZero(block)) {
      if (Object.keys(extended).length > 0) throw damaged(where, 'ends after an extended header');
      if (!isZero(await input.exactly(BLOCK_BYTES)))
        throw damaged(where, 'has a block of zeros before its end');
      return;
    }
    if (count > ENTRIES_MAX)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `${where} has more than ${ENTRIES_MAX} entries. Use an image that svc image build has made.`,
      );
    const header = parseHeader(block);
    if (typeof header === 'string') throw damaged(where, header);
    if (header.kind === 'extended') {
      if (Object.keys(extended).length > 0)
        throw damaged(where, 'has two extended headers for one entry');
      extended = parseExtended(await input.extendedHeader(header.size), where);
      continue;
    }
    const { path = header.path, size = header.size } = extended;
    extended = {};
    if (Buffer.byteLength(path) > PATH_BYTES_MAX)
      throw damaged(where, `has a path of more than ${PATH_BYTES_MAX} bytes`);
    const entryEnd = input.offset + size;
    yield { path, kind: header.kind, size, offset: input.offset, content: input.take(entryEnd) };
    for await (const _skipped of input.take(entryEnd));
    if (!isZero(await input.exactly(paddingOf(size))))
      throw damaged(where, 'has other bytes than zeros between two entries');
  }
}

interface ExtendedHeader {
  readonly path?: string;
  readonly size?: number;
}

/** Parses the records `LENGTH KEYWORD=VALUE\n`. Keywords that change neither path nor size are ignored. */
function parseExtended(bytes: Uint8Array, where: string): ExtendedHeader {
  const found = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const [, digits] = /^(\d{1,6}) /.exec(Buffer.from(bytes.subarray(at, at + 7)).toString()) ?? [];
    const end = at + Number(digits);
    if (digits === undefined || end > bytes.length || bytes[end - 1] !== 0x0a)
      throw damaged(where, 'has an extended header that is none');
    const record = Buffer.from(bytes.subarray(at + digits.length + 1, end - 1)).toString();
    const equals = record.indexOf('=');
    const keyword = record.slice(0, equals);
    if (equals < 1 || found.has(keyword))
      throw damaged(where, 'has an extended header with a record that is none, or twice');
    found.set(keyword, record.slice(equals + 1));
    at = end;
  }
  const path = found.get('path');
  const size = found.get('size');
  if (size !== undefined && !/^\d{1,15}$/.test(size))
    throw damaged(where, 'has an extended header with a size that is none');
  return {
    ...(path === undefined ? {} : { path }),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

/** The bytes of an archive, read in the pieces that the format has. */
class TarInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #where: string;
  #current: Uint8Array = new Uint8Array();
  #offset = 0;

  constructor(chunks: Chunks, where: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#where = where;
  }

  /** Number of bytes that were read. */
  get offset(): number {
    return this.#offset;
  }

  async exactly(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.take(this.#offset + count)) parts.push(part);
    return Buffer.concat(parts);
  }

  async extendedHeader(size: number): Promise<Uint8Array> {
    if (size > EXTENDED_HEADER_BYTES_MAX)
      throw damaged(
        this.#where,
        `has an extended header of more than ${EXTENDED_HEADER_BYTES_MAX} bytes`,
      );
    const bytes = await this.exactly(size);
    await this.exactly(paddingOf(size));
    return bytes;
  }

  /** Reads up to an offset. */
  async *take(end: number): AsyncGenerator<Uint8Array> {
    while (this.#offset < end) {
      if (!(await this.#fill())) throw damaged(this.#where, 'is cut off');
      const part = this.#current.subarray(0, end - this.#offset);
      this.#current = this.#current.subarray(part.length);
      this.#offset += part.length;
      yield part;
    }
  }

  async expectZeros(): Promise<void> {
    while (await this.#fill()) {
      if (!isZero(this.#current)) throw damaged(this.#where, 'has bytes after its end');
      this.#current = new Uint8Array();
    }
  }

  /** Ends the source, also before its last byte was read. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Loads a chunk if none is left; resolves with false at the end. */
  async #fill(): Promise<boolean> {
    while (this.#current.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#current = next.value;
    }
    return true;
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function damaged(where: string, what: string): ImageError {
  return new ImageError(
    'SVC_IMAGE_LAYER_DAMAGED',
    `${where} ${what}. Build the image again with svc image build.`,
  );
}
