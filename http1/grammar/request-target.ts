// Request targets (RFC 9112, section 3.2): origin form, absolute form and the asterisk. The form of CONNECT is not read.
import { isAuthority } from './authority.ts';

export interface RequestTarget {
  /** In origin form, or `*`. */
  readonly path: string;
  /** Scheme and authority of an absolute target. */
  readonly scheme?: 'http' | 'https';
  readonly authority?: string;
}

const ABSOLUTE = /^(https?):\/\/([^/?]*)(.*)$/i;

/** Reads a target of visible ASCII without `#`. Returns undefined if it is none that the method allows. */
export function readTarget(method: string, target: string): RequestTarget | undefined {
  if (target.startsWith('/')) return { path: target };
  if (target === '*') return method === 'OPTIONS' ? { path: '*' } : undefined;
  const [, scheme, authority, rest] = ABSOLUTE.exec(target) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return undefined;
  if (!isAuthority(authority)) return undefined;
  return {
    path: pathOf(method, rest),
    scheme: scheme.length === 4 ? 'http' : 'https',
    authority,
  };
}

/** Returns the origin form of what follows an authority. */
function pathOf(method: string, rest: string): string {
  if (rest === '') return method === 'OPTIONS' ? '*' : '/';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
