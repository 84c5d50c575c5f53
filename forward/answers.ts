// Answers: every response that the proxy makes itself, with its status and its sentence. docs/reference/proxy.md lists them.
//
// Invariants: no other file makes a response of the proxy. A sentence contains no bytes of a peer but names that were checked,
// and one path segment, escaped and shortened.
import { ANSWERED_BY_PROXY, type ServiceReference } from '@svc/client';
import type { MessageFailure } from '@svc/http1';
import { printable } from '@svc/kit/printable';
import type { OwnAnswer } from './own-answer.ts';

/** A service with the project by which it is named; undefined: its name alone is said. */
export interface NamedService {
  readonly service: string;
  readonly project: string | undefined;
}

/** The peer that had to answer. */
export type Answerer = 'process' | NamedService;

interface Details {
  readonly 'call-without-service': { readonly servicesUrl: string };
  readonly 'call-of-no-service': { readonly segment: string };
  readonly 'caller-not-admitted': { readonly caller: NamedService };
  readonly 'mount-of-another-project': object;
  readonly 'caller-unrecognised': object;
  readonly 'closed-before-answering': { readonly answerer: Answerer };
  readonly 'another-service-answered': { readonly called: NamedService };
  readonly 'process-not-listening': object;
  readonly 'service-not-found': { readonly called: ServiceReference };
  readonly 'service-not-listening': { readonly called: NamedService };
  readonly 'held-too-long': { readonly called: NamedService };
  readonly 'too-many-held': { readonly called: NamedService };
  readonly 'mount-unavailable': { readonly service: string };
  readonly 'answer-timed-out': { readonly answerer: Answerer; readonly timeoutMs: number };
  readonly 'request-malformed': { readonly failure: MessageFailure };
  readonly 'path-ambiguous': object;
  readonly 'response-malformed': { readonly answerer: Answerer; readonly failure: MessageFailure };
  readonly 'response-too-large': { readonly called: NamedService; readonly bytesMax: number };
  readonly 'responses-too-large': { readonly called: NamedService };
  readonly 'too-many-requests': object;
  readonly stopping: object;
  readonly 'not-readiness': object;
  readonly 'proxy-failed': object;
}

export type AnswerKind = keyof Details;

interface AnswerRule<Kind extends AnswerKind> {
  /** Status, or how it follows from the details. */
  readonly status: number | ((details: Details[Kind]) => number);
  /** When the proxy answers so, for the reference page. */
  readonly when: string;
  readonly error: (details: Details[Kind]) => string;
  /** Further fields of the response: name, value, name, value and so on. */
  readonly fields?: readonly string[];
  /** True: the connection closes behind the answer, because what follows on it cannot be trusted or is unwanted. */
  readonly closes?: true;
}

const RETRY_AFTER_ONE_SECOND: readonly string[] = ['Retry-After', '1'];

