// HoldingFront stands before the instances of a service: it passes requests to one of them, and holds requests while they
// are replaced, as whoever routes to a service does.
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export class HoldingFront {
  readonly #server = createServer((incoming, response) => void this.#pass(incoming, response));
  readonly #agent = new Agent({ keepAlive: true });
  #target: Promise<string>;
  #inFlight = 0;
  #drained = Promise.withResolvers<void>();
  #release: ((target: string) => void) | undefined;

  constructor(target: string) {
    this.#target = Promise.resolve(target);
  }

  /** Resolves with the URL of the front. It ends with the test. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    onTestFinished(() => {
      this.#agent.destroy();
      this.#server.closeAllConnections();
      this.#server.close();
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Holds requests that arrive from now on. Resolves once no request is with the instance any more. */
  async hold(): Promise<void> {
    const target = Promise.withResolvers<string>();
    this.#target = target.promise;
    this.#release = target.resolve;
    this.#drained = Promise.withResolvers();
    if (this.#inFlight === 0) this.#drained.resolve();
    await this.#drained.promise;
  }

  /** Passes the held requests and all later ones to another instance. */
  release(target: string): void {
    this.#release?.(target);
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = await this.#target;
    this.#inFlight++;
    try {
      const { method, headers, url } = incoming;
      const outgoing = request(new URL(url!, target), {
        method: method!,
        headers,
        agent: this.#agent,
      });
      incoming.pipe(outgoing);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      await once(answer, 'end');
    } catch (error) {
      response.writeHead(502).end(String(error));
    } finally {
      if (--this.#inFlight === 0) this.#drained.resolve();
    }
  }
}
