// ServiceCall: a request that the user has filled in on the page, sent once to a service's own HTTP server,
// for a route that the service has declared. Nothing else that the console sends changes anything.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceRoute } from '@svc/contract';
import { type Answer, jsonAnswer, refusal } from './answer.ts';
import { declaredFor } from './declared-route.ts';
import { ANSWER_BYTES_MAX, type LocalAnswer, send } from '@svc/kit/local-request';
import { loopbackAddress } from '@svc/kit/loopback-address';
import type { Registration } from '@svc/kit/registrations';
import { describe } from '@svc/kit/described-service';
import {
  authorization,
  listenerRefusal,
  LISTENS_AGAIN_MS,
  type SendAs,
  sendAsProblem,
} from './send-as.ts';
import type { SocketReader } from './socket-tables.ts';

export interface AskedCall {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** Absent: the request has no token of the console. */
  readonly sendAs?: SendAs | undefined;
}

type Read =
  | { readonly ok: true; readonly call: AskedCall }
  | { readonly ok: false; readonly problem: string };

const DESCRIBE_DEADLINE_MS = 6_000;
/** Deadline of a call. By default, a service's own deadline for a handler ends earlier. */
const CALL_DEADLINE_MS = 70_000;
const HEADERS_MAX = 100;
/** Headers that the page may not set: they belong to the connection, frame the request, or carry its trace. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Header values that Node accepts. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const PATH = /^\/[\x21-\x22\x24-\x7e]*$/;

/** Parses and checks the request that the page asks the console to send. */
export function readCall(text: string): Read {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return no('The request is not JSON.');
  }
  if (typeof json !== 'object' || json === null) return no('The request is not a JSON object.');
  const { method, path, headers, body, bodyIsBase64, sendAs } = json as Readonly<
    Record<string, unknown>
  >;
  if (typeof method !== 'string' || !/^[A-Z]{1,16}$/.test(method))
    return no('The method must be capital letters, as GET.');
  if (typeof path !== 'string' || !PATH.test(path))
    return no(
      'The path must begin with a slash, and everything beyond ASCII in it be percent-encoded.',
    );
  if (body !== null && typeof body !== 'string') return no('The body must be text or null.');
  if (typeof bodyIsBase64 !== 'boolean') return no('bodyIsBase64 must be true or false.');
  if (!Array.isArray(headers) || headers.length > HEADERS_MAX)
    return no(`The headers must be a list of at most ${HEADERS_MAX} pairs.`);
  for (const header of headers as readonly unknown[]) {
    const problem = headerProblem(header);
    if (problem !== undefined) return no(problem);
  }
  if (sendAs !== undefined) {
    const problem = sendAsProblem(sendAs);
    if (problem !== undefined) return no(problem);
    if ((headers as AskedCall['headers']).some(([name]) => name.toLowerCase() === 'authorization'))
      return no('The request has a header authorization: leave it out, or the caller.');
  }
  const encoding = bodyIsBase64 ? 'base64' : 'utf8';
  return {
    ok: true,
    call: {
      method,
      path,
      headers: headers as AskedCall['headers'],
      body: body === null ? undefined : Buffer.from(body, encoding),
      ...(sendAs !== undefined && { sendAs: sendAs as SendAs }),
    },
  };
}

/** Returns why a request to one of these routes gets no token; undefined if it may have one. */
function tokenRefusal(
  developmentTokens: boolean | undefined,
  declared: readonly Pick<ServiceRoute, 'bearer'>[],
): Answer | undefined {
  if (developmentTokens !== true)
    return refusal(
      409,
      'The service takes no development tokens: it runs without --development-tokens. Nothing was sent to it.',
    );
  // The handler of a route without a rule would see the token.
  if (!declared.every(({ bearer }) => bearer === true))
    return refusal(
      409,
      'A route for this path asks for no access token, so its handler would see it. Nothing was sent to it.',
    );
  return undefined;
}

/**
 * Sends the call to the service. The console's response contains the service's response, or says why there is none.
 * `signal`: aborted when the page no longer waits for the response. `developmentKeyFile`: where the key is that signs tokens.
 * `sockets`: lists the sockets of the machine.
 */
