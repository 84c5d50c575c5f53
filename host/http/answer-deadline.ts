// AnswerDeadline: the time that the handler of a request has to answer. It does not pass while the handler waits for the body of
// the request, for which the connection has limits of its own, and begins again afterwards.

export class AnswerDeadline {
  readonly #timeoutMs: number;
  readonly #expired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isPaused = false;

  /** `expired` is called once at most. */
  constructor(timeoutMs: number, expired: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#expired = expired;
  }

  start(): void {
    this.#isStarted = true;
    this.#wait();
  }

  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#isPaused = false;
    this.#wait();
  }

  end(): void {
    this.#isStarted = false;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    if (!this.#isStarted || this.#isPaused) return;
    this.#timer = setTimeout(() => {
      this.#isStarted = false;
      this.#expired();
    }, this.#timeoutMs);
  }
}
