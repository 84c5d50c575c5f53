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
    const { port, hostname, path, body, ca } = this.#options;
    const startedMs = performance.now();
    try {
      const { status, answer } = await new Promise<{ status: number; answer: string }>(
        (resolve, reject) => {
          request(
            {
              host: '127.0.0.1',
              port,
              path,
              method: 'POST',
              servername: hostname,
              headers: { host: hostname, 'content-type': 'application/json' },
              ca,
              agent: this.#agent,
            },
            (response) => {
              text(response).then(
                (received) => resolve({ status: response.statusCode ?? 0, answer: received }),
                reject,
              );
            },
          )
            .on('error', reject)
            .end(body);
        },
      );
      if (status === 200) this.tookMs.push(performance.now() - startedMs);
      else this.failures.push(`${status} ${answer}`);
    } catch (error) {
      this.failures.push(String(error));
    }
  }
}
