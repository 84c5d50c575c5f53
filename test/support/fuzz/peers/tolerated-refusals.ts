// ToleratedRefusals: requests that are well formed, so that the proxy passes them, and that a server refuses. That is no
// disagreement: the server has taken the request for the one request that it is, and answers with an error.
import { METHODS as METHODS_OF_NODE } from 'node:http';
import { isIPv4 } from 'node:net';
import type { ExpectedRequest } from './peer-verdict.ts';

interface ToleratedRefusal {
  readonly server: string;
  /** `closes`: it closes the connection without a response, and the proxy answers 502. */
  readonly status: number | 'closes';
  readonly reason: string;
  readonly fits: (request: ExpectedRequest) => boolean;
}

const METHODS_OF_PHP: ReadonlySet<string> = new Set(
  (
    'DELETE GET HEAD POST PUT PATCH CONNECT OPTIONS TRACE COPY LOCK MKCOL MKCALENDAR MOVE PROPFIND PROPPATCH SEARCH ' +
    'UNLOCK REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE'
  ).split(' '),
);

/** Fields that nginx takes once. */
const SINGLE_FIELDS_OF_NGINX = [
  'authorization',
  'content-range',
  'expect',
  'if-match',
  'if-none-match',
].concat('if-range', 'if-modified-since', 'if-unmodified-since');

/** The path without its query. */
function pathOf({ target }: ExpectedRequest): string {
  return target.split('?')[0]!;
}

function isBadlyEncoded(request: ExpectedRequest): boolean {
  return /%(?![0-9a-f]{2})/i.test(pathOf(request));
}

function hasNul(request: ExpectedRequest): boolean {
  return pathOf(request).includes('%00');
}

/** Whether the dot segments of a path lead out of its root, for a server that decodes it and merges its slashes. */
function leavesRoot(request: ExpectedRequest): boolean {
  let depth = 0;
  for (const segment of pathOf(request)
    .replaceAll(/%2e/gi, '.')
    .replaceAll(/%2f/gi, '/')
    .split('/')) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function valuesOf({ fields }: ExpectedRequest, lowerName: string): string[] {
  return fields.filter((_, at) => at % 2 === 1 && fields[at - 1]!.toLowerCase() === lowerName);
}

function expectsOther(request: ExpectedRequest): boolean {
  return valuesOf(request, 'expect').some((value) => value.toLowerCase() !== '100-continue');
}

/** Whether Apache takes a host that the proxy passes. */
function isHostOfApache(host: string): boolean {
  if (host === '' || host.startsWith('[')) return true;
  const name = host.replace(/:\d+$/, '');
  return /(?:^|\.)\d[^.]*\.?$/.test(name) ? isIPv4(name) : /^(?:[\w-]+\.)*[\w-]+\.?$/.test(name);
}

function forwardsNoMore(request: ExpectedRequest): boolean {
  return valuesOf(request, 'max-forwards').some((value) => !/^[1-9]\d*$/.test(value));
}

const TOLERATED: readonly ToleratedRefusal[] = [
  {
    server: 'nginx',
    status: 400,
    reason: 'a method has only the letters A to Z, hyphens and underscores',
    fits: ({ method }) => !/^[A-Z_-]+$/.test(method),
  },
  {
    server: 'nginx',
    status: 405,
    reason: 'TRACE is not answered',
    fits: ({ method }) => method === 'TRACE',
  },
  {
    server: 'nginx',
    status: 400,
    reason: 'a target is a path',
    fits: ({ target }) => target === '*',
  },
  {
    server: 'nginx',
    status: 400,
    reason: 'a path can be decoded, without a NUL, and stays below its root',
    fits: (request) => isBadlyEncoded(request) || hasNul(request) || leavesRoot(request),
  },
  {
    server: 'nginx',
    status: 400,
    reason: 'some fields may not be repeated',
    fits: (request) => SINGLE_FIELDS_OF_NGINX.some((name) => valuesOf(request, name).length > 1),
  },
  {
    server: 'apache',
    status: 200,
    reason: 'OPTIONS * is answered by Apache itself, not by what is behind it',
    fits: ({ target }) => target === '*',
  },
  {
    server: 'apache',
    status: 200,
    reason: 'OPTIONS and TRACE with Max-Forwards: 0 are answered by Apache itself',
    fits: (request) => /^(?:OPTIONS|TRACE)$/.test(request.method) && forwardsNoMore(request),
  },
  {
    server: 'apache',
    status: 400,
    reason: 'a path can be decoded, and stays below its root',
    fits: (request) => isBadlyEncoded(request) || leavesRoot(request),
  },
  {
    server: 'apache',
    status: 400,
    reason: 'Max-Forwards is a number of servers to come',
    fits: forwardsNoMore,
  },
  {
    server: 'apache',
    status: 400,
    reason:
      'a host is an address, or labels of letters, digits, hyphens and underscores, the last one without a digit in front',
    fits: ({ authority }) => !isHostOfApache(authority),
  },
  { server: 'apache', status: 404, reason: 'no resource has a NUL in its path', fits: hasNul },
  {
    server: 'apache',
    status: 417,
    reason: 'another expectation than 100-continue',
    fits: expectsOther,
  },
  {
    server: 'haproxy',
    status: 400,
    reason: 'PRI is the beginning of HTTP/2',
    fits: ({ method }) => method === 'PRI',
  },
  {
    server: 'haproxy',
    status: 400,
    reason: 'names of fields have at most 255 characters',
    fits: ({ fields }) => fields.some((name, at) => at % 2 === 0 && name.length > 255),
  },
  {
    server: 'node',
    status: 400,
    reason: 'a method is one of a list',
    fits: ({ method }) => !METHODS_OF_NODE.includes(method),
  },
  {
    server: 'node',
    status: 417,
    reason: 'another expectation than 100-continue',
    fits: expectsOther,
  },
  ...([501, 'closes'] as const).map((status) => ({
    server: 'php',
    status,
    reason: 'a method is one of a list',
    fits: ({ method }: ExpectedRequest) => !METHODS_OF_PHP.has(method),
  })),
];

/** Returns the server, the status and the reason of the refusal, or undefined if it is not tolerated. */
export function toleratedRefusal(
  server: string,
  request: ExpectedRequest,
  status: number | 'closes',
): string | undefined {
  const found = TOLERATED.find(
    (one) => one.server === server && one.status === status && one.fits(request),
  );
  return found === undefined ? undefined : `${server} ${status}: ${found.reason}`;
}
