// HttpSettings: every limit of the HTTP server, by name, with its default.
import {
  DEFAULT_MESSAGE_LIMITS,
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerLimits,
  type ServerTimes,
} from '@svc/http1';
import { dottedName } from '@svc/kit/setting-name';
import { SvcError } from '@svc/kit/svc-error';

export interface HttpSettings {
  /** Largest request body, in bytes, however it is framed; a larger one is answered 413. */
  readonly bodyBytesMax: number;
  /** Size of request line and headers together, in bytes; a larger one is answered 431. */
  readonly headerBytesMax: number;
  /** Header lines of a request, each repetition of a name counted; more are answered 431. */
  readonly headersMax: number;
  /** Characters of the header Idempotency-Key; a longer one is answered 400. */
  readonly idempotencyKeyBytesMax: number;
  /** Header lines of an endpoint's response; more are a fault of the module. */
  readonly responseHeadersMax: number;
  /** Names and values of an endpoint's response headers together, in bytes; more are a fault of the module. */
  readonly responseHeaderBytesMax: number;
  /**
   * Bytes of an endpoint's response body, or of the message and the details of its refusal; more are a fault of the
   * module.
   */
  readonly responseBytesMax: number;
  /**
   * Bodies of all requests together that are being read or handled, in bytes; a request beyond this is answered 503.
   * At least `bodyBytesMax`.
   */
  readonly bodyBytesTotalMax: number;
  /**
   * Responses that callers have not received yet and inputs of unfinished calls, of all connections together, in
   * bytes; a request beyond this is answered 503. At least `responseBytesMax`.
   */
  readonly unsentBytesMax: number;
  /**
   * Bytes of a response that a caller has to read in a second, on average; the connection of a slower caller is cut.
   */
  readonly responseRateMin: number;
  /** How long a caller may read more slowly, in milliseconds. */
  readonly responseRateGraceMs: number;
  /** Requests whose headers have arrived and whose answer or handler is not finished; further ones are answered 503. */
  readonly requestsInFlightMax: number;
  /**
   * Buckets of the limits by subject and by address (`@limit`), of all shards together. A caller for whom there is no bucket
   * shares one with all such callers.
   */
  readonly limitBucketsMax: number;
  /** Open connections; further ones are closed as soon as they are accepted. */
  readonly connectionsMax: number;
  /**
   * Time from the arrival of a whole request to the beginning of its answer, in milliseconds; a later answer is 504.
   */
  readonly answerTimeoutMs: number;
  /**
   * Time for the request line and the headers to arrive, in milliseconds; a later request is answered 408. 1 to
   * `requestTimeoutMs`.
   */
  readonly headersTimeoutMs: number;
  /** Time for the whole request to arrive, in milliseconds; a later request is answered 408. */
  readonly requestTimeoutMs: number;
  /** How long a connection may idle between two requests, in milliseconds. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may read nothing of an answer before its connection is cut, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** How long the rest of a refused body is discarded before the connection closes, in milliseconds. */
  readonly lingerTimeoutMs: number;
}

export const HTTP_SETTINGS_DEFAULT: HttpSettings = {
  bodyBytesMax: 1024 * 1024,
  headerBytesMax: 16 * 1024,
  headersMax: 100,
  idempotencyKeyBytesMax: 255,
  responseHeadersMax: 100,
  responseHeaderBytesMax: 32 * 1024,
  responseBytesMax: 8 * 1024 * 1024,
  bodyBytesTotalMax: 256 * 1024 * 1024,
  unsentBytesMax: 256 * 1024 * 1024,
  // The rate is less than the slowest mobile networks carry. Bytes that fit into the system's buffers are not
  // measured.
  responseRateMin: 4096,
  responseRateGraceMs: 30_000,
  requestsInFlightMax: 1000,
  limitBucketsMax: 100_000,
  connectionsMax: 10_000,
  answerTimeoutMs: 60_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  // The timeout is longer than the 60 s after which common load balancers drop an idle connection, so that the
  // balancer closes it first: a request sent into a connection that is being closed here would be lost.
  keepAliveTimeoutMs: 72_000,
  stallTimeoutMs: 60_000,
  lingerTimeoutMs: 2000,
};

/** Longest time of a timer, in milliseconds: Node's timers count in 31 bits, and treat a longer time as 1 ms. */
const TIMER_MS_MAX = 1_000_000_000;
const COUNT_MAX = 1_000_000;
/** Requests of a connection that are handled while the first of them has no response. */
const PIPELINED_MAX = 100;
/** Least number of sweeps in the shortest of the times that sweeps check. */
const SWEEPS_PER_TIME = 4;
const SWEEP_MS_MAX = 1_000;
const BYTES_MAX = 1024 * 1024 * 1024;
const TOTAL_BYTES_MIN = 64 * 1024;
const TOTAL_BYTES_MAX = 1024 * BYTES_MAX;

