// KeptBodies: the bodies of the requests that may be sent once more, for both ports of a proxy.
//
// Invariant: the memory that all of them take is within a limit, however small the pieces are in which they come. A body that
// would take more is forgotten, and its request is not sent once more.
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import type { ForwardLimits } from './forward-limits.ts';

type KeptBodiesLimits = Pick<ForwardLimits, 'replayBytesMax' | 'replayBytesTotalMax'>;

export class KeptBodies {
  readonly limits: KeptBodiesLimits;
  #bytes = 0;

  constructor(limits: KeptBodiesLimits) {
    this.limits = limits;
  }

  /** Bytes of memory that the bodies take. */
  get bytes(): number {
    return this.#bytes;
  }

  begin(): KeptBody {
    return new KeptBody(this);
  }

  // Called by the bodies.

  /** Returns false, and counts nothing, if the bodies would take too much. */
  add(bytes: number): boolean {
    if (bytes > 0 && this.#bytes + bytes > this.limits.replayBytesTotalMax) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** The body of one request, as far as it was received. */
export class KeptBody {
  readonly #all: KeptBodies;
  #gathered: GatheredBytes;
  /** Bytes of memory that are counted. */
  #bytes = 0;

  constructor(all: KeptBodies) {
    this.#all = all;
    this.#gathered = new GatheredBytes(all.limits.replayBytesMax);
  }

  get whole(): Buffer {
    return this.#gathered.whole;
  }

  /** Keeps a copy of the piece. Returns false if there is no room for it; then `forget` has to be called. */
  keep(piece: Buffer): boolean {
    const length = this.#gathered.whole.length + piece.length;
    if (length > this.#all.limits.replayBytesMax) return false;
    const bytes = this.#gathered.bytesWith(piece);
    if (!this.#all.add(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    this.#gathered.addCopy(piece);
    return true;
  }

  forget(): void {
    if (this.#bytes === 0) return;
    this.#all.add(-this.#bytes);
    this.#bytes = 0;
    this.#gathered = new GatheredBytes(0);
  }
}
