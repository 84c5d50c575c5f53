// StorageOptions: where a program that embeds svc wants the journal of its service.
//
// Invariant: the options hold no URL of a database, because it holds a password: a location is named in messages, and each
// connection reads the URL again, so that a password can be replaced without a restart.
import { resolve } from 'node:path';
import { SvcError } from '@svc/kit/svc-error';
import {
  type DatabaseSource,
  journalIn,
  journalInDatabase,
  type JournalLocation,
} from '../storage/journal-location.ts';

/** Where the URL of a database is, `postgresql://…`, and which of its schemas has the journal. */
export type DatabaseOptions = UrlOptions & {
  /**
   * The PostgreSQL schema that holds the tables of the journal: lower-case letters, digits and underscores, at most 40. Default: `svc`. Several
   * services can use one database, each with a schema of its own.
   */
  readonly schema?: string | undefined;
  /**
   * Path of a file with the authorities of the server's certificate, as PEM, read for each connection. It counts where the URL names none
   * (`sslrootcert`). Default: the authorities that Node trusts.
   */
  readonly authoritiesFile?: string | undefined;
};

type UrlOptions =
  /** Path of a file that holds the URL alone. */
  | { readonly urlFile: string; readonly urlVariable?: undefined }
  /** Name of an environment variable whose value is the URL. */
  | { readonly urlVariable: string; readonly urlFile?: undefined };

/** A name becomes part of statements as it is. Those that begin with `pg_` are of the server. */
const SCHEMA = /^(?!pg_)[a-z][a-z0-9_]{0,39}$/;

interface StoredOptions {
  /** Components that the program has dropped on purpose: their events in the journal are ignored. */
  readonly ignoreComponents?: readonly string[];
}

/** Where the journal is: in a folder, in a PostgreSQL database, or in memory, where it is lost with the service. */
export type StorageOptions =
  | (StoredOptions & {
      readonly dataFolder: string;
      readonly database?: undefined;
      readonly journal?: undefined;
    })
  | (StoredOptions & {
      readonly database: DatabaseOptions;
      readonly dataFolder?: undefined;
      readonly journal?: undefined;
    })
  | {
      readonly journal: 'memory';
      readonly dataFolder?: undefined;
      readonly database?: undefined;
    };

/**
 * Returns where the journal is; undefined: in memory. An undefined or empty `dataFolder`, as from a missing variable, is an error
 * and does not mean a journal in memory. Throws SVC_SETTING_INVALID.
 */
export function locationOf({
  dataFolder,
  database,
  journal,
}: StorageOptions): JournalLocation | undefined {
  const given = [dataFolder, database, journal].filter((option) => option !== undefined);
  if (given.length === 1) {
    if (journal === 'memory') return undefined;
    if (typeof dataFolder === 'string' && dataFolder !== '') return journalIn(dataFolder);
    if (database !== undefined) return journalInDatabase(databaseSource(database));
  }
  // The options of `database` are not shown: somebody may have written a URL there.
  throw new SvcError(
    'SVC_SETTING_INVALID',
    "A service takes one of dataFolder, the folder of its journal, database, and journal: 'memory', and found " +
      `dataFolder: ${JSON.stringify(dataFolder)}, ${database === undefined ? 'no database' : 'a database'} and journal: ` +
      `${JSON.stringify(journal)}.`,
  );
}

/** Returns the options of a program whose database is named by the settings of `svc run`. */
export function databaseOptions(source: DatabaseSource): DatabaseOptions {
  const { schema, authoritiesFile } = source;
  return source.kind === 'file'
    ? { urlFile: source.path, schema, authoritiesFile }
    : { urlVariable: source.variable, schema, authoritiesFile };
}

/** Returns the source that the options name. Throws SVC_SETTING_INVALID. */
export function databaseSource(database: DatabaseOptions): DatabaseSource {
  // A program in JavaScript may pass any value, and a URL in its place.
  const { urlFile, urlVariable, schema, authoritiesFile, ...others } = Object(database) as Readonly<
    Record<string, unknown>
  >;
  const names = Object.entries({ urlFile, urlVariable, ...others }).filter(
    ([, value]) => value !== undefined,
  );
  if (schema !== undefined && !(typeof schema === 'string' && SCHEMA.test(schema)))
    throw new SvcError(
      'SVC_SETTING_INVALID',
      'The option database.schema takes the name of a PostgreSQL schema: a lower-case letter, and up to 39 lower-case letters, digits and ' +
        `underscores, not beginning with pg_, and found ${JSON.stringify(schema)}.`,
    );
  const more = { schema, ...authoritiesOf(authoritiesFile) };
  if (names.length === 1) {
    if (typeof urlFile === 'string' && urlFile !== '')
      return { kind: 'file', path: resolve(urlFile), ...more };
    if (typeof urlVariable === 'string' && urlVariable !== '')
      return { kind: 'environment', variable: urlVariable, ...more };
  }
  throw new SvcError(
    'SVC_SETTING_INVALID',
    'The option database takes either urlFile, the path of a file with the URL of the database, or urlVariable, the name of an ' +
      'environment variable with the URL. The URL itself is not an option: it holds a password.',
  );
}

function authoritiesOf(file: unknown): { readonly authoritiesFile?: string } {
  if (file === undefined) return {};
  if (typeof file === 'string' && file !== '') return { authoritiesFile: resolve(file) };
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The option database.authoritiesFile takes the path of a file with certificates, as PEM, and found ${file === '' ? 'an empty one' : `a value of the type ${typeof file}`}.`,
  );
}