/** Minimum and maximum of each setting. */
export const HTTP_SETTINGS_RANGE: Readonly<Record<keyof HttpSettings, readonly [number, number]>> =
  {
    bodyBytesMax: [0, BYTES_MAX],
    headerBytesMax: [1, BYTES_MAX],
    headersMax: [1, COUNT_MAX],
    idempotencyKeyBytesMax: [1, 400],
    responseHeadersMax: [0, COUNT_MAX],
    responseHeaderBytesMax: [0, BYTES_MAX],
    responseBytesMax: [0, BYTES_MAX],
    bodyBytesTotalMax: [TOTAL_BYTES_MIN, TOTAL_BYTES_MAX],
    unsentBytesMax: [TOTAL_BYTES_MIN, TOTAL_BYTES_MAX],
    responseRateMin: [1, BYTES_MAX],
    responseRateGraceMs: [1, TIMER_MS_MAX],
    requestsInFlightMax: [1, COUNT_MAX],
    limitBucketsMax: [64, 10 * COUNT_MAX],
    connectionsMax: [1, COUNT_MAX],
    answerTimeoutMs: [1, TIMER_MS_MAX],
    headersTimeoutMs: [1, TIMER_MS_MAX],
    requestTimeoutMs: [1, TIMER_MS_MAX],
    keepAliveTimeoutMs: [1, TIMER_MS_MAX],
    stallTimeoutMs: [1, TIMER_MS_MAX],
    lingerTimeoutMs: [1, TIMER_MS_MAX],
  };

/** Throws SVC_SETTING_INVALID for a number outside of its range, and for numbers that contradict each other. */
export function checkHttpSettings(settings: HttpSettings): void {
  for (const [name, [min, max]] of Object.entries(HTTP_SETTINGS_RANGE)) {
    const key = name as keyof HttpSettings;
    const value = settings[key];
    if (!Number.isSafeInteger(value) || value < min || value > max)
      throw invalid(`${nameOf(key)} takes a whole number from ${min} to ${max}, and is ${value}.`);
  }
  const { headersTimeoutMs, requestTimeoutMs } = settings;
  if (headersTimeoutMs > requestTimeoutMs)
    throw invalid(
      `${nameOf('headersTimeoutMs')} is ${headersTimeoutMs}, longer than ${nameOf('requestTimeoutMs')}, which is ` +
        `${requestTimeoutMs}. The headers are a part of the request: set the first to at most the second.`,
    );
  checkTotal(settings, 'bodyBytesMax', 'bodyBytesTotalMax');
  checkTotal(settings, 'responseBytesMax', 'unsentBytesMax');
}

/** Throws SVC_SETTING_INVALID if the total is smaller than a single item of the largest size. */
function checkTotal(
  settings: HttpSettings,
  one: 'bodyBytesMax' | 'responseBytesMax',
  total: 'bodyBytesTotalMax' | 'unsentBytesMax',
): void {
  if (settings[one] > settings[total])
    throw invalid(
      `${nameOf(one)} is ${settings[one]} bytes, more than ${nameOf(total)} allows all together, which is ` +
        `${settings[total]}. Raise ${nameOf(total)} to ${settings[one]} or more, or lower ${nameOf(one)}.`,
    );
}

function nameOf(key: keyof HttpSettings): string {
  return dottedName('http', key);
}

function invalid(problem: string): SvcError {
  return new SvcError('SVC_SETTING_INVALID', `The setting ${problem}`);
}

/** Returns the limits of a server's connections. */
export function connectionLimits(settings: HttpSettings): ServerLimits {
  return {
    ...DEFAULT_SERVER_LIMITS,
    message: {
      ...DEFAULT_MESSAGE_LIMITS,
      headBytesMax: settings.headerBytesMax,
      fieldsMax: settings.headersMax,
    },
    connectionsMax: settings.connectionsMax,
    // An exchange answers a request that is one too many.
    requestsMax: Infinity,
    pipelinedMax: PIPELINED_MAX,
    // The time alone bounds what is thrown away.
    lingerBytesMax: Infinity,
  };
}

/** Returns the times of a server's connections, without those of their responses. `lifetimeMs`: absent, they have no age. */
export function connectionTimes(
  settings: HttpSettings,
  lifetimeMs = DEFAULT_SERVER_TIMES.lifetimeMs,
): ServerTimes {
  return {
    ...DEFAULT_SERVER_TIMES,
    headMs: settings.headersTimeoutMs,
    bodyMs: settings.requestTimeoutMs,
    requestMs: settings.requestTimeoutMs,
    idleMs: settings.keepAliveTimeoutMs,
    lingerMs: settings.lingerTimeoutMs,
    lifetimeMs,
  };
}

/** Returns the interval at which the times of connections are checked, in milliseconds. */
export function sweepMs({ headMs, requestMs, idleMs, lingerMs }: ServerTimes): number {
  const shortestMs = Math.min(headMs, requestMs, idleMs, lingerMs);
  return Math.min(SWEEP_MS_MAX, Math.ceil(shortestMs / SWEEPS_PER_TIME));
}

export interface RateTimes {
  /** How long the other end may read nothing of an answer, in milliseconds, and up to two sweeps longer. */
  readonly stallMs: number;
  /** Bytes of responses that the other end has to read in a second, on average. */
  readonly bytesPerSecondMin: number;
  /** How long the other end may read more slowly, in milliseconds, and up to two sweeps longer. */
  readonly rateGraceMs: number;
}

/** Returns the times of responses that the other end of a connection reads. */
export function rateTimes(settings: HttpSettings): RateTimes {
  return {
    stallMs: settings.stallTimeoutMs,
    bytesPerSecondMin: settings.responseRateMin,
    rateGraceMs: settings.responseRateGraceMs,
  };
}
