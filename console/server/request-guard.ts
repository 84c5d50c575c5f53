// RequestGuard: decides which requests the console answers. A page of the internet that is open in the same
// browser can send requests to this machine, even under a host name of its own (DNS rebinding). So only the
// console's own page and programs of this machine are answered, and a request that changes something needs a
// header that no other page can send without a CORS preflight.
import type { IncomingMessage } from 'node:http';

/** Header with which the page marks a request that changes something. */
const WRITE_HEADER = 'x-svc-console';
const DEFAULT_HTTP_PORT = 80;

/** Returns why the request is refused, as text for the user; undefined if it is not. `port`: the console's own port. */
export function refusalOf({ headers }: IncomingMessage, port: number): string | undefined {
  const { host } = headers;
  if (host === undefined || !hostsOf(port).includes(host))
    return `The console is reached as http://127.0.0.1:${port} or http://localhost:${port}, and under no other name.`;
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`)
    return 'Another page has sent this. The console answers its own page alone.';
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'Another page has sent this. Open the address of the console itself.';
  return undefined;
}

/** Returns why a request that changes something is refused; undefined if it is not. */
export function writeRefusalOf({ headers }: IncomingMessage): string | undefined {
  if (!/^application\/json(?:;|$)/.test(headers['content-type'] ?? ''))
    return 'The request must have the content-type application/json.';
  if (headers[WRITE_HEADER] !== '1') return `The request must have the header ${WRITE_HEADER}: 1.`;
  return undefined;
}

/** Returns the values of the header `host` that the console accepts. */
function hostsOf(port: number): string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const hosts = names.map((name) => `${name}:${port}`);
  return port === DEFAULT_HTTP_PORT ? [...hosts, ...names] : hosts;
}
