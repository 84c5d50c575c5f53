// LoginCallback: the loopback listener to which the identity provider sends the browser at the end of a login (RFC 8252).
//
// Invariants: it listens on 127.0.0.1 alone, and ends with the first request that has the state of this login. All other requests
// are refused and change nothing: other paths, methods, hosts and states. No page has a script or anything of the request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { timingSafeEqual } from 'node:crypto';

const PATH = '/callback';
/** Limits of a listener that only one browser should find. */
const CONNECTIONS_MAX = 16;
const REQUEST_TIMEOUT_MS = 5_000;

/** The request that has ended a login. Its browser waits until `answer` is called. */
export interface Arrival {
  readonly url: URL;
  answer(page: CallbackPage): void;
}

export interface CallbackPage {
  readonly title: string;
  readonly text: string;
}

export class LoginCallback {
  readonly redirectUri: string;
  readonly arrival: Promise<Arrival>;
  readonly #server: Server;

  private constructor(server: Server, state: string) {
    const { port } = server.address() as AddressInfo;
    const host = `127.0.0.1:${port}`;
    const arrived = Promise.withResolvers<Arrival>();
    let isDone = false;
    this.redirectUri = `http://${host}${PATH}`;
    this.arrival = arrived.promise;
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url = URL.parse(request.url ?? '', `http://${host}`);
      const status = refusalOf(request, url, host);
      if (status !== undefined || url === null) refuse(response, status ?? 400, UNEXPECTED);
      else if (!isSame(url.searchParams.getAll('state'), state)) refuse(response, 400, OTHER_LOGIN);
      else if (isDone) refuse(response, 409, UNEXPECTED);
      else {
        isDone = true;
        arrived.resolve({ url, answer: (page) => send(response, 200, page) });
      }
    });
  }

  /** Listens at a free port. Rejects with the errors of Node's sockets. */
  static async listen(state: string): Promise<LoginCallback> {
    const server = createServer({
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      keepAlive: false,
    });
    server.maxConnections = CONNECTIONS_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new LoginCallback(server, state);
  }

  /** Ends once the answers that were begun are sent. */
  close(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
  }
}

const UNEXPECTED: CallbackPage = {
  title: 'Not expected',
  text: 'svc waits for the end of a login here. Return to the terminal.',
};
const OTHER_LOGIN: CallbackPage = {
  title: 'Another login',
  text: 'This is not the login that svc waits for. Return to the terminal and open the address that it shows.',
};

/** Returns the status for a request that cannot be the provider's; undefined for one that may be. */
function refusalOf(
  { method, headers }: IncomingMessage,
  url: URL | null,
  host: string,
): number | undefined {
  // A page of another site may have let its name resolve to this machine.
  if (headers.host !== host) return 421;
  if (url === null || url.pathname !== PATH) return 404;
  return method === 'GET' ? undefined : 405;
}

function isSame([found, ...more]: readonly string[], state: string): boolean {
  if (found === undefined || more.length > 0) return false;
  const [a, b] = [Buffer.from(found), Buffer.from(state)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuse(response: ServerResponse, status: number, page: CallbackPage): void {
  if (status === 405) response.setHeader('Allow', 'GET');
  send(response, status, page);
}

/** `title` and `text` are texts of svc, without characters that HTML knows. */
function send(response: ServerResponse, status: number, { title, text }: CallbackPage): void {
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>svc: ${title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(html);
}
