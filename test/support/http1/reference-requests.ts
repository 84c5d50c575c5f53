// Reads requests in another way than the reader under test: with regular expressions over the whole text, by the grammar
// of RFC 9110 and 9112 with the strictness of @svc/http1. Knows no limits, and not why a request is refused.

export interface ReferenceMessage {
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

export interface ReferenceResult {
  /** The requests that are complete. */
  readonly messages: readonly ReferenceMessage[];
  /** Whether nothing else follows them. */
  readonly isClean: boolean;
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const VALUE = '[\\t\\x20-\\x7e\\x80-\\xff]*';
const FIELD_LINES = `((?:${TOKEN}:${VALUE}\\r\\n)*)\\r\\n`;
const HEAD = new RegExp(`^(?:\\r\\n)?(${TOKEN}) ([!"$-~]+) HTTP/1\\.([01])\\r\\n${FIELD_LINES}`);
const TRAILERS = new RegExp(`^${FIELD_LINES}`);
const QUOTED = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"';
const EXTENSION = `;[\\t ]*${TOKEN}(?:[\\t ]*=[\\t ]*(?:${TOKEN}|${QUOTED}))?(?:[\\t ]+(?=;))?`;
const CHUNK_HEAD = new RegExp(`^([0-9A-Fa-f]{1,16})(?:${EXTENSION})*\\r\\n`);
const IPV4 = '(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|(?![\\d.]))){4}';
const NAME = '[A-Za-z0-9\\-._~]+';
const PORT =
  '(?::(?:0|[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]))?';
const AUTHORITY = new RegExp(`^(?:${NAME}|\\[([0-9A-Fa-f:.]+)\\])${PORT}$`);
const ABSOLUTE = /^https?:\/\/([^/?]+)(?:[/?]|$)/i;

function pairsOf(lines: string): string[] {
  return lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(':');
      const value = /^[\t ]*((?:.*[^\t ])?)[\t ]*$/s.exec(line.slice(colon + 1))![1]!;
      return [line.slice(0, colon), value];
    });
}

function valuesOf(pairs: readonly string[], name: string, isFolded = false): string[] {
  const same = (other: string) =>
    (isFolded ? other.replaceAll(/[^a-z0-9]/gi, '-') : other).toLowerCase() === name;
  return pairs.filter((_, index) => index % 2 === 1 && same(pairs[index - 1]!));
}

function isAuthority(text: string): boolean {
  const match = AUTHORITY.exec(text);
  if (match === null) return false;
  const [, ipv6] = match;
  return ipv6 === undefined || isIPv6(ipv6);
}

function isIPv6(text: string): boolean {
  const withGroups = text.replace(new RegExp(`(^|:)${IPV4}$`), '$10:0');
  const [left = '', right, ...more] = withGroups.split('::');
  if (more.length > 0) return false;
  const groups = [left, right ?? ''].flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false;
  return right === undefined ? groups.length === 8 : groups.length < 8;
}

/** Returns the authority of a request that may be read, or undefined. */
function authorityOf(
  [method, target, minor]: readonly string[],
  pairs: readonly string[],
): string | undefined {
  const hosts = valuesOf(pairs, 'host');
  if (method === 'CONNECT' || hosts.length > 1 || (minor === '1' && hosts.length === 0))
    return undefined;
  if (!hosts.every(isAuthority)) return undefined;
  if (target!.startsWith('/') || (target === '*' && method === 'OPTIONS')) return hosts[0] ?? '';
  const authority = ABSOLUTE.exec(target!)?.[1];
  return authority !== undefined && isAuthority(authority) ? authority : undefined;
}

/** Returns the length of the body, `chunked`, or undefined for a request that has to be refused. */
function framingOf(minor: string, pairs: readonly string[]): number | 'chunked' | undefined {
  const lengths = valuesOf(pairs, 'content-length', true);
  const codings = valuesOf(pairs, 'transfer-encoding', true);
  if (lengths.length !== valuesOf(pairs, 'content-length').length) return undefined;
  if (codings.length !== valuesOf(pairs, 'transfer-encoding').length) return undefined;
  if (lengths.length + codings.length > 1) return undefined;
  if (codings.length === 1)
    return minor === '1' && /^chunked$/i.test(codings[0]!) ? 'chunked' : undefined;
  if (lengths.length === 0) return 0;
  const [length] = lengths;
  return /^(?:0|[1-9]\d{0,15})$/.test(length!) && BigInt(length!) < 2n ** 53n
    ? Number(length)
    : undefined;
}

interface Body {
  readonly body: string;
  readonly trailers: readonly string[];
  readonly rest: string;
}

function chunkedBody(text: string): Body | undefined {
  let body = '';
  let rest = text;
  for (;;) {
    const match = CHUNK_HEAD.exec(rest);
    if (match === null || BigInt(`0x${match[1]}`) >= 2n ** 53n) return undefined;
    const size = Number.parseInt(match[1]!, 16);
    rest = rest.slice(match[0].length);
    if (size === 0) break;
    if (rest.slice(size, size + 2) !== '\r\n') return undefined;
    body += rest.slice(0, size);
    rest = rest.slice(size + 2);
  }
  const end = TRAILERS.exec(rest);
  if (end === null) return undefined;
  const trailers = pairsOf(end[1]!);
  const forbidden = ['content-length', 'transfer-encoding', 'host'];
  if (forbidden.some((name) => valuesOf(trailers, name, true).length > 0)) return undefined;
  return { body, trailers, rest: rest.slice(end[0].length) };
}

export function referenceRequests(text: string): ReferenceResult {
  const messages: ReferenceMessage[] = [];
  let rest = text;
  while (rest !== '' && rest !== '\r' && rest !== '\r\n') {
    const match = HEAD.exec(rest);
    if (match === null) return { messages, isClean: false };
    const [head, method, target, minor, lines] = match as unknown as readonly [
      ...[string, string, string, string, string],
    ];
    const fields = pairsOf(lines);
    const authority = authorityOf([method, target, minor], fields);
    const framing = framingOf(minor, fields);
    if (authority === undefined || framing === undefined) return { messages, isClean: false };
    const after = rest.slice(head.length);
    const body =
      framing === 'chunked'
        ? chunkedBody(after)
        : { body: after.slice(0, framing), trailers: [], rest: after.slice(framing) };
    if (body === undefined || (framing !== 'chunked' && body.body.length < framing))
      return { messages, isClean: false };
    const { trailers } = body;
    messages.push({ method, target, authority, fields, body: body.body, trailers });
    ({ rest } = body);
  }
  return { messages, isClean: true };
}
