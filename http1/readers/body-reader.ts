// The body of a message by its framing: data, then its end with trailers.
import type { MessageFailure } from '../messages/failure.ts';
import { failure } from '../messages/failure.ts';
import { NO_FIELDS } from '../messages/field-list.ts';
import { type Framing, NO_BODY } from '../messages/framing.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { DataPart, EndPart, FailurePart } from '../messages/parts.ts';
import type { ByteInput } from './byte-input.ts';
import { ChunkedReader } from './chunked-reader.ts';

export type BodyPart = DataPart | EndPart | FailurePart;

const END: EndPart = { kind: 'end', trailers: NO_FIELDS };

export class BodyReader {
  readonly #limits: MessageLimits;
  #framing: Framing = NO_BODY;
  /** Bytes that are left of a body with a length. */
  #bytesLeft = 0;
  /** Created for the first chunked body. */
  #chunked: ChunkedReader | undefined;
  /** Whether the peer has ended its side. */
  #isClosed = false;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  begin(framing: Framing): void {
    this.#framing = framing;
    if (framing.kind === 'length') this.#bytesLeft = framing.bytes;
    if (framing.kind === 'chunked') {
      this.#chunked ??= new ChunkedReader(this.#limits);
      this.#chunked.begin();
    }
  }

  /** Bytes that were read and belong to no part yet. */
  get byteLength(): number {
    return this.#chunked?.byteLength ?? 0;
  }

  next(input: ByteInput): BodyPart | undefined {
    switch (this.#framing.kind) {
      case 'none':
        return END;
      case 'chunked':
        return this.#chunked!.next(input);
      case 'until-close':
        if (!input.isEmpty) return { kind: 'data', bytes: input.take(Number.POSITIVE_INFINITY) };
        return this.#isClosed ? END : undefined;
      case 'length': {
        if (this.#bytesLeft === 0) return END;
        if (input.isEmpty) return undefined;
        const bytes = input.take(this.#bytesLeft);
        this.#bytesLeft -= bytes.length;
        return { kind: 'data', bytes };
      }
    }
  }

  /** Takes the end of the peer's side. Returns the failure of a body that is not complete. */
  close(): MessageFailure | undefined {
    this.#isClosed = true;
    const { kind } = this.#framing;
    const isComplete =
      kind === 'none' || kind === 'until-close' || (kind === 'length' && this.#bytesLeft === 0);
    return isComplete ? undefined : failure('incomplete-message');
  }
}
