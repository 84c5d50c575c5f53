// RefusedMessage is thrown for bytes of another node that do not follow the protocol. The connection ends with it.

export class RefusedMessage extends Error {
  /** `message`: the rest of a sentence that begins with "the other side". */
  constructor(message: string) {
    super(message);
    this.name = 'RefusedMessage';
  }
}
