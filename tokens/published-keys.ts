// PublishedKeys: reads the keys of an identity provider: its discovery document (OpenID Connect Discovery, section 4), and the
// set of keys to which it leads.
import { KeySet } from './key-set.ts';
import { type DocumentAnswer, type Fetch, readDocument } from './provider-document.ts';
import { isProviderUrl } from './provider-url.ts';

export interface ProviderAccess {
  /** URL of the issuer, exactly as tokens have it. */
  readonly issuer: string;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

type Problem = Extract<DocumentAnswer, { kind: 'problem' }>;
export type Discovered = { readonly kind: 'discovered'; readonly keysUrl: string } | Problem;
export type KeysRead = { readonly kind: 'keys'; readonly keys: KeySet } | Problem;

/** Finds the address of the keys. A discovery document that names another issuer is refused. Never rejects. */
export async function discoverKeys({ issuer, fetch, signal }: ProviderAccess): Promise<Discovered> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await readDocument({ url, fetch, signal });
  if (answer.kind === 'problem') return answer;
  const document = jsonObject(answer.text);
  if (document === undefined) return { kind: 'problem', problem: `${url} is not a JSON object` };
  if (document['issuer'] !== issuer)
    return {
      kind: 'problem',
      problem: `${url} names another issuer than ${issuer}, which has to be the same to the letter`,
    };
  const keysUrl = document['jwks_uri'];
  if (typeof keysUrl !== 'string' || !isKeysUrl(keysUrl, issuer))
    return { kind: 'problem', problem: `${url} names no jwks_uri with https` };
  return { kind: 'discovered', keysUrl };
}

/** Never rejects. */
export async function readKeys(
  url: string,
  { fetch, signal }: Omit<ProviderAccess, 'issuer'>,
): Promise<KeysRead> {
  const answer = await readDocument({ url, fetch, signal });
  if (answer.kind === 'problem') return answer;
  const keys = KeySet.parse(answer.text);
  return keys === undefined
    ? { kind: 'problem', problem: `${url} is not a JSON Web Key Set` }
    : { kind: 'keys', keys };
}

/** A provider elsewhere leads to no program of this machine: only one that is on it may have its keys there without TLS. */
function isKeysUrl(url: string, issuer: string): boolean {
  if (!isProviderUrl(url)) return false;
  return new URL(url).protocol === 'https:' || new URL(issuer).protocol === 'http:';
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
