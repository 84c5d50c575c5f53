// TokenVerification verifies the access tokens that the shards of a service send, on the main thread, which runs no code of a
// module and alone has the keys of the identity provider. A shard sends what it does not know already (shard-tokens.ts).
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '@svc/kit/log';
import type { AuthSection } from '@svc/tokens/auth-section';
import type { Principal } from '@svc/tokens/principal';
import type { PrincipalVerifier } from '@svc/tokens/principal-verifier';
import type { Fetch } from '@svc/tokens/relayed-keys';
import { serveWork } from '../shards/work-link.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings, TokenSources } from './settings.ts';
import type { CachedPrincipal, VerifiedOutcome } from './shard-tokens.ts';

interface TokenVerificationOptions {
  readonly sources: TokenSources;
  readonly section: AuthSection;
  readonly log: Log;
}

export class TokenVerification {
  readonly #options: TokenVerificationOptions;
  /** Undefined before the first token. */
  #verifier: Promise<PrincipalVerifier> | undefined;
  /** The own ends of the links, by shard. */
  readonly #ports = new Map<number, MessagePort>();

  private constructor(options: TokenVerificationOptions) {
    this.#options = options;
    const { sources, log } = options;
    if (sources.developmentKeyFile === undefined) return;
    const reason = `anybody who can read ${sources.developmentKeyFile} can be any caller of this service, with any role`;
    log({ level: 'warn', message: 'development tokens count', fields: { reason } });
  }

  /** Returns undefined if no tokens count. */
  static of(
    { tokens: sources, sections }: Settings<SettingsSections>,
    log: Log,
  ): TokenVerification | undefined {
    if (sources.issuers.length === 0 && sources.developmentKeyFile === undefined) return undefined;
    return new TokenVerification({ sources, section: sections.auth, log });
  }

  /** Throws SVC_SETTING_INVALID if development tokens count, and their key cannot be used. */
  async open(): Promise<void> {
    const { developmentKeyFile: file } = this.#options.sources;
    if (file === undefined) return;
    const { ensureDevelopmentKey } = await import('@svc/tokens/development-tokens');
    await ensureDevelopmentKey(file);
  }

  /** Returns the shard's end of a new link. It is called at each start of a shard. */
  link(index: number): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#ports.get(index)?.close();
    this.#ports.set(index, port2);
    serveWork(
      port2,
      (authorization: readonly string[]) => this.#verify(authorization),
      (): VerifiedOutcome => ({ kind: 'unavailable', retryAfterS: 1 }),
    );
    return port1;
  }

  /** Ends a read of keys that is under way. No shard serves any more. */
  async close(): Promise<void> {
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
    (await this.#verifier)?.close();
  }

  async #verify(authorization: readonly string[]): Promise<VerifiedOutcome> {
    const verifier = await (this.#verifier ??= openVerifier(this.#options));
    const outcome = await verifier.verify(authorization);
    if (outcome.kind !== 'known') return outcome;
    return { kind: 'known', caller: cachedPrincipal(outcome.caller) };
  }
}

/** Loads the code that verifies tokens, which a service that is sent none does not need. */
async function openVerifier({
  sources: { issuers, keysSocket: socket, developmentKeyFile: file },
  section: given,
  log,
}: TokenVerificationOptions): Promise<PrincipalVerifier> {
  // Shards cache them. A second cache would keep a token for a minute more.
  const section = { ...given, cachedTokensMax: 0 };
  const { PrincipalVerifier: Verifier } = await import('@svc/tokens/principal-verifier');
  const relayed = socket === undefined ? undefined : await relayOf(socket);
  if (file === undefined) return new Verifier({ issuers, section, log, fetchOf: relayed });
  const { DEVELOPMENT_ISSUER, developmentProvider } =
    await import('@svc/tokens/development-tokens');
  const provider = developmentProvider(file);
  return new Verifier({
    issuers: [...issuers, DEVELOPMENT_ISSUER],
    section,
    log,
    fetchOf: (issuer) => (issuer === DEVELOPMENT_ISSUER.issuer ? provider : relayed?.(issuer)),
  });
}

/** Returns what reads the keys of an issuer at the socket of a relay. */
async function relayOf(socket: string): Promise<(issuer: string) => Fetch> {
  const { relayedKeys } = await import('@svc/tokens/relayed-keys');
  return (issuer) => relayedKeys(socket, issuer);
}

/** Returns the principal as a shard keeps it, with the text for the module. */
export function cachedPrincipal({
  subject,
  issuer,
  name,
  email,
  roles,
  scopes,
  claims,
  expiresMs,
}: Principal): CachedPrincipal {
  const all = JSON.stringify(claims);
  const shown = { name: name ?? null, email: email ?? null, roles, scopes, claims: all };
  const text = JSON.stringify({ subject, issuer, ...shown });
  return { subject, issuer, roles, scopes, text, expiresMs };
}
