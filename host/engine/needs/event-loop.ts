// What the engine needs of the event loop: a way to yield to other work. The engine has no timers of its own.

export interface EventLoop {
  /** Resolves in a later turn of the event loop, when the work that was waiting there has had its chance. */
  yield(): Promise<void>;
}
