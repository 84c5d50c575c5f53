// GatewayAnswers: every response that the gateway makes itself, with its status and its sentence. docs/reference/gateway.md lists them.
//
// Invariants: no other file makes a response of the gateway. A sentence names no service, project or instance, because everybody may
// read it, and contains no bytes of a peer.
import { ANSWERED_BY_GATEWAY } from '@svc/client';
import type { OwnAnswer } from '@svc/forward/own-answer';
import type { ClientFailure, MessageFailure } from '@svc/http1';

interface Details {
  readonly redirect: { readonly location: string };
  readonly 'not-exposed': object;
  readonly misdirected: object;
  readonly 'request-malformed': { readonly failure: MessageFailure };
  readonly 'gateway-failed': object;
  readonly 'closed-before-answering': object;
  readonly 'response-malformed': { readonly failure: MessageFailure };
  readonly 'another-service-answered': object;
  readonly paused: object;
  readonly suspended: object;
  readonly 'none-ready': object;
  readonly 'none-reached': object;
  readonly 'no-routes': object;
  readonly 'held-too-long': object;
  readonly 'too-many-held': object;
  readonly 'platform-not-listening': object;
  readonly 'too-many-requests': object;
  readonly 'answer-timed-out': { readonly timeoutMs: number };
}

export type GatewayAnswerKind = keyof Details;

interface AnswerRule<Kind extends GatewayAnswerKind> {
  /** Status, or how it follows from the details. */
  readonly status: number | ((details: Details[Kind]) => number);
  /** When the gateway answers so, for the reference page. */
  readonly when: string;
  readonly error: (details: Details[Kind]) => string;
  /** Further fields of the response: name, value, name, value and so on. */
  readonly fields?: (details: Details[Kind]) => readonly string[];
  /** True: the connection closes behind the answer, because what follows on it cannot be trusted or is unwanted. */
  readonly closes?: true;
}

const retryAfterOneSecond = (): readonly string[] => ['Retry-After', '1'];

export const GATEWAY_ANSWER_RULES: {
  readonly [Kind in GatewayAnswerKind]: AnswerRule<Kind>;
} = {
  redirect: {
    status: 308,
    when: 'the request came to the plain port',
    error: () => 'This hostname is served with TLS.',
    fields: ({ location }) => ['Location', location],
  },
  'not-exposed': {
    status: 404,
    when: 'no service is exposed at the hostname',
    error: () => 'No service is exposed at this hostname.',
  },
  misdirected: {
    status: 421,
    when: "the host of the request is not covered by the certificate of the connection, or differs from the connection's server name",
    error: () =>
      'The host of the request is not one of this connection. Open a connection for the host, with its name as the server name of TLS.',
  },
  'request-malformed': {
    status: ({ failure }) => failure.status,
    when: 'the request is malformed, too large or too slow',
    error: ({ failure }) => failure.reason,
    closes: true,
  },
  'gateway-failed': {
    status: 500,
    when: 'the gateway failed for a reason that only its log has',
    error: () => 'The gateway failed. Its log has the reason.',
    closes: true,
  },
  'closed-before-answering': {
    status: 502,
    when: 'the service closed the connection before it answered',
    error: () => 'The service closed the connection before it answered.',
  },
  'response-malformed': {
    status: 502,
    when: 'the response of the service is malformed, or switches protocols',
    error: ({ failure }) => `The service sent a response that is not valid: ${failure.reason}`,
  },
  'another-service-answered': {
    status: 502,
    when: 'the peer at the address of an instance cannot prove to be the service',
    error: () => 'The peer at the address of the service cannot prove its identity.',
  },
  paused: {
    status: 503,
    when: 'the service is paused',
    error: () => 'The service is paused.',
  },
  suspended: {
    status: 503,
    when: 'the organization of the service is disabled',
    error: () => 'The service is suspended.',
  },
  'none-ready': {
    status: 503,
    when: 'no instance of the service is ready',
    error: () => 'No instance of the service is ready.',
  },
  'none-reached': {
    status: 503,
    when: 'none of the instances that were tried accepts a connection',
    error: () => 'No instance of the service can be reached.',
  },
  'no-routes': {
    status: 503,
    when: 'the gateway has received no routes since it started, and found none on disk',
    error: () => 'The gateway has received no routes yet.',
    fields: retryAfterOneSecond,
  },
  'held-too-long': {
    status: 503,
    when: 'the service is being replaced, and the request was held in vain',
    error: () => 'The service is being replaced, and its next instance is not ready yet.',
    fields: retryAfterOneSecond,
  },
  'too-many-held': {
    status: 503,
    when: 'the service is being replaced, and as many requests are held as the gateway holds',
    error: () => 'The service is being replaced, and too many requests wait for it.',
    fields: retryAfterOneSecond,
  },
  'platform-not-listening': {
    status: 503,
    when: 'the part of the platform that answers at the hostname does not listen',
    error: () => 'This part of the platform cannot be reached.',
  },
  'too-many-requests': {
    status: 503,
    when: 'too many requests are in flight',
    error: () => 'Too many requests are in flight.',
  },
  'answer-timed-out': {
    status: 504,
    when: 'the service did not begin to answer in time',
    error: ({ timeoutMs }) =>
      `The service did not begin to answer within ${timeoutMs / 1000} seconds.`,
  },
};

export function gatewayAnswer<Kind extends GatewayAnswerKind>(
  kind: Kind,
  details: Details[Kind],
): OwnAnswer {
  const { status, error, fields, closes }: AnswerRule<Kind> = GATEWAY_ANSWER_RULES[kind];
  return {
    kind,
    status: typeof status === 'number' ? status : status(details),
    error: error(details),
    answeredBy: ANSWERED_BY_GATEWAY,
    fields: fields?.(details) ?? [],
    closes: closes === true,
  };
}

/** Returns the answer where a peer has failed. `unreachable`: the answer where nobody accepts a connection. */
export function answerToFailure(
  failure: ClientFailure,
  timeoutMs: number,
  unreachable: 'none-reached' | 'platform-not-listening',
): OwnAnswer {
  switch (failure.kind) {
    case 'closed-before-response':
    case 'closed-while-answering':
      return gatewayAnswer('closed-before-answering', {});
    case 'protocol':
      return gatewayAnswer('response-malformed', { failure: failure.failure });
    case 'response-timeout':
      return gatewayAnswer('answer-timed-out', { timeoutMs });
    case 'identity':
      return gatewayAnswer('another-service-answered', {});
    case 'refused':
    case 'unreachable':
    case 'connect-timeout':
      return gatewayAnswer(unreachable, {});
  }
}
