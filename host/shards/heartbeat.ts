// Heartbeat: asks a thread again and again whether it answers, and notices when it does not any more.
// It counts its own turns and not the clock: when the thread that asks was itself kept from running (by a
// slow reader of its output, say, or a machine that slept), nobody is taken for hung because of that.

export interface HeartbeatOptions {
  readonly heartbeatMs: number;
  readonly hangAfterMs: number;
  readonly ask: () => void;
  /** Called once. */
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
