// TlsFiles are the certificates and the key that a URL names, read for each connection, so that renewed ones are used.
import { readFile, stat } from 'node:fs/promises';
import assert from 'node:assert';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseTls } from './database-url.ts';

export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion: 'TLSv1.2';
}

const BYTES_MAX = 1_048_576;

/** Rejects with SVC_DATABASE_URL_INVALID. Returns undefined without TLS. */
export async function readTlsFiles(tls: DatabaseTls | undefined): Promise<TlsOptions | undefined> {
  if (tls === undefined) return undefined;
  const { rootCertificate, client } = tls;
  const options: TlsOptions = {
    minVersion: 'TLSv1.2',
    ...(rootCertificate === undefined
      ? {}
      : { ca: await fileText('sslrootcert', rootCertificate) }),
    ...(client === undefined
      ? {}
      : {
          cert: await fileText('sslcert', client.certificate),
          key: await fileText('sslkey', client.key),
        }),
  };
  check(options);
  return options;
}

/** Files that hold something else would fail a connection with an error that names none of them. */
function check(options: TlsOptions): void {
  try {
    createSecureContext(options);
    // A file without a certificate would leave a connection with no authority that it trusts.
    assert(options.ca === undefined || new X509Certificate(options.ca).subject !== undefined);
  } catch (error) {
    throw new SvcError(
      'SVC_DATABASE_URL_INVALID',
      'The files that sslrootcert, sslcert and sslkey in the URL of the database name are not certificates and the key of sslcert, ' +
        `as PEM (${(error as NodeJS.ErrnoException).code}). Correct these parameters.`,
    );
  }
}

async function fileText(parameter: string, path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SvcError(
      'SVC_DATABASE_URL_INVALID',
      `The file ${path}, which ${parameter} in the URL of the database names, cannot be read: ` +
        `${(error as NodeJS.ErrnoException).code ?? (error as Error).message}. Correct ${parameter}, or make the file readable.`,
    );
  }
}
