// The file of further authorities of receivers, as a service reads it at its start.
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { readReceiverAuthorities } from '../../../webhooks/program/receiver-authorities.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function read(text: string | undefined): Promise<readonly string[]> {
  const path = join(temporaryFolder(), 'authorities.pem');
  if (text !== undefined) writeFileSync(path, text);
  return readReceiverAuthorities(path, 'svc.webhooks.receiver-authorities');
}

const print = (each: string): string => new X509Certificate(each).fingerprint256;

test('every certificate of the file counts, and nothing else of it', async () => {
  const [first, second] = rootCertificates;
  const found = await read(`# mine\n${first}\n\nand\n${second}\n`);
  expect(found.map(print)).toEqual([print(first!), print(second!)]);
});

test.each([
  ['that is missing', undefined, /cannot be read \(ENOENT\)/],
  ['without a certificate', 'a key', /has no certificates that can be used \(there is none\)/],
  [
    'with a certificate that is none',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    /has no certificates that can be used/,
  ],
])('a file %s stops the start', async (_which, text, message) => {
  const failure: unknown = await read(text).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'SVC_SETTING_INVALID' });
  expect(String(failure)).toMatch(message);
});
