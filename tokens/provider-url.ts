// ProviderUrl: which addresses of an identity provider are used. Who can change the keys on their way can make tokens, so they
// are read with TLS, except from the machine itself.
import { isIP } from 'node:net';

const VISIBLE = /^[\x21-\x7e]+$/;

/** Whether the text is a URL with https, or with http on a loopback address; without user and fragment. */
export function isProviderUrl(text: string): boolean {
  // The parser of URLs drops blanks and line feeds.
  const url = VISIBLE.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]')
    return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}
