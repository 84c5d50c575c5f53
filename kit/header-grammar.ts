// The grammar of header fields (RFC 9110, 5.1 and 5.5), and the fields that belong to the connection or to
// the platform and so never pass between a caller and a module.

const TOKEN_CHARACTERS: ReadonlySet<string> = new Set(
  "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
);
const SPACE = 0x20;
const TAB = 0x09;

export function isFieldName(name: string): boolean {
  for (const character of name) if (!TOKEN_CHARACTERS.has(character)) return false;
  return name !== '';
}

/**
 * Returns whether the value has only visible characters of Latin-1, and spaces and tabs only inside. The controls from
 * 0x80 to 0x9f are refused as well, because terminals act on them.
 */
export function isFieldValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const isBlank = code === SPACE || code === TAB;
    const isVisible = (code > SPACE && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
    const isInside = at > 0 && at < value.length - 1;
    if (!isVisible && !(isBlank && isInside)) return false;
  }
  return true;
}

const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Prefix of the fields that only the platform may send, in either direction. */
const PLATFORM_PREFIX = 'x-svc-';

/** Prefix of the fields that tell a browser which pages may read an answer: the operator decides, and no module. */
const CORS_PREFIX = 'access-control-';

/** Returns whether a field of an answer (name in lower case) belongs to CORS, which only the host implements. */
export function isCorsField(name: string): boolean {
  return name.startsWith(CORS_PREFIX);
}

/** Returns whether a field (name in lower case) belongs to the connection or the platform, and is not passed on. */
export function isForThisHop(name: string): boolean {
  return CONNECTION_FIELDS.has(name) || name.startsWith(PLATFORM_PREFIX);
}

/** Returns the names of further fields for this hop, which a `Connection` header lists, in lower case. */
export function connectionOptions(value: string): readonly string[] {
  return value.split(',').map((option) => option.trim().toLowerCase());
}