export const ANSWER_RULES: { readonly [Kind in AnswerKind]: AnswerRule<Kind> } = {
  'call-without-service': {
    status: 400,
    when: 'a call names no service',
    error: ({ servicesUrl }) =>
      `The path names no service. Call ${servicesUrl}/<service>/<path>, or ${servicesUrl}/<service>.<project>/<path> for a service of another project.`,
  },
  'call-of-no-service': {
    status: 400,
    when: 'the first segment of a call is no name of a service',
    error: ({ segment }) =>
      `The first segment of the path, "${shownSegment(segment)}", is no name of a service. Write <service> or <service>.<project> in lower case, without percent-encoding.`,
  },
  'caller-not-admitted': {
    status: 403,
    when: 'the descriptor does not admit the calling service',
    error: ({ caller }) =>
      `The service ${nameOf(caller)} may not call this service: its descriptor does not name it among its callers.`,
  },
  'mount-of-another-project': {
    status: 403,
    when: 'the request is under a mount, and not of a service of the same project',
    error: () => `The request is under another project's mount, which this service does not serve.`,
  },
  'caller-unrecognised': {
    status: 403,
    when: "the caller's certificate names no caller",
    error: () =>
      'The caller certificate is unrecognised: it names neither the gateway nor a service.',
  },
  'closed-before-answering': {
    status: 502,
    when: 'the process or a service closed the connection before it answered',
    error: ({ answerer }) => `${subjectOf(answerer)} closed the connection before it answered.`,
  },
  'another-service-answered': {
    status: 502,
    when: 'the peer is another service than the one called, or cannot prove who it is',
    error: ({ called }) =>
      `The service that answers at the address of ${nameOf(called)} is another one, or cannot prove its identity.`,
  },
  'process-not-listening': {
    status: 503,
    when: 'the process does not listen',
    error: () => 'The process is not listening.',
  },
  'service-not-found': {
    status: 503,
    when: 'a called service cannot be found',
    error: ({ called: { service, project } }) =>
      project === undefined
        ? `The service ${service} cannot be found.`
        : `The service ${service} of the project ${project} cannot be found.`,
  },
  'service-not-listening': {
    status: 503,
    when: 'a called service was found and does not listen',
    error: ({ called }) => `The service ${nameOf(called)} is not listening.`,
  },
  'held-too-long': {
    status: 503,
    when: 'a called or mounted service is being replaced, and the request was held in vain',
    error: ({ called }) =>
      `The service ${nameOf(called)} is being replaced, and its next instance is not ready yet.`,
    fields: RETRY_AFTER_ONE_SECOND,
  },
  'too-many-held': {
    status: 503,
    when: 'a called or mounted service is being replaced, and as many requests are held as the proxy holds',
    error: ({ called }) =>
      `The service ${nameOf(called)} is being replaced, and too many requests wait for it.`,
    fields: RETRY_AFTER_ONE_SECOND,
  },
  'mount-unavailable': {
    status: 503,
    when: 'the service of a mount cannot be found or reached',
    error: ({ service }) =>
      `The service ${service}, which is mounted here, cannot be found or reached.`,
  },
  'answer-timed-out': {
    status: 504,
    when: 'the process or a service did not begin to answer in time',
    error: ({ answerer, timeoutMs }) =>
      `${subjectOf(answerer)} did not begin to answer within ${timeoutMs / 1000} seconds.`,
  },
  'request-malformed': {
    status: ({ failure }) => failure.status,
    when: 'the request is malformed, too large or too slow',
    error: ({ failure }) => failure.reason,
    closes: true,
  },
  'path-ambiguous': {
    status: 400,
    when: 'other readings of the path lead to another mount, or out of one',
    error: () =>
      'The path can be read in several ways that lead to different services. Send it without encoded, empty or dot segments.',
  },
  'response-malformed': {
    status: 502,
    when: 'the response of the process or a service is malformed, or switches protocols',
    error: ({ answerer, failure }) =>
      `${subjectOf(answerer)} sent a response that is not valid: ${failure.reason}`,
  },
  'response-too-large': {
    status: 502,
    when: 'the response to a call of a component is larger than its runtime takes',
    error: ({ called, bytesMax }) =>
      `${subjectOf(called)} sent a response with more than ${bytesMax} bytes, the most that the runtime of the calling component takes.`,
  },
  'responses-too-large': {
    status: 502,
    when: 'the responses to all calls of a component together are larger than its runtime takes',
    error: ({ called }) =>
      `The response of the service ${nameOf(called)} was thrown away: responses that are not complete fill the memory that the runtime of the calling component has for them (svc.calls.response-bytes-total-max).`,
  },
  'too-many-requests': {
    status: 503,
    when: 'too many requests are in flight',
    error: () => 'Too many requests are in flight.',
  },
  stopping: {
    status: 503,
    when: 'the readiness port is asked while the proxy stops',
    error: () => 'The proxy is stopping.',
    closes: true,
  },
  'not-readiness': {
    status: 404,
    when: 'the readiness port is asked for anything but `GET /ready`',
    error: () => 'This port only answers GET /ready.',
  },
  'proxy-failed': {
    status: 500,
    when: 'the proxy failed for a reason that only its log has',
    error: () => 'The proxy failed. Its log has the reason.',
    closes: true,
  },
};

export interface ProxyAnswer extends OwnAnswer {
  readonly kind: AnswerKind;
}

export function answer<Kind extends AnswerKind>(kind: Kind, details: Details[Kind]): ProxyAnswer {
  const { status, error, fields = [], closes }: AnswerRule<Kind> = ANSWER_RULES[kind];
  return {
    kind,
    status: typeof status === 'number' ? status : status(details),
    error: error(details),
    answeredBy: ANSWERED_BY_PROXY,
    fields,
    closes: closes === true,
  };
}

function nameOf({ service, project }: NamedService): string {
  return project === undefined ? service : `${project}/${service}`;
}

function subjectOf(answerer: Answerer): string {
  return answerer === 'process' ? 'The process' : `The service ${nameOf(answerer)}`;
}

const SEGMENT_SHOWN_MAX = 100;

function shownSegment(segment: string): string {
  const short = segment.slice(0, SEGMENT_SHOWN_MAX);
  return printable(short.length < segment.length ? `${short}…` : short);
}
