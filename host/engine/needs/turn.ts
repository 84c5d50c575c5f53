// What the engine needs of the event loop: a way to let others go first. It has no timers of its own.

export interface Turn {
  /** Resolves in a later turn of the event loop, once it has looked after everybody else. */
  next(): Promise<void>;
}
