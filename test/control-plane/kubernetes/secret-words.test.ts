// A refusal of a secret says why, without the values of the secret, however short they are and however they are quoted.
import { expect, test } from 'vitest';
import { KubeError, refusalOf } from '../../../control-plane/kubernetes/api/kube-error.ts';
import type { Manifest } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { withoutValues } from '../../../control-plane/kubernetes/secret-words.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function secretWith(...values: readonly string[]): Manifest {
  const data = Object.fromEntries(values.map((value, at) => [`KEY_${at}`, base64(value)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cart-env', labels: {} }, data };
}

/** Returns JSON as programs in Go write it. */
function markup(json: string): string {
  return json
    .replaceAll('&', String.raw`\u0026`)
    .replaceAll('<', String.raw`\u003c`)
    .replaceAll('>', String.raw`\u003e`);
}

/** Returns what is shown of the words of a server about a secret with these values. */
function shown(message: string, ...values: readonly string[]): string {
  const fields = { status: 403, contentType: 'application/json', retryAfter: undefined };
  const error = refusalOf({ ...fields, text: JSON.stringify({ message, reason: 'Forbidden' }) });
  const result = withoutValues(error, secretWith(...values)) as KubeError;
  expect(result).toMatchObject({ kind: 'refused', status: 403, reason: 'Forbidden' });
  expect(result.cause).toBeUndefined();
  return result.message;
}

test('a short password is replaced as it is and in base64, with its padding or without', () => {
  expect(shown('denied: {"A":"aHVudGVyMg=="} is hunter2 (aHVudGVyMg)', 'hunter2')).toBe(
    'denied: {"A":"…"} is … (…)',
  );
});

test('a value with characters of regular expressions is taken as text', () => {
  const value = String.raw`.*+?^$(a|b)[c]{2}\d$&`;
  expect(shown(`denied: ${value}; abcd stays`, value)).toBe('denied: …; abcd stays');
  expect(shown('denied: "$&" and abc', '$&', '.*', '[a')).toBe('denied: "…" and abc');
});

test('of values that contain one another nothing is left', () => {
  const message = 'denied: correct horse battery, horse, correct horse';
  for (const values of [
    ['horse', 'correct horse', 'correct horse battery'],
    ['correct horse battery', 'correct horse', 'horse'],
  ])
    expect(shown(message, ...values)).toBe('denied: …, …, …');
});

test('an empty value, and a secret without values, leave the words as they are', () => {
  expect(shown('denied: no label', '')).toBe('denied: no label');
  expect(shown('denied: no label')).toBe('denied: no label');
  const { data: _, ...note } = secretWith();
  const error = new KubeError('refused', 'denied: no label');
  expect(withoutValues(error, note)).toMatchObject({ message: 'denied: no label' });
});

test('a value of fewer than four characters is replaced where it stands alone', () => {
  const message = 'denied: the label 7 is missing in {"A":"7","B":"Nw==","C":[55]} of pod17';
  expect(shown(message, '7')).toBe(
    'denied: the label … is missing in {"A":"…","B":"…","C":…} of pod17',
  );
});

test.each(['say "hunter2" & <go>\n\ttwice', 'ünï\u{1F600}\u202Ecode', String.raw`back\slash\n`])(
  'a value is found within JSON, also within JSON of JSON, and as bytes: %j',
  (value) => {
    const once = JSON.stringify({ A: value });
    for (const quote of [value, once, JSON.stringify(once), markup(once)])
      expect(shown(`denied: ${quote}`, value)).toMatch(/^denied: [\\"{A:]*…[\\"}]*$/);
    const bytes = `[${Buffer.from(value).join(' ')}]`;
    expect(shown(`denied: map[A:${bytes}]`, value)).toBe('denied: map[A:…]');
  },
);

test('each value of a text of JSON is replaced on its own', () => {
  const values = JSON.stringify({ token: 'hunter2', mode: 'test', port: 8080 });
  expect(shown(`denied: token hunter2, and ${values}`, values)).toBe('denied: token …, and …');
});

test('the beginning of a value is not shown where the words are cut off', () => {
  const value = 'correct horse battery staple';
  for (const end of [4, 10, value.length - 1]) {
    const message = `${'x, '.repeat(500).slice(end)}${value}`;
    const text = shown(message, value);
    expect(text).toMatch(/x, …$|x,…$|x…$/);
    expect(text).not.toContain('corr');
  }
});

test('PEM and long base64 are replaced though they are no values of the secret', () => {
  expect(shown(`denied: ${'q'.repeat(64)} -----BEGIN PRIVATE KEY-----\nabc`, 'other')).toBe(
    'denied: … …',
  );
});

test('another failure is passed on as it is', () => {
  const failure = new Error('hunter2');
  expect(withoutValues(failure, secretWith('hunter2'))).toBe(failure);
});
