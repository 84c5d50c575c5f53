// DatabaseSource says where the URL of a database is, who has signed its server's certificate, and which of its schemas has the tables. Each thread that connects reads the URL
// itself, so that no message between threads, no argument of a process and no location holds a password, and a password that was changed
// is used by the next connection.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { SvcError } from '@svc/kit/svc-error';
import { invalidUrl, parseDatabaseUrl, type DatabaseUrl } from './database-url.ts';

export type DatabaseSource = UrlSource & {
  /** The PostgreSQL schema with the tables; absent: `svc`. */
  readonly schema?: string | undefined;
  /** Absolute path of a file with the authorities of the server's certificate, as PEM. It counts where the URL names none. */
  readonly authoritiesFile?: string | undefined;
};

type UrlSource =
  /** The file holds the URL alone; white space around it is ignored. */
  | { readonly kind: 'file'; readonly path: string }
  /** The URL is the value of this environment variable. */
  | { readonly kind: 'environment'; readonly variable: string };

const BYTES_MAX = 16_384;

/** Reads and parses the URL. Rejects with SVC_DATABASE_URL_INVALID, whose message holds nothing of it. */
export async function readDatabaseUrl(source: DatabaseSource): Promise<DatabaseUrl> {
  const where = shownSource(source);
  const text = await textOf(source, where);
  const line = text.trim();
  if (line === '') throw invalidUrl(where, 'it is empty');
  if (/[\r\n]/.test(line)) throw invalidUrl(where, 'there is more than one line');
  return withAuthorities(parseDatabaseUrl(line, where), source.authoritiesFile);
}

/** A server that is reached without TLS has no certificate. */
function withAuthorities(url: DatabaseUrl, authoritiesFile: string | undefined): DatabaseUrl {
  const { tls } = url;
  if (tls === undefined || tls.rootCertificate !== undefined || authoritiesFile === undefined)
    return url;
  return { ...url, tls: { ...tls, authoritiesFile } };
}

/** Returns the words for where the URL is, in messages. */
export function shownSource(source: DatabaseSource): string {
  return source.kind === 'file'
    ? `the file ${source.path}`
    : `the environment variable ${source.variable}`;
}

async function textOf(source: DatabaseSource, where: string): Promise<string> {
  if (source.kind === 'file') return fileText(source.path, where);
  const text = process.env[source.variable];
  if (text === undefined) throw invalidUrl(where, 'the variable is not set');
  if (Buffer.byteLength(text) > BYTES_MAX)
    throw invalidUrl(where, `it has more than ${BYTES_MAX} bytes`);
  return text;
}

async function fileText(path: string, where: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Nobody may write to a pipe, so that opening it must not wait.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw invalidUrl(where, 'this is not a file');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BYTES_MAX + 1), 0, BYTES_MAX + 1, 0);
    if (bytesRead > BYTES_MAX) throw invalidUrl(where, `the file has more than ${BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw invalidUrl(where, unreadable((error as NodeJS.ErrnoException).code));
  } finally {
    await file?.close();
  }
}

function unreadable(code = ''): string {
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read the file';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'the file is no text in UTF-8';
    case 'EISDIR':
    case 'ENOTDIR':
    case 'ENXIO':
      return 'this is not a file';
    default:
      return `the file could not be read (${code})`;
  }
}
