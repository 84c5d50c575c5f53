// InProcessFetch: sends requests to the routes of a service without a socket, with the interface of fetch. It is for
// tests, and for programs that have their own server and forward requests.
import type { InProcessHttp } from '../in-process-http.ts';
import type { Caller } from '../access.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Statuses of responses without a body, not even an empty one. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export class InProcessFetch {
  readonly #http: InProcessHttp;
  readonly #caller: Caller;
  readonly #underWay = new Set<Promise<Response>>();
  #isStopping = false;
  #isCut = false;

  constructor(http: InProcessHttp, caller: Caller) {
    this.#http = http;
    this.#caller = caller;
  }

  /**
   * Sends a request. Of an address, only path and query decide the route; the host becomes the header Host if there is
   * none. Rejects with SVC_STOPPING, with the errors of `Request` for an invalid request, and as
   * `InProcessHttp.request` does.
   */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    if (this.#isStopping) throw stopping();
    const answer = this.#fetch(input, init);
    this.#underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.#underWay.delete(answer);
    }
  }

  /**
   * Accepts no further request, and cuts the requests that are still running after `graceMs` milliseconds. Resolves
   * when all requests are done or cut.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, graceMs);
    // A request whose body never ends would be under way for ever.
    await Promise.race([Promise.allSettled(this.#underWay), over.promise]);
    clearTimeout(timer);
    this.#isCut = true;
    this.#http.close();
  }

  async #fetch(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    const isAddress = typeof input === 'string' || input instanceof URL;
    const request = new Request(isAddress ? new URL(input, 'http://localhost') : input, init);
    const { pathname, search, host } = new URL(request.url);
    const content = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    if (this.#isCut) throw stopping();
    const headers: [string, string][] = [...request.headers].filter(
      ([name]) => name !== 'content-length' && name !== 'transfer-encoding',
    );
    if (!request.headers.has('host')) headers.push(['host', host]);
    if (content !== undefined) headers.push(['content-length', String(content.length)]);
    const answer = await this.#http.request({
      method: request.method,
      target: pathname + search,
      headers,
      body: content,
      caller: this.#caller,
    });
    const { status } = answer;
    return new Response(NO_BODY.has(status) ? null : (answer.body as Uint8Array<ArrayBuffer>), {
      status,
      headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
    });
  }
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service is stopping.');
}
