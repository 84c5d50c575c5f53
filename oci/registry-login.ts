// RegistryLogin: how one repository is authorized: by the challenge of the registry, with Basic, or with a token from where the
// registry gives them out.
//
// Invariant: a token of the caller's own goes to the registry, a password to the registry and to where its challenge leads.
import { ImageError } from './image-error.ts';
import { isHeaderText, type RegistryCredentials } from './registry-credentials.ts';
import { TOKEN_LENGTH_MAX } from './registry-limits.ts';
import {
  invalidAnswer,
  type RegistryAnswer,
  type RegistryTransport,
  smallText,
} from './registry-transport.ts';

export interface RegistryLoginOptions {
  readonly transport: RegistryTransport;
  readonly credentials: RegistryCredentials | undefined;
  /** The access that is asked for, such as `repository:shop/cart:pull`. */
  readonly scope: string;
}

interface Challenge {
  readonly scheme: 'basic' | 'bearer';
  readonly parameters: ReadonlyMap<string, string>;
}

export class RegistryLogin {
  readonly #transport: RegistryTransport;
  readonly #credentials: RegistryCredentials | undefined;
  readonly #scope: string;
  #authorization: string | undefined;

  constructor({ transport, credentials, scope }: RegistryLoginOptions) {
    this.#transport = transport;
    this.#credentials = credentials;
    this.#scope = scope;
    if (credentials?.kind === 'token') this.#authorization = `Bearer ${credentials.token}`;
  }

  /** Value of Authorization; undefined as long as the registry has not asked for it. */
  get authorization(): string | undefined {
    return this.#authorization;
  }

  /**
   * Answers a challenge. Resolves with false if there is nothing better to send than what was refused. Rejects with
   * SVC_REGISTRY_ANSWER_INVALID and SVC_REGISTRY_REFUSED.
   */
  async answer(refusal: RegistryAnswer, signal: AbortSignal): Promise<boolean> {
    const credentials = this.#credentials;
    if (credentials?.kind === 'token') return false;
    const challenges = challengesIn(refusal.header('www-authenticate') ?? '');
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined) {
      this.#authorization = `Bearer ${await this.#token(bearer, refusal.url, signal)}`;
      return true;
    }
    const isBasic = challenges.some(({ scheme }) => scheme === 'basic');
    if (!isBasic || credentials === undefined || this.#authorization !== undefined) return false;
    this.#authorization = basic(credentials);
    return true;
  }

  async #token({ parameters }: Challenge, registry: URL, signal: AbortSignal): Promise<string> {
    const realm = URL.parse(parameters.get('realm') ?? '');
    if (realm === null) throw invalidAnswer(registry, 'asks for a token from no URL');
    const service = parameters.get('service');
    if (service !== undefined) realm.searchParams.set('service', service);
    realm.searchParams.set('scope', this.#scope);
    const answer = await this.#transport.send({
      method: 'GET',
      url: realm,
      headers: { accept: 'application/json' },
      authorization: this.#credentials?.kind === 'password' ? basic(this.#credentials) : undefined,
      signal,
    });
    if (answer.status === 401 || answer.status === 403) {
      await answer.discard();
      throw refused(registry.host, 'gives out no token for these credentials');
    }
    if (answer.status !== 200) {
      await answer.discard();
      throw invalidAnswer(realm, `answers ${answer.status} instead of a token`);
    }
    const token = tokenIn(await smallText(answer));
    if (token === undefined) throw invalidAnswer(realm, 'answers without a token');
    return token;
  }
}

/** `what`: a clause about the registry. */
export function refused(host: string, what: string): ImageError {
  return new ImageError(
    'SVC_REGISTRY_REFUSED',
    `The registry ${host} ${what}. Check the credentials for ${host}, and that they may use the repository.`,
  );
}

function basic({ user, password }: Extract<RegistryCredentials, { kind: 'password' }>): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function tokenIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { token, access_token: accessToken } = value as Readonly<Record<string, unknown>>;
  const found = token ?? accessToken;
  return typeof found === 'string' && found.length <= TOKEN_LENGTH_MAX && isHeaderText(found)
    ? found
    : undefined;
}

/** Parses WWW-Authenticate (RFC 9110, section 11.6.1) as far as registries use it. */
function challengesIn(header: string): readonly Challenge[] {
  const begins = [...header.matchAll(/(?:^|,\s*)(basic|bearer)(?=\s|$|,)/gi)];
  return begins.map((begin, at) => {
    const text = header.slice(begin.index + begin[0].length, begins[at + 1]?.index);
    const parameters = new Map<string, string>();
    for (const [, name, quoted, bare] of text.matchAll(
      /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
    ))
      parameters.set(name!.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? bare!);
    return { scheme: begin[1]!.toLowerCase() as Challenge['scheme'], parameters };
  });
}
