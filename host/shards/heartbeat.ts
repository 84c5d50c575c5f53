// Heartbeat asks a thread at intervals whether it is alive, and notices when it stops answering. It counts its own
// intervals instead of reading a clock: if the asking thread itself could not run (because its output was read
// slowly, or the machine slept), no thread is mistaken for hung.

export interface HeartbeatOptions {
  /** Length of an interval in milliseconds. */
  readonly heartbeatMs: number;
  /** How long the thread may leave a question unanswered, in milliseconds of whole intervals. */
  readonly hangAfterMs: number;
  /** Sends the question; called at the end of the interval in which the previous question was answered. */
  readonly ask: () => void;
  /** Called once, when the thread has not answered for `hangAfterMs`. */
  readonly onHang: () => void;
}

export class Heartbeat {
  readonly #timer: NodeJS.Timeout;
  #isAnswered = true;

  constructor({ heartbeatMs, hangAfterMs, ask, onHang }: HeartbeatOptions) {
    let waitedMs = 0;
    this.#timer = setInterval(() => {
      if (this.#isAnswered) {
        this.#isAnswered = false;
        waitedMs = 0;
        ask();
        return;
      }
      waitedMs += heartbeatMs;
      if (waitedMs < hangAfterMs) return;
      this.stop();
      onHang();
    }, heartbeatMs);
  }

  answered(): void {
    this.#isAnswered = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
