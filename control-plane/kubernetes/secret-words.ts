// SecretWords: refusals of secrets without their values. The words of an API server reach logs and members, and an admission webhook may quote the
// object that it refuses.
//
// Invariants
// S1  A value is found in each form in which a webhook may quote it: as it is, within JSON, in base64, and as a list of bytes.
// S2  A form of fewer than `SHORT_LENGTH` characters is replaced only where it stands alone, so that the sentence around it stays.
import { printable } from '@svc/kit/printable';
import { jsonObjectIn, KubeError } from './api/kube-error.ts';
import type { Manifest } from './manifests/manifest.ts';

/** PEM, cut off or not, and base64 that is longer than any name in a sentence. */
const VALUES = /-----BEGIN [\s\S]*?(?:-----END [^-]*-----|$)|[A-Za-z0-9+/_-]{64,}={0,2}/g;
/** Also the least number of characters of a value that has been cut off at the end of a message. */
const SHORT_LENGTH = 4;
const CUT = '…';

/** Returns the error of a request with a secret, with `…` where its message may have a value. The secret has `data`. */
export function withoutValues(error: unknown, secret: Manifest): unknown {
  if (!(error instanceof KubeError)) return error;
  const { kind, status, reason, retryAfterMs } = error;
  const forms = formsOf(secret);
  let message = withoutEnd(error.message, forms);
  for (const form of forms) message = without(message, form);
  return new KubeError(kind, message.replaceAll(VALUES, CUT), { status, reason, retryAfterMs });
}

/** Returns all forms of the values, the longest first: one may contain another. */
function formsOf({ data = {} }: Manifest): readonly string[] {
  const forms = new Set<string>();
  for (const encoded of Object.values(data as Readonly<Record<string, string>>)) {
    const text = Buffer.from(encoded, 'base64').toString();
    // The values of a service's code are in one text of JSON.
    const inner = Object.values(jsonObjectIn(text) ?? {}).filter((one) => typeof one === 'string');
    for (const value of [text, ...inner]) addForms(forms, value);
  }
  forms.delete('');
  return [...forms].toSorted((a, b) => b.length - a.length);
}

function addForms(forms: Set<string>, value: string): void {
  const bytes = Buffer.from(value);
  const encoded = bytes.toString('base64');
  const once = quoted(value);
  const texts = [value, ...[once, escapedMarkup(once)].flatMap((one) => [one, quoted(one)])];
  const lists = [' ', ',', ', '].map((separator) => `[${bytes.join(separator)}]`);
  for (const form of [...texts, encoded, encoded.replace(/=+$/, ''), ...lists])
    forms.add(printable(form.toWellFormed()));
}

/** Returns a text as it is within quotes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns quoted text as programs in Go write it, which the parts of a cluster are. */
function escapedMarkup(text: string): string {
  return text.replaceAll(
    /[<>&]/g,
    (character) => String.raw`\u00${character.charCodeAt(0).toString(16)}`,
  );
}

function without(message: string, form: string): string {
  if (form.length >= SHORT_LENGTH) return message.replaceAll(form, CUT);
  const alone = `(?<![\\p{L}\\p{N}])${RegExp.escape(form)}(?![\\p{L}\\p{N}])`;
  return message.replaceAll(new RegExp(alone, 'gu'), CUT);
}

/** Returns a message that has been cut off without the beginning of a value at its end. */
function withoutEnd(message: string, forms: readonly string[]): string {
  if (!message.endsWith(CUT)) return message;
  const text = message.slice(0, -CUT.length);
  let length = 0;
  for (const form of forms)
    for (let at = Math.min(form.length, text.length); at >= SHORT_LENGTH && at > length; at--)
      if (text.endsWith(form.slice(0, at))) length = at;
  return `${text.slice(0, text.length - length)}${CUT}`;
}
