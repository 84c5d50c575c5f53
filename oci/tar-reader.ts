// TarReader: reads the entries of a tar archive from a stream, strictly: an archive that two readers could read differently is
// refused. Formats are ustar and the extended headers of POSIX.1-2001, and for whole images also the long names of GNU. The archive
// has to end with two blocks of zeros, and nothing but zeros may follow them; archives of whole images may also end after the content of
// an entry. It decides nothing about paths and kinds.
import type { Chunks } from './digest.ts';
import { ImageError } from './image-error.ts';
import { ENTRIES_MAX, EXTENDED_HEADER_BYTES_MAX, PATH_BYTES_MAX } from './image-limits.ts';
import { BLOCK_BYTES, parseHeader, type TarHeader, utf8Text } from './tar-header.ts';
import { paddingOf } from './tar-writer.ts';

export interface TarEntry extends TarHeader {
  /** Position of the content in the archive, in bytes. */
  readonly offset: number;
  /** The content, to be read before the next entry; what is not read is skipped. */
  readonly content: Chunks;
}

/** Extensions and sizes that an archive may have. */
export interface TarFormat {
  /** Whether long names in the notation of GNU, and global headers that change no name, are read; else they are entries. */
  readonly hasExtensions: boolean;
  /** Whether an archive may end after the content of an entry, as umoci and other writers leave it, and as readers commonly take it. */
  readonly mayLackEnd: boolean;
  readonly entriesMax: number;
  /** Maximum length of a path, and of what a link leads to, in bytes. */
  readonly pathBytesMax: number;
  readonly extendedHeaderBytesMax: number;
  /** A sentence for messages that says what to do about an archive that is refused. */
  readonly advice: string;
}

/** Archives of the images of modules, and layouts. */
const MODULE_FORMAT: TarFormat = {
  hasExtensions: false,
  mayLackEnd: false,
  entriesMax: ENTRIES_MAX,
  pathBytesMax: PATH_BYTES_MAX,
  extendedHeaderBytesMax: EXTENDED_HEADER_BYTES_MAX,
  advice: 'Build the image again with svc image build.',
};

/** Reads the entries. Throws SVC_IMAGE_LAYER_DAMAGED and SVC_IMAGE_TOO_LARGE. `where`: the archive, for messages. */
export async function* readTar(
  chunks: Chunks,
  where: string,
  format: TarFormat = MODULE_FORMAT,
): AsyncGenerator<TarEntry> {
  const input = new TarInput(chunks, (what) => damaged(where, what, format));
  try {
    yield* entriesOf(input, where, format);
    await input.expectZeros();
  } finally {
    await input.close();
  }
}

async function* entriesOf(
  input: TarInput,
  where: string,
  format: TarFormat,
): AsyncGenerator<TarEntry> {
  let next = new NextEntry(input, format);
  for (let count = 1; ; count++) {
    const block = await input.exactly(BLOCK_BYTES);
    if (isZero(block)) {
      if (!next.isEmpty) throw input.failure('ends after an extended header');
      if (!isZero(await input.exactly(BLOCK_BYTES)))
        throw input.failure('has a block of zeros before its end');
      return;
    }
    if (count > format.entriesMax)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `${where} has more than ${format.entriesMax} entries. ${format.advice}`,
      );
    const header = parseHeader(block);
    if (typeof header === 'string') throw input.failure(header);
    if (await next.take(header)) continue;
    const { path, size, ...fields } = next.completed(header);
    next = new NextEntry(input, format);
    for (const text of [path, fields.target ?? ''])
      if (Buffer.byteLength(text) > format.pathBytesMax)
        throw input.failure(`has a path of more than ${format.pathBytesMax} bytes`);
    const entryEnd = input.offset + size;
    yield { ...fields, path, size, offset: input.offset, content: input.take(entryEnd) };
    for await (const _skipped of input.take(entryEnd));
    if (format.mayLackEnd && (await input.isAtEnd())) return;
    if (!isZero(await input.exactly(paddingOf(size))))
      throw input.failure('has other bytes than zeros between two entries');
    if (format.mayLackEnd && (await input.isAtEnd())) return;
  }
}

/** Gathers what headers before an entry say of it. */
class NextEntry {
  readonly #input: TarInput;
  readonly #format: TarFormat;
  #extended: Partial<TarHeader> | undefined;
  #longPath: string | undefined;
  #longTarget: string | undefined;

  constructor(input: TarInput, format: TarFormat) {
    this.#input = input;
    this.#format = format;
  }

