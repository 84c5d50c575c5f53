// CallText: a request as a command line. The functions are pure.
import type { CallerGrants, CallRequest } from '../api.ts';

/** Returns a curl command that sends the same request. */
export function curlLine(address: string, request: CallRequest): string {
  const words = ['curl'];
  // Without this option, curl expands brackets and braces as a pattern of several addresses.
  if (/[[\]{}]/.test(request.path)) words.push('--globoff');
  if (request.method !== 'GET') words.push('-X', request.method);
  for (const [name, value] of request.headers) words.push('-H', quoted(`${name}: ${value}`));
  if (request.sendAs !== undefined)
    words.push('-H', `"Authorization: Bearer $(${tokenLine(request.sendAs)})"`);
  if (request.body !== null && request.bodyIsBase64)
    return `printf %s ${quoted(request.body)} | base64 -d | ${[...words, '--data-binary', '@-'].join(' ')} ${quoted(address + request.path)}`;
  if (request.body !== null) words.push('--data-raw', quoted(request.body));
  return [...words, quoted(address + request.path)].join(' ');
}

function tokenLine({ subject, roles, scopes }: CallerGrants): string {
  const options = [
    ['subject', subject],
    ...roles.map((role) => ['role', role]),
    ...scopes.map((scope) => ['scope', scope]),
  ];
  return ['svc', 'token', ...options.map(([name, value]) => quoted(`--${name}=${value}`))].join(
    ' ',
  );
}

/** Quotes a text as one shell word. */
function quoted(text: string): string {
  if (/^[A-Za-z0-9/:.,_~%+=-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
