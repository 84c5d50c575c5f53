// UnfinishedHead: the bytes of the head that a connection is reading, which its owner counts together with those of all others.
import type { RequestReader } from '../readers/request-reader.ts';
import type { ConnectionOwner } from './connection-owner.ts';

export class UnfinishedHead {
  readonly #owner: Pick<ConnectionOwner<never>, 'headBytesChanged'>;
  #bytes = 0;

  constructor(owner: Pick<ConnectionOwner<never>, 'headBytesChanged'>) {
    this.#owner = owner;
  }

  /**
   * Counts what the reader has of a head; undefined: it reads none. Returns false if it has more than before, and there are too
   * many.
   */
  count(reader: RequestReader | undefined): boolean {
    const bytes = reader === undefined || reader.betweenMessages ? 0 : reader.bufferedBytes;
    const by = bytes - this.#bytes;
    if (by === 0) return true;
    this.#bytes = bytes;
    return this.#owner.headBytesChanged(by) || by < 0;
  }
}
