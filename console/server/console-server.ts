// ConsoleServer: dispatches a request to its part: the page, the list of services, the introspection of a service,
// requests to a service's routes, changes of its timers, views and consumers, and the webhooks of a tenant. None of its
// paths sends a command to an entity directly.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, JSON_TYPE, jsonAnswer, refusal, write } from './answer.ts';
import { ANSWER_BYTES_MAX, type LocalAnswer, send } from '@svc/kit/local-request';
import { openerOf } from './connection-user.ts';
import type { PageFile } from './page-files.ts';
import { refusalOf, writeRefusalOf } from './request-guard.ts';
import { INSTANCE_ID } from '@svc/kit/registrations';
import type { RunningServices } from './running-services.ts';
import type { SocketReader } from './socket-tables.ts';
import { CHANGE_BYTES_MAX, changeService, isChange } from './service-change.ts';
import { callService, readCall } from './service-call.ts';
import {
  type ConsoleWebhooks,
  WEBHOOK_BODY_BYTES_MAX,
  webhookRequest,
  WEBHOOKS_PATH,
} from './webhook-requests.ts';

export interface Shown {
  readonly page: ReadonlyMap<string, PageFile>;
  readonly services: RunningServices;
  /** Time limit for a response of a service's introspection endpoint. */
  readonly observedDeadlineMs: number;
  /** Absent: no tenant is chosen. */
  readonly webhooks: ConsoleWebhooks | undefined;
  /** Returns the path of the key that signs development tokens, or throws SVC_SETTING_INVALID. */
  readonly developmentKeyFile: () => string;
  /** Lists the sockets of the machine with their users. */
  readonly sockets: SocketReader;
  /** Called with an error that is a bug of the console. */
  readonly failed: (error: unknown) => void;
}

const CONNECTIONS_MAX = 200;
/**
 * Maximum bytes of the address and the headers. The address contains the input of a query, so the limit equals that
 * of a service's introspection endpoint.
 */
const HEADER_BYTES_MAX = 64 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum bytes of a body, which is JSON: enough for a body of 8 MiB for the service, as base64. */
const BODY_BYTES_MAX = 12 * 1024 * 1024;
/** First path segments of the introspection endpoints that may be requested; all of these endpoints only read. */
const OBSERVED: ReadonlySet<string> = new Set([
  'service',
  'traces',
  'faults',
  'live',
  'entities',
  'timers',
  'views',
  'consumers',
  'query',
  'sessions',
  'dev',
  'openapi.json',
]);

export function consoleServer(shown: Shown): Server {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { port } = server.address() as AddressInfo;
    void answerOf(shown, request, response, port)
      .catch((error: unknown) => {
        shown.failed(error);
        return refusal(500, 'This is a bug in the console. Its terminal has more.');
      })
      .then((answer) => {
        if (!response.destroyed) write(response, answer);
      });
  });
  return server;
}

