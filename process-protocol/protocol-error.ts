// ProtocolError: what the other side has sent breaks a rule of the protocol. Its stream ends with this error.
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

/** Returns the part of a frame. Throws ProtocolError if the frame lacks it. `what`: the part, in words. */
export function required<Part>(part: Part | undefined, what: string): Part {
  if (part === undefined) throw new ProtocolError(`${what} is missing`);
  return part;
}
