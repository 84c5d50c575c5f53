// Digest: the name of a blob, which is the hash of its bytes. Bytes that come from outside pass through CheckedBlob, and count
// only when it has seen all of them.
import { createHash, hash } from 'node:crypto';
import { ImageError } from './image-error.ts';

export type Digest = `sha256:${string}` | `sha512:${string}`;

const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

export function isDigest(value: unknown): value is Digest {
  return typeof value === 'string' && DIGEST.test(value);
}

export function digestOf(bytes: Uint8Array): Digest {
  return `sha256:${hash('sha256', bytes)}`;
}

/** Returns the name of the hash function, as node:crypto has it, and the hexadecimal digits. */
export function partsOf(digest: Digest): {
  readonly algorithm: 'sha256' | 'sha512';
  readonly hex: string;
} {
  const [algorithm, hex] = digest.split(':') as ['sha256' | 'sha512', string];
  return { algorithm, hex };
}

export type Chunks = AsyncIterable<Uint8Array>;

/** Bytes as they have to be: their number and their digest. */
export interface ExpectedBytes {
  readonly digest: Digest;
  readonly size: number;
}

/**
 * Passes the chunks of a blob on while it counts and hashes them. Throws SVC_IMAGE_DIGEST_MISMATCH at the first byte too many,
 * and at the end if a byte is missing or the digest is another one.
 */
export class CheckedBlob {
  readonly #chunks: Chunks;
  readonly #expected: ExpectedBytes;
  readonly #where: string;
  #isComplete = false;

  /** `where`: where the bytes come from, for the message. */
  constructor(chunks: Chunks, expected: ExpectedBytes, where: string) {
    this.#chunks = chunks;
    this.#expected = expected;
    this.#where = where;
  }

  /** Whether all bytes have passed and are those that were expected. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { digest, size } = this.#expected;
    const { algorithm, hex } = partsOf(digest);
    const hashing = createHash(algorithm);
    let count = 0;
    for await (const chunk of this.#chunks) {
      count += chunk.length;
      if (count > size) throw this.#mismatch(`has more than the ${size} bytes of its descriptor`);
      hashing.update(chunk);
      yield chunk;
    }
    if (count < size) throw this.#mismatch(`has ${count} bytes instead of ${size}`);
    const found = hashing.digest('hex');
    if (found !== hex) throw this.#mismatch(`has the digest ${algorithm}:${found}`);
    this.#isComplete = true;
  }

  #mismatch(what: string): ImageError {
    return new ImageError(
      'SVC_IMAGE_DIGEST_MISMATCH',
      `The blob ${this.#expected.digest} of ${this.#where} ${what}. ` +
        'It was changed or damaged after the image was built: build the image again and push it.',
    );
  }
}

/** Reads all bytes of a blob that has at most `bytesMax` of them. Throws as CheckedBlob does. */
export async function checkedBytes(
  chunks: Chunks,
  expected: ExpectedBytes,
  where: string,
  bytesMax: number,
): Promise<Uint8Array> {
  if (expected.size > bytesMax)
    throw new ImageError(
      'SVC_IMAGE_TOO_LARGE',
      `The blob ${expected.digest} of ${where} has ${expected.size} bytes; at most ${bytesMax} are read here. ` +
        'Use an image that svc image build has made.',
    );
  const parts: Uint8Array[] = [];
  for await (const chunk of new CheckedBlob(chunks, expected, where)) parts.push(chunk);
  return Buffer.concat(parts);
}
