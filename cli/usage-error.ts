// UsageError: the words of the command line make no sense.

/** The message says which word, what was expected, and where to read on. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