async function answerOf(
  shown: Shown,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<Answer> {
  const refused = refusalOf(request, port);
  if (refused !== undefined) return refusal(403, refused);
  const target = request.url ?? '';
  const [path] = target.split('?', 1) as [string];
  const file = shown.page.get(path);
  if (file !== undefined) return isRead(request) ? fileAnswer(file) : onlyBy('GET, HEAD');
  if (path === '/api/services')
    return isRead(request) ? jsonAnswer(200, await shown.services.list()) : onlyBy('GET, HEAD');
  if (path === WEBHOOKS_PATH || path.startsWith(`${WEBHOOKS_PATH}/`))
    return webhookAnswer(shown, request, response);
  const [, instanceId, what, rest] =
    /^\/api\/services\/([^/]*)\/(call|control|observability)(\/.*)?$/.exec(path) ?? [];
  if (instanceId === undefined || (what === 'call') !== (rest === undefined))
    return refusal(404, 'There is nothing at this address of the console.');
  if (what === 'control' && !isChange(rest!))
    return refusal(404, 'There is nothing at this address of the console.');
  if (what !== 'observability') {
    if (request.method !== 'POST') return onlyBy('POST');
    const problem = writeRefusalOf(request);
    if (problem !== undefined) return refusal(403, problem);
  } else if (!isRead(request)) return onlyBy('GET, HEAD');
  const registration = INSTANCE_ID.test(instanceId)
    ? await shown.services.find(instanceId)
    : undefined;
  if (registration === undefined)
    return refusal(
      404,
      'There is no such service. It has ended, or was started again under another id.',
    );
  if (registration === 'silent')
    return refusal(502, 'No service answers at the address that it has registered. Has it ended?');

  if (what === 'observability') {
    if (!OBSERVED.has(rest!.slice(1).split('/', 1)[0]!))
      return refusal(404, 'A service shows nothing under this name.');
    const answer = await send(registration.address, {
      method: 'GET',
      path: target.slice(`/api/services/${instanceId}`.length),
      deadlineMs: shown.observedDeadlineMs,
    });
    return observedAnswer(answer, shown.observedDeadlineMs);
  }
  const bytesMax = what === 'control' ? CHANGE_BYTES_MAX : BODY_BYTES_MAX;
  const body = await readBody(request, bytesMax);
  if (body === undefined) return refusal(413, `The request is larger than ${bytesMax} bytes.`);
  if (what === 'control') return changeService(registration, rest!, body);
  const read = readCall(body);
  if (!read.ok) return refusal(400, read.problem);
  if (read.call.sendAs !== undefined) {
    const notOwn = await openerRefusal(request, shown, 'Tokens are made for');
    if (notOwn !== undefined) return notOwn;
  }
  const { developmentKeyFile, sockets } = shown;
  return callService(registration, read.call, goneSignal(response), developmentKeyFile, sockets);
}

/** Returns the refusal of what only the user who has started the console gets; undefined if the request is one of that user. */
async function openerRefusal(
  request: IncomingMessage,
  { sockets }: Shown,
  what: string,
): Promise<Answer | undefined> {
  const opener = await openerOf(request.socket, sockets);
  if (opener === 'own') return undefined;
  const reason = `${what} the user who has started the console, and`;
  if (opener === 'another') return refusal(403, `${reason} this is another user of the machine.`);
  return refusal(503, `${reason} the console cannot read which user has asked. Try again.`);
}

async function webhookAnswer(
  shown: Shown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer> {
  const notOwn = await openerRefusal(request, shown, 'The webhooks are shown to');
  if (notOwn !== undefined) return notOwn;
  const method = request.method === 'HEAD' ? 'GET' : request.method!;
  const found = webhookRequest(shown.webhooks, method, request.url!);
  if (!('send' in found)) return found;
  if (found.isRead) return found.send({}, goneSignal(response));
  const problem = writeRefusalOf(request);
  if (problem !== undefined) return refusal(403, problem);
  const text = await readBody(request, WEBHOOK_BODY_BYTES_MAX);
  if (text === undefined)
    return refusal(413, `The request is larger than ${WEBHOOK_BODY_BYTES_MAX} bytes.`);
  const body = readObject(text);
  if (body === undefined) return refusal(400, 'The request is not a JSON object.');
  // A change is made although the page has gone.
  return found.send(body, new AbortController().signal);
}

/** Returns a signal that is aborted when the page no longer waits for the response. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

function readObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function onlyBy(allow: string): Answer {
  return refusal(405, `This address takes ${allow} alone.`, { allow });
}

function fileAnswer({ type, bytes, isImmutable }: PageFile): Answer {
  return {
    status: 200,
    type,
    body: bytes,
    headers: isImmutable ? { 'cache-control': 'public, max-age=31536000, immutable' } : {},
  };
}

/**
 * Passes on the status and the body of the service's response unchanged. A redirect, a response without a body, and a
 * response that did not arrive whole become a failure with the status 502 or 504.
 */
function observedAnswer(answer: LocalAnswer, deadlineMs: number): Answer {
  switch (answer.kind) {
    case 'answer':
      if (
        answer.status >= 200 &&
        answer.status !== 204 &&
        !(answer.status >= 300 && answer.status < 400)
      )
        return { status: answer.status, type: JSON_TYPE, body: answer.body };
      return refusal(
        502,
        `The service answered with the status ${answer.status}, which is not followed.`,
      );
    case 'late':
      return refusal(
        504,
        `The service did not answer within ${deadlineMs / 1000} s. It may be computing: ask again.`,
      );
    case 'too-large':
      return refusal(
        502,
        `The service's answer is larger than ${ANSWER_BYTES_MAX} bytes. Ask for less of it.`,
      );
    case 'unreachable':
      return refusal(502, `The service does not answer (${answer.reason}). Has it ended?`);
  }
}

/** Returns the body as text; undefined if it exceeds `bytesMax`. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks).toString('utf8');
}
