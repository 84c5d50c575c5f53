// EventLoop lets the engine yield to other work. The engine has no timers of its own.

export interface EventLoop {
  /** Resolves in a later turn of the event loop, after work that was already waiting there. */
  yield(): Promise<void>;
}
