// IdentityProvider: a real OpenID Connect provider (oidc-provider) in the test's process, on a loopback port. It issues JWT access tokens with the
// claims of Keycloak, changes its keys, and fails in the ways in which providers fail.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { type Person, type ProviderRules, providerHandler } from './provider-rules.ts';

export type { Person } from './provider-rules.ts';

/** The documents that the control plane reads. */
export type ProviderDocument = 'discovery' | 'keys';
/** What a document is answered with instead: nothing, text with a status, or the connection is reset. */
export type ProviderFailure =
  | 'hangs'
  | 'resets'
  | { readonly status: number; readonly body?: string; readonly location?: string };

export interface ProviderOptions {
  readonly audience?: string;
  /** The algorithm of its signatures. */
  readonly alg?: string;
  readonly port?: number;
  readonly keys?: readonly JWK[];
}

/** What a token says. All else is as the provider would say it. */
export interface IssuedToken extends Person {
  readonly subject: string;
  readonly lifetimeS?: number;
  /** Claims that replace those of the provider; undefined leaves one out. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970 at which it is issued. */
  readonly nowMs?: number;
}

export const TEST_AUDIENCE = 'https://api.svc.test';
const PATHS: Readonly<Record<string, ProviderDocument>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/jwks': 'keys',
};

export async function newSigningKey(kid: string, alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
}

export class IdentityProvider {
  readonly audience: string;
  readonly alg: string;
  /** The people who can log in, by subject. */
  readonly people = new Map<string, Person>();
  /** The machines that can get a token, by client id. Known from the next rotation on, or the start. */
  readonly machines = new Map<string, Person & { readonly secret: string }>();
  readonly reads: Record<ProviderDocument, number> = { discovery: 0, keys: 0 };
  readonly failures = new Map<ProviderDocument, ProviderFailure>();
  /** The first one signs. */
  keys: readonly JWK[] = [];
  #server: Server | undefined;
  #handle: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  #port = 0;
  #keysMade = 0;

  constructor({ audience = TEST_AUDIENCE, alg = 'ES256' }: ProviderOptions = {}) {
    this.audience = audience;
    this.alg = alg;
    this.machines.set('ci', { secret: 'ci-secret:with/odd+chars %' });
  }

  static async start(options: ProviderOptions = {}): Promise<IdentityProvider> {
    const provider = new IdentityProvider(options);
    await provider.listen(options.port);
    await provider.rotate({ keys: options.keys });
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, at first without keys, and again at the same port after `stop`. */
  async listen(port = this.#port): Promise<void> {
    const server = createServer((request, response) => this.#answer(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Signs with a new key from now on. With `overlap`, the former keys are still published. */
  async rotate({
    keys,
    overlap = false,
  }: { keys?: readonly JWK[] | undefined; overlap?: boolean } = {}): Promise<void> {
    const fresh = keys ?? [await newSigningKey(`key-${++this.#keysMade}`, this.alg)];
    this.keys = overlap ? [...fresh, ...this.keys] : fresh;
    // The keys of oidc-provider are fixed, so that another provider takes over the listener.
    this.#handle = await providerHandler(this.issuer, this.#rules());
  }

  /** Makes an access token as the provider does, without a login. */
  async issue({
    subject,
    lifetimeS = 300,
    claims,
    header,
    nowMs,
    ...person
  }: IssuedToken): Promise<string> {
    const key = this.keys[0]!;
    const issuedS = Math.floor((nowMs ?? Date.now()) / 1000);
    const all: Record<string, unknown> = {
      iss: this.issuer,
      aud: this.audience,
      sub: subject,
      iat: issuedS,
      exp: issuedS + lifetimeS,
      ...claimsOf(person),
      ...claims,
    };
    return await new SignJWT(all)
      .setProtectedHeader({ alg: this.alg, kid: key.kid!, typ: 'at+jwt', ...header })
      .sign(await importJWK(key, this.alg));
  }

  /** Every document is answered so, until `recover`. */
  fail(failure: ProviderFailure): void {
    for (const document of Object.values(PATHS)) this.failures.set(document, failure);
  }

  recover(): void {
    this.failures.clear();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
  }

  #rules(): ProviderRules {
    const { audience, alg, keys, people, machines } = this;
    return { audience, alg, keys, people, machines, claimsOf };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const document = PATHS[request.url ?? ''];
    const failure = document === undefined ? undefined : this.failures.get(document);
    if (document !== undefined) this.reads[document]++;
    if (failure === undefined) this.#handle?.(request, response);
    else if (failure === 'resets') request.socket.destroy();
    else if (failure !== 'hangs') {
      const { status, body = '', location } = failure;
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    }
  }
}

/** The claims with which Keycloak describes a person. */
function claimsOf({ name, email, verified, roles }: Person): Readonly<Record<string, unknown>> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(verified === undefined ? {} : { email_verified: verified }),
    ...(roles === undefined ? {} : { realm_access: { roles } }),
  };
}