export async function callService(
  registration: Registration,
  { method, path, headers, body, sendAs }: AskedCall,
  signal: AbortSignal,
  developmentKeyFile: () => string,
  sockets: SocketReader,
): Promise<Answer> {
  // The current declaration counts: a module under development changes its routes, and a port may have a new owner.
  const found = await describe(registration, DESCRIBE_DEADLINE_MS);
  if (found.kind === 'late')
    return refusal(
      504,
      `The service did not answer within ${DESCRIBE_DEADLINE_MS / 1000} s. Nothing was sent to it.`,
    );
  if (found.kind === 'other')
    return refusal(502, `The service does not answer (${found.reason}). Nothing was sent to it.`);
  const { routes, instances, developmentTokens } = found.service;
  const declared = declaredFor(routes, method, path.split('?', 1)[0]!);
  if (declared.length === 0)
    return refusal(
      404,
      `The service declares no route for ${method} ${path}. The console sends nothing else.`,
    );
  const reported = instances.find(({ address }) => address !== null)?.address;
  if (typeof reported !== 'string')
    return refusal(502, 'The service has no HTTP server that listens. Nothing was sent to it.');
  const address = loopbackAddress(reported);
  if (address === undefined)
    return refusal(
      502,
      `The service listens on ${reported}, and the console sends to loopback addresses alone. Nothing was sent.`,
    );
  const noToken = sendAs && tokenRefusal(developmentTokens, declared);
  if (noToken !== undefined) return noToken;
  const token =
    sendAs && (await authorization(registration, address, sendAs, developmentKeyFile, sockets));
  if (token !== undefined && 'status' in token) return token;

  const traceId = randomBytes(16).toString('hex');
  // The parent is the console's own span: the page recognises by its id that the trace began here
  // (page/view/trace-origin.ts).
  const traceParent = `00-${traceId}-${traceId.slice(0, 16)}-01`;
  const asked = {
    method,
    path,
    headers: [...headers, ...(token === undefined ? [] : [token]), ['traceparent', traceParent]],
    body,
    deadlineMs: CALL_DEADLINE_MS,
    signal,
  } as const;
  let beganMs = performance.now();
  let answer = await send(address, asked);
  if (isConnectionRefused(answer)) {
    // Nothing was sent; a service that replaces its module listens again in a moment.
    await delay(LISTENS_AGAIN_MS);
    const noListener = token && (await listenerRefusal(address, sockets));
    if (noListener !== undefined) return noListener;
    beganMs = performance.now();
    answer = await send(address, asked);
  }
  if (answer.kind !== 'answer') return lost(answer);
  const durationMs = performance.now() - beganMs;
  const shown = textOf(answer.body, answer.headers);
  return jsonAnswer(200, {
    status: answer.status,
    headers: answer.headers,
    body: shown ?? answer.body.toString('base64'),
    bodyIsBase64: shown === undefined,
    durationMs,
    traceId,
  });
}

function isConnectionRefused(answer: LocalAnswer): boolean {
  return answer.kind === 'unreachable' && answer.reason === 'ECONNREFUSED';
}

/** Creates the console's response to a call whose response did not arrive, or was too large. */
function lost(answer: Exclude<LocalAnswer, { readonly kind: 'answer' }>): Answer {
  switch (answer.kind) {
    case 'late':
      return refusal(
        504,
        `The service did not answer within ${CALL_DEADLINE_MS / 1000} s. The request may still be done.`,
      );
    case 'too-large':
      return refusal(
        502,
        `The request was answered with more than ${ANSWER_BYTES_MAX} bytes, which the console does not show.`,
      );
    case 'unreachable':
      return refusal(
        502,
        isConnectionRefused(answer)
          ? 'The service does not listen on its HTTP port (ECONNREFUSED). Nothing was sent to it.'
          : `The connection to the service broke (${answer.reason}). Whether the request was done is not known.`,
      );
  }
}

function headerProblem(header: unknown): string | undefined {
  if (!Array.isArray(header) || header.length !== 2)
    return 'A header must be a pair of name and value.';
  const [name, value] = header as readonly unknown[];
  if (typeof name !== 'string' || !NAME.test(name))
    return `A header cannot be named '${String(name)}'.`;
  if (typeof value !== 'string' || !VALUE.test(value))
    return `The header ${name} has a value with characters that no header takes.`;
  const lower = name.toLowerCase();
  if (OWN_HEADERS.has(lower) || lower.startsWith('proxy-'))
    return `The header ${name} is set by the console: leave it out.`;
  return undefined;
}

/** Returns the body as text; undefined if the body is not UTF-8 or is declared as bytes. */
function textOf(body: Buffer, headers: readonly (readonly [string, string])[]): string | undefined {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  if (type?.startsWith('application/octet-stream') === true) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

function no(problem: string): Read {
  return { ok: false, problem };
}
