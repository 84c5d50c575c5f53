// CommandKey: the idempotency key of a command, and a digest that distinguishes the command and its input from others.

export interface CommandKey {
  readonly key: string;
  /** Digest of the command's name and input. */
  readonly digest: string;
  /** Round of the event for which a consumer makes the call (StoredLane); 0 for every other call. */
  readonly round: number;
}
