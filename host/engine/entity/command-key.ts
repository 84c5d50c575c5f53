// The idempotency key of a command, and what tells one command and input from another.

export interface CommandKey {
  readonly key: string;
  /** Of the command's name and input. */
  readonly digest: string;
}
