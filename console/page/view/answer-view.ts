// AnswerView: an answer for its display: the kind of its body, the message of a refusal, and the word of its status.
// The functions are pure.
import type { CallAnswer } from '../api.ts';
import { readJson } from './json-value.ts';

export type AnswerBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json' | 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly length: number; readonly hex: string };

/** Maximum number of bytes that are displayed in hexadecimal digits. */
const HEX_SHOWN_MAX = 4096;

export function answerBody({ body, bodyIsBase64, headers }: CallAnswer): AnswerBody {
  if (body === '') return { kind: 'none' };
  if (bodyIsBase64) {
    const bytes = Uint8Array.fromBase64(body);
    return { kind: 'bytes', length: bytes.length, hex: hexLines(bytes) };
  }
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(type);
  return { kind: isJson && readJson(body).ok ? 'json' : 'text', text: body };
}

/** Returns the message in a refusal's body `{status, error}`; undefined if the body has another form. */
export function refusalOf(body: string): string | undefined {
  const reading = readJson(body);
  if (!reading.ok || reading.value.kind !== 'object') return undefined;
  const error = reading.value.entries.find(([key]) => key === 'error')?.[1];
  return error?.kind === 'string' ? error.value : undefined;
}

/** Returns the first bytes as lines of 16: the offset, the bytes in hexadecimal digits, and the bytes as ASCII. */
function hexLines(bytes: Uint8Array): string {
  const lines: string[] = [];
  const shown = Math.min(bytes.length, HEX_SHOWN_MAX);
  for (let at = 0; at < shown; at += 16) {
    const part = bytes.subarray(at, Math.min(at + 16, shown));
    const hex = Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = Array.from(part, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    ).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  return shown < bytes.length ? `${lines.join('\n')}\n…` : lines.join('\n');
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No content',
  301: 'Moved',
  302: 'Found',
  303: 'See other',
  304: 'Not modified',
  307: 'Redirect',
  308: 'Redirect',
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported type',
  422: 'Unprocessable',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'Bad gateway',
  503: 'Unavailable',
  504: 'Timed out',
};

export function statusWord(status: number): string {
  return STATUS_WORDS[status] ?? '';
}
