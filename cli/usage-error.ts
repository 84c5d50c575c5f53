// UsageError: the error for invalid arguments of the command line.

/** The message names the argument, the expected value, and where to read more. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
