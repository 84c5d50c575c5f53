// Authorities: a host and an optional port (RFC 3986, section 3.2). Stricter than the grammar of URIs: no percent-encoding
// and no punctuation in names, because recipients differ in what they make of them, and no empty or padded port.
import { CLASSES, HOST_NAME } from './byte-classes.ts';

const PORT = /^(?:0|[1-9]\d{0,4})$/;
const PORT_MAX = 65_535;
const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const IPV6_GROUPS = 8;

/** Returns whether the text is a host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
export function isAuthority(text: string): boolean {
  const hostEnd = text.startsWith('[') ? bracketEnd(text) : nameEnd(text);
  if (hostEnd <= 0) return false;
  if (hostEnd === text.length) return true;
  const port = text.slice(hostEnd + 1);
  return text[hostEnd] === ':' && PORT.test(port) && Number(port) <= PORT_MAX;
}

function nameEnd(text: string): number {
  let at = 0;
  while (at < text.length && (CLASSES[text.charCodeAt(at)]! & HOST_NAME) !== 0) at++;
  return at;
}

/** Returns the position after an IPv6 address in brackets, or -1. */
function bracketEnd(text: string): number {
  const closing = text.indexOf(']');
  return closing > 0 && isIPv6(text.slice(1, closing)) ? closing + 1 : -1;
}

/** Returns whether the text is an IPv6 address without a zone (RFC 4291, section 2.2). */
function isIPv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsInIPv4 = last.includes('.');
  if (endsInIPv4 && (!isIPv4(last) || text.endsWith('::'))) return false;
  const hexGroups = endsInIPv4 ? groups.slice(0, -1) : groups;
  if (!hexGroups.every((group) => GROUP.test(group))) return false;
  const count = hexGroups.length + (endsInIPv4 ? 2 : 0);
  return halves.length === 2 ? count < IPV6_GROUPS : count === IPV6_GROUPS;
}

function isIPv4(text: string): boolean {
  const octets = text.split('.');
  return octets.length === 4 && octets.every((octet) => OCTET.test(octet) && Number(octet) < 256);
}
