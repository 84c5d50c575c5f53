// Caller: the token of a request, and whether it may use a project. The registry judges no token: it asks the control plane with that
// very token, for each request, so that a membership that has ended ends here as well.
//
// Invariants
// - A project that does not exist and one of others are answered alike.
// - The orchestrator's own token reads, and changes nothing.
// - While an organization is disabled its members pull, and change nothing.
import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError, createClient } from '@svc/client';
import { RegistryError } from './registry-error.ts';

export interface AccessOptions {
  readonly controlPlaneUrl: string;
  /** Token by which the orchestrator pulls. */
  readonly pullToken: string;
  readonly timeoutMs: number;
}

/** Maximum length of a token, in characters. */
const TOKEN_LENGTH_MAX = 16 * 1024;
/** Docker and others send a password for this challenge, and ask nobody else for a token. */
export const CHALLENGE = { 'www-authenticate': 'Basic realm="svc registry", charset="UTF-8"' };

export class Access {
  readonly #options: AccessOptions;
  readonly #pullToken: Uint8Array;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#pullToken = hashOf(options.pullToken);
  }

  /** Returns whether the request carries the orchestrator's token. */
  isOrchestrator(authorization: string | undefined): boolean {
    const token = tokenIn(authorization);
    return token !== undefined && timingSafeEqual(hashOf(token), this.#pullToken);
  }

  /** Throws UNAUTHORIZED if the request carries nothing that can be a token. */
  checkToken(authorization: string | undefined): void {
    if (tokenIn(authorization) === undefined) throw withoutToken();
  }

  /** Resolves if the token is one that the control plane takes. Rejects with UNAUTHORIZED and UNAVAILABLE. */
  async check(authorization: string | undefined): Promise<void> {
    if (this.isOrchestrator(authorization)) return;
    await this.#ask(authorization, async (client) => void (await client.whoami()));
  }

  /** Resolves if the caller may do it. Rejects with UNAUTHORIZED, NAME_UNKNOWN, DENIED and UNAVAILABLE. */
  async checkProject(
    authorization: string | undefined,
    project: string,
    action: 'pull' | 'push',
  ): Promise<void> {
    if (this.isOrchestrator(authorization)) {
      if (action === 'pull') return;
      throw new RegistryError(403, 'DENIED', 'this token pulls, and pushes nothing');
    }
    await this.#ask(authorization, async (client) => {
      const { organizationId } = await client.getProject({ projectId: project });
      if (action !== 'push') return;
      const { disabled } = await client.getOrganization({ organizationId });
      if (disabled)
        throw new RegistryError(
          403,
          'DENIED',
          'the organization is disabled, so nothing in it can be changed: a platform administrator has to enable it first',
        );
    });
  }

  async #ask(
    authorization: string | undefined,
    question: (client: ReturnType<typeof createClient>) => Promise<void>,
  ): Promise<void> {
    const token = tokenIn(authorization);
    if (token === undefined) throw withoutToken();
    const { controlPlaneUrl, timeoutMs } = this.#options;
    const client = createClient({
      baseUrl: controlPlaneUrl,
      token,
      timeoutMs,
      retries: { attemptsMax: 1 },
    });
    try {
      await question(client);
    } catch (error) {
      if (error instanceof RegistryError) throw error;
      const status = error instanceof ApiError ? error.status : undefined;
      if (status === 401) throw unauthorized('the control plane does not take the token');
      if (status === 403 || status === 404) throw unknownName();
      throw new RegistryError(
        503,
        'UNAVAILABLE',
        'the control plane, which knows who may use a project, gives no answer',
        { 'retry-after': '2' },
      );
    }
  }
}

export function unknownName(): RegistryError {
  return new RegistryError(
    404,
    'NAME_UNKNOWN',
    'there is no such repository, or you are not a member of its organization: repositories are PROJECT/SERVICE',
  );
}

function withoutToken(): RegistryError {
  return unauthorized('log in: send an access token of the installation as the password');
}

function unauthorized(message: string): RegistryError {
  return new RegistryError(401, 'UNAUTHORIZED', message, CHALLENGE);
}

/** Returns the token of Bearer, or the password of Basic; undefined if there is none that can be one. */
function tokenIn(authorization = ''): string | undefined {
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  const token =
    scheme.toLowerCase() === 'bearer'
      ? credentials
      : scheme.toLowerCase() === 'basic'
        ? passwordIn(credentials)
        : undefined;
  const isToken = token !== undefined && /^[\x21-\x7e]+$/.test(token);
  return isToken && token.length <= TOKEN_LENGTH_MAX ? token : undefined;
}

function passwordIn(credentials: string): string | undefined {
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : text.slice(colon + 1);
}

function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