  get isEmpty(): boolean {
    return (this.#extended ?? this.#longPath ?? this.#longTarget) === undefined;
  }

  /** Reads a header that is about the next entry; resolves with false if it is an entry itself. */
  async take({ kind, size }: TarHeader): Promise<boolean> {
    if (kind === 'extended') {
      if (this.#extended !== undefined)
        throw this.#input.failure('has two extended headers for one entry');
      const extended = await this.#records(size);
      if (Object.keys(extended).length > 0) this.#extended = extended;
      return true;
    }
    if (!this.#format.hasExtensions) return false;
    if (kind === 'global') {
      const { path, target, size: ofAll } = await this.#records(size);
      if ((path ?? target ?? ofAll) !== undefined)
        throw this.#input.failure('has a header that gives all entries one name or size');
      return true;
    }
    if (kind !== 'long-path' && kind !== 'long-target') return false;
    const text = utf8Text(await this.#input.extendedHeader(size, this.#format));
    const known = kind === 'long-path' ? this.#longPath : this.#longTarget;
    if (text === undefined || known !== undefined)
      throw this.#input.failure('has a long name that is not UTF-8, or twice');
    if (kind === 'long-path') this.#longPath = text;
    else this.#longTarget = text;
    return true;
  }

  /** Returns the header of the entry with what the headers before it have said. */
  completed(header: TarHeader): TarHeader {
    const long = {
      ...(this.#longPath === undefined ? {} : { path: this.#longPath }),
      ...(this.#longTarget === undefined ? {} : { target: this.#longTarget }),
    };
    return { ...header, ...long, ...this.#extended };
  }

  async #records(size: number): Promise<Partial<TarHeader>> {
    return parseExtended(await this.#input.extendedHeader(size, this.#format), this.#input);
  }
}

/** Parses the records `LENGTH KEYWORD=VALUE\n`. Keywords that change none of the fields of TarHeader are ignored. */
function parseExtended(bytes: Uint8Array, input: TarInput): Partial<TarHeader> {
  const found = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const [, digits] = /^(\d{1,7}) /.exec(Buffer.from(bytes.subarray(at, at + 8)).toString()) ?? [];
    const end = at + Number(digits);
    if (digits === undefined || end > bytes.length || bytes[end - 1] !== 0x0a)
      throw input.failure('has an extended header that is none');
    const record = Buffer.from(bytes.subarray(at + digits.length + 1, end - 1)).toString();
    const equals = record.indexOf('=');
    const keyword = record.slice(0, equals);
    if (equals < 1 || found.has(keyword))
      throw input.failure('has an extended header with a record that is none, or twice');
    if (keyword.startsWith('GNU.sparse.'))
      throw input.failure('has a file with holes, whose content has a notation of its own');
    found.set(keyword, record.slice(equals + 1));
    at = end;
  }
  const path = found.get('path');
  const target = found.get('linkpath');
  const size = found.get('size');
  if (size !== undefined && !/^\d{1,15}$/.test(size))
    throw input.failure('has an extended header with a size that is none');
  const time = Number(found.get('mtime'));
  return {
    ...(path === undefined ? {} : { path }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size: Number(size) }),
    ...(Number.isNaN(time) ? {} : { time }),
  };
}

/** The bytes of an archive, read in the pieces that the format has. */
class TarInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Returns the failure for an archive that is none. `what`: a clause that says what is wrong. */
  readonly failure: (what: string) => ImageError;
  #current: Uint8Array = new Uint8Array();
  #offset = 0;

  constructor(chunks: Chunks, failure: (what: string) => ImageError) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.failure = failure;
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

  async extendedHeader(
    size: number,
    { extendedHeaderBytesMax: bytesMax }: TarFormat,
  ): Promise<Uint8Array> {
    if (size > bytesMax)
      throw this.failure(`has an extended header of more than ${bytesMax} bytes`);
    const bytes = await this.exactly(size);
    await this.exactly(paddingOf(size));
    return bytes;
  }

  /** Reads up to an offset. */
  async *take(end: number): AsyncGenerator<Uint8Array> {
    while (this.#offset < end) {
      if (!(await this.#fill())) throw this.failure('is cut off');
      const part = this.#current.subarray(0, end - this.#offset);
      this.#current = this.#current.subarray(part.length);
      this.#offset += part.length;
      yield part;
    }
  }

  async isAtEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  async expectZeros(): Promise<void> {
    while (await this.#fill()) {
      if (!isZero(this.#current)) throw this.failure('has bytes after its end');
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

function damaged(where: string, what: string, { advice }: TarFormat): ImageError {
  return new ImageError('SVC_IMAGE_LAYER_DAMAGED', `${where} ${what}. ${advice}`);
}
