// HostCertificate: a certificate with its key, read from two files of the folder of certificates.
import { parseServerPair, type ServerPair } from '@svc/identity/certificates';
import { readTogether } from '@svc/identity/certificate-files';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { certificateNames } from './certificate-names.ts';

export interface HostCertificate extends ServerPair {
  /** Name of its files, without `.crt` and `.key`. */
  readonly name: string;
  /** Hostnames and wildcards that it covers. */
  readonly hostnames: ReadonlySet<string>;
  readonly context: SecureContext;
  /** Differs when a file was written or replaced. */
  readonly stamp: string;
}

/** Why files cannot be used: a sentence for the operator. */
export interface UnusablePair {
  readonly problem: string;
}

/** Returns the certificate of the files `NAME.crt` and `NAME.key`. `known`: the one in use, which is returned if its files are as they were. */
export async function readHostCertificate(
  folder: string,
  name: string,
  nowMs: number,
  known: HostCertificate | undefined,
): Promise<HostCertificate | UnusablePair> {
  const files = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const stamp = await stampOf(files);
  if (known !== undefined && stamp === known.stamp) return known;
  const texts = await readTogether(files);
  if (texts === undefined) return { problem: 'The files are being replaced all the time.' };
  if ('missing' in texts) return { problem: texts.missing };
  const [certificate = '', key = ''] = texts;
  const pair = parseServerPair({ certificate, key }, nowMs);
  if ('problem' in pair) return pair;
  const hostnames = certificateNames(pair.leaf);
  if (hostnames.size === 0) return { problem: 'The certificate names no host.' };
  return { ...pair, name, hostnames, context: createSecureContext(pair.options), stamp };
}

async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    files.map(async (file) => {
      const found = await stat(file, { bigint: true }).catch(() => undefined);
      return found === undefined ? '' : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}`;
    }),
  );
  return stamps.join('\n');
}
