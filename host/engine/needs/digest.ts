// Digest is what the engine needs of a cryptographic hash function: a short text that identifies a long one.

/** Returns the digest of a text. Nobody can find two texts with the same digest. */
export type Digest = (text: string) => string;
