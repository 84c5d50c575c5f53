// Platform: the installation of a command's target: its routes, and what a command says when one of them refuses.
import {
  ApiError,
  createWebhooksClient,
  InvalidRequestError,
  NoAnswerError,
  type ClientOptions,
  type LoginInformation,
  type WebhooksClient,
} from '@svc/client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { accessTokens, type AccessTokens } from './access-tokens.ts';
import { readEnvironment } from './environment.ts';
import {
  adviceFor,
  createInstallationClient,
  type AnswerOf,
  type InputOf,
  type InstallationClient,
  type RouteName,
} from './installation-api.ts';
import { platformFetch } from './platform-fetch.ts';
import { notLoggedIn } from './stored-login.ts';
import { findTarget, type Target } from './target.ts';

export interface PlatformOptions {
  /** Token that is sent in place of the target's. */
  readonly token?: string;
  /** Number of attempts of a request. Default: the client's. */
  readonly attemptsMax?: number;
}

export class Platform {
  readonly target: Target;
  readonly fetch: typeof globalThis.fetch;
  readonly #tokens: AccessTokens;
  readonly #client: ClientOptions;
  readonly #calls: InstallationClient;
  /** The token that was sent last. */
  #sent: string | undefined;

  constructor(target: Target, { token, attemptsMax }: PlatformOptions = {}) {
    const { url, authority } = target;
    this.target = target;
    this.fetch = platformFetch({ platformUrl: url, authority });
    this.#tokens = accessTokens(
      token === undefined ? target : { ...target, credentials: { kind: 'token', token } },
      this.fetch,
      async () => await this.loginInformation(),
    );
    this.#client = {
      baseUrl: url,
      fetch: this.fetch,
      token: async () => (this.#sent = await this.#tokens.token()),
      ...(attemptsMax === undefined ? {} : { retries: { attemptsMax } }),
    };
    this.#calls = createInstallationClient(this.#client);
  }

  /** Finds the installation of this process's environment. Throws UsageError and SVC_CONTEXT_INVALID. */
  static open(): Platform {
    return new Platform(findTarget(readEnvironment()));
  }

  /** Returns a client of the webhook service, whose failures are not worded for a command. */
  webhooks(): WebhooksClient {
    return createWebhooksClient(this.#client);
  }

  async loginInformation(): Promise<LoginInformation> {
    return await this.call('getLoginInformation', {});
  }

  /** Returns the token that requests to this installation carry. Rejects with SVC_NOT_LOGGED_IN and SVC_LOGIN_FAILED. */
  async accessToken(): Promise<string> {
    return await this.#tokens.token();
  }

  /**
   * Calls a route. Rejects with UsageError for invalid input, SVC_NOT_LOGGED_IN, SVC_LOGIN_FAILED, SVC_API_REFUSED and
   * SVC_API_UNAVAILABLE, and with the signal's reason.
   */
  async call<Name extends RouteName>(
    route: Name,
    input: InputOf<Name>,
    signal?: AbortSignal,
  ): Promise<AnswerOf<Name>> {
    const options = signal === undefined ? {} : { signal };
    try {
      return (await this.#calls[route](input, options)) as AnswerOf<Name>;
    } catch (error) {
      // A refused token has changed nothing, so that the request can be made once more with another one.
      const isRefused = error instanceof ApiError && error.status === 401;
      if (!isRefused || this.#sent === undefined) throw this.#failure(route, error);
      if ((await this.#tokens.renewed(this.#sent)) === undefined) throw this.#failure(route, error);
    }
    try {
      return (await this.#calls[route](input, options)) as AnswerOf<Name>;
    } catch (error) {
      throw this.#failure(route, error);
    }
  }

  #failure(route: RouteName, error: unknown): unknown {
    const { url, credentials } = this.target;
    if (error instanceof InvalidRequestError) {
      const [first, ...more] = error.problems;
      for (const { path, reason } of more) report(path, reason);
      return new UsageError(`${argumentOf(first!.path)} ${first!.reason}.`);
    }
    if (error instanceof NoAnswerError)
      return new CommandFailure(
        'SVC_API_UNAVAILABLE',
        `${url} gave no answer: ${answerReason(error)}. Check the address with svc context list, and try again.`,
        { cause: error },
      );
    if (!(error instanceof ApiError)) return error;
    const { status, reason, retryAfterS } = error;
    if (status === 401)
      return notLoggedIn(
        `${url} does not take ${credentials.kind === 'login' ? 'your login' : 'the token'}: ${reason}. ` +
          (credentials.kind === 'login'
            ? 'Log in again with svc login.'
            : 'Get another one from the identity provider.'),
      );
    const when = retryAfterS === undefined ? 'later' : `in ${retryAfterS} s`;
    return status === 429 || status >= 500
      ? new CommandFailure(
          'SVC_API_UNAVAILABLE',
          `${url} answered ${status}: ${reason}. ${status === 504 ? 'Look whether the change was made, or try' : 'Try'} again ${when}.`,
          { cause: error },
        )
      : new CommandFailure(
          'SVC_API_REFUSED',
          // Each problem of a request has a line of its own.
          `${url} answered ${status}: ${sentence(reason.replaceAll('\n', '; '))}${adviceFor(route, status)}`,
          { cause: error },
        );
  }
}

/** Returns the answer with which the installation has refused a call that has rejected; undefined: it has failed otherwise. */
export function refusedBy(error: unknown): ApiError | undefined {
  const { cause } = error as Error;
  return cause instanceof ApiError ? cause : undefined;
}

function report(path: string, reason: string): void {
  process.stderr.write(`${printable(`${argumentOf(path)} ${reason}.`)}\n`);
}

/** Returns the argument that a problem is about: `/organizationId` is a parameter, `name` a field of the body. */
function argumentOf(path: string): string {
  return path === '' ? 'the request' : path.replace(/^\//, '');
}

function sentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

function answerReason({ message, cause }: NoAnswerError): string {
  const reason = message.slice(message.indexOf(': ') + 2);
  if (!(cause instanceof Error)) return reason;
  const { code } = cause as NodeJS.ErrnoException;
  return `${reason} (${code ?? cause.message})`;
}
