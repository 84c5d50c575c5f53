// PacedPosts: POST requests over TLS at a fixed rate, whatever becomes of those before, and how long each answer took.
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface PacedPostsOptions {
  /** Port of this machine. */
  readonly port: number;
  readonly hostname: string;
  readonly path: string;
  readonly body: string;
  /** Certificate of the authority of the server. */
  readonly ca: string;
  readonly perSecond: number;
  /**
   * Sends a request once more if its connection had carried others, and ended without a byte of an answer: no client can know that the server
   * closes an idle connection in the moment in which it sends. Default: that is a failure.
   */
  readonly repeats?: boolean;
}

/** Connections at the same time. */
const SOCKETS_MAX = 400;
const TICK_MS = 5;
/** Time in milliseconds in which the last answers have to come. */
const END_MS = 15_000;

export class PacedPosts {
  /** Time of each answer of status 200, in milliseconds, in the order of the answers. */
  readonly tookMs: number[] = [];
  /** The failures, in words. */
  readonly failures: string[] = [];
  /** Number of requests that were sent once more. */
  repeated = 0;
  readonly #options: PacedPostsOptions;
  readonly #agent: Agent;
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();
  #sent = 0;

  constructor(options: PacedPostsOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
    this.#timer = setInterval(() => this.#sendDue(), TICK_MS);
  }

  get sent(): number {
    return this.#sent;
  }

  /** Sends no more, and resolves once all requests are answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const endMs = performance.now() + END_MS;
    while (this.tookMs.length + this.failures.length < this.#sent) {
      if (performance.now() > endMs) {
        this.failures.push(`${this.#sent - this.tookMs.length} were not answered`);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    this.#agent.destroy();
  }

  #sendDue(): void {
    const due = ((performance.now() - this.#startedMs) / 1000) * this.#options.perSecond;
    while (this.#sent < due) {
      this.#sent++;
      void this.#send();
    }
  }

  async #send(): Promise<void> {
    const startedMs = performance.now();
    try {
      const { status, answer } = await this.#answered();
      if (status === 200) this.tookMs.push(performance.now() - startedMs);
      else this.failures.push(`${status} ${answer}`);
    } catch (error) {
      this.failures.push(String(error));
    }
  }

  async #answered(): Promise<Answer> {
    try {
      return await this.#sendOnce(this.#agent);
    } catch (error) {
      if (!(error instanceof ClosedWhileIdle) || this.#options.repeats !== true) throw error;
      this.repeated++;
      return await this.#sendOnce(false);
    }
  }

  /** `agent`: false for a connection that has carried no other request. */
  #sendOnce(agent: Agent | false): Promise<Answer> {
    const { port, hostname, path, body, ca } = this.#options;
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method: 'POST',
          servername: hostname,
          headers: { host: hostname, 'content-type': 'application/json' },
          ca,
          agent,
        },
        (response) => {
          text(response).then(
            (answer) => resolve({ status: response.statusCode ?? 0, answer }),
            reject,
          );
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isClosed = sent.reusedSocket && error.code === 'ECONNRESET';
        reject(isClosed ? new ClosedWhileIdle(error.message) : error);
      });
      sent.end(body);
    });
  }
}

interface Answer {
  readonly status: number;
  readonly answer: string;
}

class ClosedWhileIdle extends Error {}
