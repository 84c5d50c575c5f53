// ServiceDatabases: where the journal of each service is: in a folder of this machine, in a database that its descriptor names, or in one that
// is made for it on the operator's server. URLs of databases are in files; neither records nor command lines hold one.
//
// Invariants
// D1  A journal stays where it is, also over a deletion. A service that has data in a folder gets no database, and one that got a database
//     keeps it. Which services have had a database of their own is in files too, so that journalProblems refuses to leave one.
// D2  A file with a URL is complete, and only the user of this process may read it.
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hostingKind, type ServiceDescriptor, type ServiceKey } from '@svc/client';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';

/** `none`: the service has no journal. */
export type JournalStorage = 'none' | 'folder' | 'database';

/** Where services have their journals, as what runs them sees it. */
export interface Journals {
  storageOf(key: ServiceKey, descriptor: ServiceDescriptor): JournalStorage;
  /**
   * Returns a text that instances have in common that may run beside one another. `isApart`: whether their image does not run beside
   * others. Undefined: the service has no database.
   */
  cohortOf(key: ServiceKey, descriptor: ServiceDescriptor, isApart: boolean): string | undefined;
  /** Makes the database of the service unless there is one. Rejects with SVC_DATABASE_UNUSABLE, whose message has no path. */
  provide(key: ServiceKey, descriptor: ServiceDescriptor): Promise<void>;
}

export interface ServiceDatabasesOptions {
  /** Folder below which services have their data: `<project>/<service>`. */
  readonly dataFolder: string;
  /**
   * Folder of the files with the URLs of databases that were made: `<project>/<service>.url`. For a service that declares its database,
   * `<project>/<service>.supplied` has the name of the secret. The file `installation.id` distinguishes this
   * installation from others that make databases on the same server.
   */
  readonly urlsFolder: string;
  /** Folder of the operator with the secrets of each project: `<project>/<name of the secret>`. */
  readonly secretsFolder: string;
  /** File with the URL of the server on which databases are made; undefined: none is made. */
  readonly serverFile: string | undefined;
  readonly log: Log;
  /** Makes a database and returns its URL. Default: makeServiceDatabase of the runtime. */
  readonly make?: (serverFile: string, name: string, installation: string) => Promise<string>;
}

/** Characters of the project and of the service in the name of a database, so that people recognise it. */
const NAME_PART = 20;
const HASH_PART = 16;

export class ServiceDatabases implements Journals {
  readonly #options: ServiceDatabasesOptions;

  constructor(options: ServiceDatabasesOptions) {
    this.#options = options;
  }

  storageOf(key: ServiceKey, descriptor: ServiceDescriptor): JournalStorage {
    const kind = hostingKind({ ...descriptor });
    if (kind === 'web') return 'none';
    return this.urlFileOf(key, descriptor) === undefined ? 'folder' : 'database';
  }

  /** Returns the file with the URL of the service's database, which may have to be made first; undefined: the journal is in a folder. */
  urlFileOf(key: ServiceKey, descriptor: ServiceDescriptor): string | undefined {
    if (descriptor.hosting !== 'wasm') return undefined;
    const { urlsFolder, secretsFolder, serverFile } = this.#options;
    const { database } = descriptor;
    if (database !== undefined) return join(secretsFolder, key.project, database.urlFrom);
    const isMade = this.hasMade(key) || (serverFile !== undefined && !this.hasFolder(key));
    return isMade ? join(urlsFolder, key.project, `${key.service}.url`) : undefined;
  }

  /** Whether a database was made for the service. */
  hasMade({ project, service }: ServiceKey): boolean {
    return existsSync(join(this.#options.urlsFolder, project, `${service}.url`));
  }

  /** Returns the secret with the URL of the database that the service had when it was last started; undefined: it declared none. */
  suppliedFrom(key: ServiceKey): string | undefined {
    const file = this.#suppliedFile(key);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  }

  /** Whether the service has, or had, its journal in a folder. */
  hasFolder({ project, service }: ServiceKey): boolean {
    try {
      return readdirSync(join(this.#options.dataFolder, project, service)).length > 0;
    } catch {
      return false;
    }
  }

  cohortOf(key: ServiceKey, descriptor: ServiceDescriptor, isApart: boolean): string | undefined {
    const file = this.urlFileOf(key, descriptor);
    return file !== undefined && isApart ? `${file} apart` : file;
  }

  async provide(key: ServiceKey, descriptor: ServiceDescriptor): Promise<void> {
    const { serverFile, log, make = madeByRuntime } = this.#options;
    const file = this.urlFileOf(key, descriptor);
    if (file === undefined) return;
    if (descriptor.database !== undefined) {
      this.#noteSupplied(key, descriptor.database.urlFrom, file);
      return;
    }
    if (existsSync(file)) return;
    try {
      if (serverFile === undefined) throw new Error(`the file ${file} is gone`);
      writePrivate(file, await make(serverFile, databaseName(key), this.#installation()));
    } catch (error) {
      log({
        level: 'error',
        message: 'The database of a service cannot be made, which is tried again',
        fields: { key: `${key.project}/${key.service}`, error: (error as Error).message },
      });
      throw new SvcError(
        'SVC_DATABASE_UNUSABLE',
        'The database of the service cannot be made at the moment, which is tried again. The operator of this installation finds the reason in the log.',
        { cause: error },
      );
    }
  }

  /** Without a URL there is no journal yet, so the descriptor may still be corrected. */
  #noteSupplied(key: ServiceKey, secret: string, urlFile: string): void {
    if (existsSync(urlFile) && this.suppliedFrom(key) !== secret)
      writePrivate(this.#suppliedFile(key), secret);
  }

  #suppliedFile({ project, service }: ServiceKey): string {
    return join(this.#options.urlsFolder, project, `${service}.supplied`);
  }

  /** Returns the ID of this installation, which is on disk before a server has it. */
  #installation(): string {
    const file = join(this.#options.urlsFolder, 'installation.id');
    if (!existsSync(file)) writePrivate(file, randomUUID());
    return readFileSync(file, 'utf8').trim();
  }
}

/** Returns the name of the database of a service, and of its role. No other service has the same. */
export function databaseName({ project, service }: ServiceKey): string {
  const hash = createHash('sha256').update(`${project}/${service}`).digest('hex');
  const words = [project, service].map((word) => word.slice(0, NAME_PART).replaceAll('-', '_'));
  return [...words, hash.slice(0, HASH_PART)].join('_');
}

async function madeByRuntime(path: string, name: string, installation: string): Promise<string> {
  // Most installations have no such server, and do not load its client.
  const { makeServiceDatabase } = await import('@svc/host/service-database');
  return await makeServiceDatabase({ kind: 'file', path }, name, installation);
}

function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.new`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
}
