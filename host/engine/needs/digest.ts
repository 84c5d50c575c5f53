// What the engine needs to tell one long text from another by a short one.

/** The same text, the same digest; two texts with one digest cannot be found. */
export type Digest = (text: string) => string;
