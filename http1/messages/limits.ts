// Limits of a message, which every reader is given.

export interface MessageLimits {
  /** Bytes of a head, with its empty line. */
  readonly headBytesMax: number;
  /** Fields of a head, and of trailers. */
  readonly fieldsMax: number;
  /** Bytes of a line that gives the size of a chunk, with its extensions. */
  readonly chunkLineBytesMax: number;
  /**
   * Bytes of chunk framing that a body may have beyond 16 for each chunk and two for each byte of its data: bounds the
   * work for bodies of many small chunks with long extensions.
   */
  readonly chunkExcessBytesMax: number;
  readonly trailerBytesMax: number;
  /** Responses with a status from 100 to 199 before the final one. */
  readonly informationalMax: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = {
  headBytesMax: 64 * 1024,
  fieldsMax: 2000,
  chunkLineBytesMax: 4096,
  chunkExcessBytesMax: 16 * 1024,
  trailerBytesMax: 16 * 1024,
  informationalMax: 100,
};
