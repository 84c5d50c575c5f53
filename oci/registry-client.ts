// RegistryClient: a registry (OCI distribution) as one program uses it. RepositorySession is one repository of it, for as long as an
// image is read or pushed.
import { setTimeout as sleep } from 'node:timers/promises';
import { ImageError } from './image-error.ts';
import type { RegistryReference } from './image-reference.ts';
import type { PrivateHosts } from './registry-address.ts';
import type { CredentialsOf } from './registry-credentials.ts';
import { REGISTRY_LIMITS_DEFAULT, type RegistryLimits } from './registry-limits.ts';
import { refused, RegistryLogin } from './registry-login.ts';
import {
  reasonIn,
  type RegistryAnswer,
  type RegistryRequest,
  RegistryTransport,
  unavailable,
} from './registry-transport.ts';

export interface RegistryClientOptions {
  /** Default: no credentials. */
  readonly credentialsOf?: CredentialsOf;
  /** Default: no host may be in a private network or on this machine. */
  readonly mayBePrivate?: PrivateHosts;
  /** Certificates of an authority, as PEM, that are trusted beside those of Node. */
  readonly authority?: string | undefined;
  readonly limits?: Partial<RegistryLimits>;
}

/** A request below the repository: `manifests/4`; or to a URL that the registry has named. */
export type SessionRequest = Pick<RegistryRequest, 'method' | 'body'> & {
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Docker Hub answers at another host than its images name. */
const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_REGISTRY = 'registry-1.docker.io';
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class RegistryClient implements AsyncDisposable {
  readonly limits: RegistryLimits;
  readonly #transport: RegistryTransport;
  readonly #credentialsOf: CredentialsOf;

  constructor({ credentialsOf, mayBePrivate, authority, limits }: RegistryClientOptions = {}) {
    this.limits = { ...REGISTRY_LIMITS_DEFAULT, ...limits };
    this.#credentialsOf = credentialsOf ?? (() => undefined);
    this.#transport = new RegistryTransport({
      mayBePrivate: mayBePrivate ?? (() => false),
      authority,
      limits: this.limits,
    });
  }

  /** Begins the work on a repository. `signal`: ends it. Rejects with ImageError. */
  async open(
    { host, repository }: Pick<RegistryReference, 'host' | 'repository'>,
    actions: 'pull' | 'pull,push',
    signal?: AbortSignal,
  ): Promise<RepositorySession> {
    const timeout = AbortSignal.timeout(this.limits.totalTimeoutMs);
    const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const server = host === DOCKER_HUB ? DOCKER_HUB_REGISTRY : host;
    const origin = await this.#transport.originOf(server, ends);
    const login = new RegistryLogin({
      transport: this.#transport,
      credentials: await this.#credentialsOf(host),
      scope: `repository:${repository}:${actions}`,
    });
    const base = new URL(`${origin}/v2/${repository}/`);
    return new RepositorySession({
      transport: this.#transport,
      login,
      base,
      limits: this.limits,
      signal: ends,
    });
  }

  /** Closes all connections; what is in flight fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]();
  }
}

interface SessionParts {
  readonly transport: RegistryTransport;
  readonly login: RegistryLogin;
  readonly base: URL;
  readonly limits: RegistryLimits;
  readonly signal: AbortSignal;
}

export class RepositorySession {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get host(): string {
    return this.#parts.base.host;
  }

  /**
   * Sends a request, with the login that the registry asks for, and again if it is overloaded. A body is sent once. The answer may
   * have any status but 401, 403 and those of an overloaded registry. Rejects with ImageError, and with the signal's reason.
   */
  async send(wanted: SessionRequest): Promise<RegistryAnswer> {
    const { limits, signal } = this.#parts;
    const attemptsMax = wanted.body === undefined ? limits.attemptsMax : 1;
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attemptsMax;
      let answer: RegistryAnswer;
      try {
        answer = await this.#authorized(wanted);
      } catch (error) {
        const isTransient =
          error instanceof ImageError && error.code === 'SVC_REGISTRY_UNAVAILABLE';
        if (!isTransient || last || signal.aborted) throw error;
        await this.#pause(limits.retryPauseMs * 2 ** (attempt - 1));
        continue;
      }
      if (!OVERLOADED.has(answer.status)) return answer;
      await answer.discard();
      const askedMs = retryAfterMs(answer.header('retry-after'));
      const pauseMs = askedMs ?? limits.retryPauseMs * 2 ** (attempt - 1);
      if (last || pauseMs > limits.retryPauseMaxMs)
        throw unavailable(
          this.host,
          `answers ${answer.status}${askedMs === undefined ? '' : `, and asks to wait ${Math.ceil(askedMs / 1000)} s`}`,
        );
      await this.#pause(pauseMs);
    }
  }

  async #authorized(wanted: SessionRequest): Promise<RegistryAnswer> {
    const { login, signal, base } = this.#parts;
    let answer = await this.#sendOnce(wanted);
    if (answer.status === 401) {
      await answer.discard();
      const isNew = await login.answer(answer, signal);
      // A body that was sent is gone, and the request that it belongs to had a login before.
      if (isNew && wanted.body === undefined) answer = await this.#sendOnce(wanted);
    }
    if (answer.status === 401 || answer.status === 403) {
      const reason = await reasonIn(answer);
      const what = login.authorization === undefined ? 'asks for a login' : 'refuses the login';
      throw refused(
        base.host,
        `${what} to the repository ${base.pathname.slice('/v2/'.length, -1)}` +
          (reason === undefined ? '' : ` (${reason})`),
      );
    }
    return answer;
  }

  #sendOnce({ method, path, headers = {}, body }: SessionRequest): Promise<RegistryAnswer> {
    const { transport, login, base, signal } = this.#parts;
    const url = typeof path === 'string' ? new URL(path, base) : path;
    return transport.send({
      method,
      url,
      headers,
      authorization: url.origin === base.origin ? login.authorization : undefined,
      signal,
      ...(body === undefined ? {} : { body }),
    });
  }

  async #pause(pauseMs: number): Promise<void> {
    const { signal } = this.#parts;
    await sleep(pauseMs, undefined, { signal }).catch(() => {
      const { reason } = signal as { reason: unknown };
      throw reason instanceof DOMException && reason.name === 'TimeoutError'
        ? unavailable(this.host, 'took longer than all its requests together may')
        : reason;
    });
  }
}

/** Reads Retry-After: seconds, or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}
