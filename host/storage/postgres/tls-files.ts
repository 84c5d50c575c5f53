// TlsFiles are the certificates and the key that a URL or a setting names, read for each connection, so that renewed ones are used.
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
const AUTHORITIES = 'the setting svc.database.authorities-file';
const inUrl = (parameter: string) => `${parameter} in the URL of the database`;

/** Rejects with SVC_DATABASE_URL_INVALID. Returns undefined without TLS. */
export async function readTlsFiles(tls: DatabaseTls | undefined): Promise<TlsOptions | undefined> {
  if (tls === undefined) return undefined;
  const { rootCertificate, authoritiesFile, client } = tls;
  const authorities = rootCertificate ?? authoritiesFile;
  const namedBy = rootCertificate === undefined ? AUTHORITIES : inUrl('sslrootcert');
  const options: TlsOptions = {
    minVersion: 'TLSv1.2',
    ...(authorities === undefined ? {} : { ca: await fileText(namedBy, authorities) }),
    ...(client === undefined
      ? {}
      : {
          cert: await fileText(inUrl('sslcert'), client.certificate),
          key: await fileText(inUrl('sslkey'), client.key),
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
      `The files that sslrootcert, sslcert and sslkey in the URL of the database, or ${AUTHORITIES}, name are not certificates and the key of ` +
        `sslcert, as PEM (${(error as NodeJS.ErrnoException).code}). Correct these names, or the files.`,
    );
  }
}

async function fileText(namedBy: string, path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SvcError(
      'SVC_DATABASE_URL_INVALID',
      `The file ${path}, which ${namedBy} names, cannot be read: ` +
        `${(error as NodeJS.ErrnoException).code ?? (error as Error).message}. Correct the name, or make the file readable.`,
    );
  }
}
