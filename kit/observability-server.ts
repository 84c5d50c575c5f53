// ObservabilityServer is the loopback endpoint of a service on a developer's machine. It has no other protection than
// being on loopback, so it listens on no other address, and answers no web page of another site (rebinding.ts). It may
// share the thread with what it observes: connections, requests and answers are bounded, and a failure affects one
// answer and never the service.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen, type ListenWords } from './listen.ts';
import { printableJson } from './printable.ts';
import { type ObservedAnswer, problem } from './observed-answer.ts';
import { foreignRequest } from './rebinding.ts';

const LOOPBACK = '127.0.0.1';
const WORDS: ListenWords = { server: 'the observability endpoint' };
const CONNECTIONS_MAX = 100;
/** Maximum number of requests that are answered at the same time. */
const REQUESTS_MAX = 64;
/** Maximum size of the headers, in bytes. The input of a query is in the URL. */
const HEADER_BYTES_MAX = 64 * 1024;
/** Limit for receiving a whole request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
/** A connection without traffic is closed after this time, in milliseconds, which is longer than any answer takes. */
const SILENCE_MS = 30_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/**
 * Maximum bytes of all answers that callers have not received yet. Answers of up to SMALL_BYTES may exceed the maximum,
 * and are refused only once it is exceeded.
 */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;
const SMALL_BYTES = 16 * 1024;
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

const TOO_MUCH_UNSENT = problem(
  503,
  'This endpoint has too many answers that their callers do not take. Try again.',
);

export interface ObservabilityEndpoint {
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Rejects if the server cannot listen. `observe`: answers a request for a path with its query. `report`: receives
 * unexpected errors.
 */
export async function openObservability(
  observe: (target: string) => Promise<ObservedAnswer>,
  report: (error: unknown) => void,
): Promise<ObservabilityEndpoint> {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = CONNECTIONS_MAX;
  // Each connection serves one request: the answers to further ones would wait in memory behind the first.
  server.maxRequestsPerSocket = 1;
  server.timeout = SILENCE_MS;
  const { port } = await listen(server, { host: LOOPBACK, port: 0 }, WORDS);
  server.on('error', report);
  // This lets a program end that has nothing else to do.
  server.unref();
  let answering = 0;
  let unsentBytes = 0;
  const answerTo = async (request: IncomingMessage): Promise<ObservedAnswer> => {
    const why = foreignRequest(request.headers, port);
    if (why !== undefined) return problem(403, why);
    const { method, url = '/' } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return problem(405, 'This endpoint takes GET and HEAD: it changes nothing.');
    if (answering >= REQUESTS_MAX)
      return problem(503, 'This endpoint has too many requests in flight. Try again.');
    answering++;
    try {
      return bounded(printed(await observe(url)));
    } catch (error) {
      report(error);
      return problem(500, 'This endpoint has failed; the log of the service says why.');
    } finally {
      answering--;
    }
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // The body is discarded.
    request.resume();
    void answerTo(request).then((answer) => {
      // The caller has gone.
      if (response.destroyed) return;
      const given = unsentBytes + roomFor(answer) <= UNSENT_BYTES_MAX ? answer : TOO_MUCH_UNSENT;
      const bytes = Buffer.byteLength(given.body);
      unsentBytes += bytes;
      response.once('close', () => (unsentBytes -= bytes));
      send(response, given);
    });
  });
  return { address: `http://${LOOPBACK}:${port}`, close: async () => closed(server) };
}

/**
 * Returns the bytes that must be free for an answer: 0 for a small one, which is sent unless the maximum is exceeded.
 */
function roomFor({ body }: ObservedAnswer): number {
  return body.length <= SMALL_BYTES ? 0 : Buffer.byteLength(body);
}

/** Escapes text of a module that a terminal would interpret, or that is invisible; the JSON stays the same. */
function printed({ status, body }: ObservedAnswer): ObservedAnswer {
  return { status, body: printableJson(body) };
}

function bounded(answer: ObservedAnswer): ObservedAnswer {
  if (Buffer.byteLength(answer.body) <= ANSWER_BYTES_MAX) return answer;
  return problem(500, `The answer has more than ${ANSWER_BYTES_MAX} bytes. Ask for less.`);
}

function send(response: ServerResponse, { status, body }: ObservedAnswer): void {
  response.writeHead(status, {
    ...HEADERS,
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    'content-length': Buffer.byteLength(body),
  });
  // Node omits the body of an answer to HEAD.
  response.end(body);
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
