// Writes the body of one message with the framing that its head announced.
//
// Invariants:
// - A message has a valid end only if `end` was called after all announced bytes.
// - After the end, or after it was detached from its connection, a writer writes nothing.
import type { Framing } from '../messages/framing.ts';
import { CHUNK_END, chunkHead, encodeTrailers, LAST_CHUNK } from '../writers/chunk-writer.ts';
import type { BodySink } from './body.ts';

/** Where a body's bytes go. */
export interface BodyTarget {
  put(bytes: Buffer): boolean;
  /** The body has its valid end. */
  bodyEnded(): void;
  /** The body is broken off. */
  bodyCut(): void;
}

export class BodyWriter implements BodySink {
  onDrain: (() => void) | undefined;
  readonly #framing: Framing;
  #target: BodyTarget | undefined;
  /** Bytes that are still to come of a body with a length. */
  #left: number;

  constructor(target: BodyTarget, framing: Framing) {
    this.#target = target;
    this.#framing = framing;
    this.#left = framing.kind === 'length' ? framing.bytes : 0;
  }

  write(bytes: Buffer): boolean {
    const target = this.#target;
    if (target === undefined || bytes.length === 0) return true;
    switch (this.#framing.kind) {
      case 'none':
        return true;
      case 'length':
        if (bytes.length > this.#left) {
          this.destroy();
          throw new RangeError('a body is longer than announced');
        }
        this.#left -= bytes.length;
        return target.put(bytes);
      case 'chunked':
        target.put(chunkHead(bytes.length));
        target.put(bytes);
        return target.put(CHUNK_END);
      case 'until-close':
        return target.put(bytes);
    }
  }

  end(trailers: readonly string[] = []): void {
    const target = this.#target;
    if (target === undefined) return;
    if (this.#left > 0) {
      this.destroy();
      throw new RangeError('a body is shorter than announced');
    }
    if (this.#framing.kind === 'chunked')
      target.put(trailers.length === 0 ? LAST_CHUNK : encodeTrailers(trailers));
    this.#target = undefined;
    target.bodyEnded();
  }

  destroy(): void {
    const target = this.#target;
    this.#target = undefined;
    target?.bodyCut();
  }

  /** Forgets the target: the message can no longer be sent. */
  detach(): void {
    this.#target = undefined;
  }
}
