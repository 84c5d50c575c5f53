// DatabaseSettings: the settings svc.database.*, which say where the URL of a database is that holds the journal, and who has signed the
// certificate of its server. No setting holds the URL itself, because it holds a password.
import { readPath } from './program-flags.ts';
import { invalidSetting, type SettingsReader } from './settings-reader.ts';

/** Where a URL is. It has the form of the option `database` of a service. */
export type DatabaseUrlSource = UrlSource & {
  /** Absolute path of a file with the authorities of the server's certificate, unless the URL names one. */
  readonly authoritiesFile?: string | undefined;
};

type UrlSource =
  /** Absolute path of a file that holds the URL alone. */
  | { readonly urlFile: string; readonly urlVariable?: undefined }
  /** Name of an environment variable whose value is the URL. */
  | { readonly urlVariable: string; readonly urlFile?: undefined };

const FILE = 'svc.database.url-file';
const VARIABLE = 'svc.database.url-variable';
const AUTHORITIES = 'svc.database.authorities-file';
export const DATABASE_NAMES: readonly string[] = [FILE, VARIABLE, AUTHORITIES];

/** Returns where the URL of the database is; undefined: the journal is in the data folder. Throws SVC_SETTING_INVALID. */
export function readDatabaseUrlSource(reader: SettingsReader): DatabaseUrlSource | undefined {
  const urlFile = readPath(reader, FILE);
  const urlVariable = reader.text(VARIABLE);
  if (urlFile !== undefined && urlVariable !== undefined)
    throw invalidSetting(VARIABLE, urlVariable, `no value beside ${FILE}`);
  const authorities = readPath(reader, AUTHORITIES);
  const more = authorities === undefined ? {} : { authoritiesFile: authorities };
  if (urlFile !== undefined) return { urlFile, ...more };
  if (urlVariable !== undefined) return { urlVariable, ...more };
  if (authorities !== undefined)
    throw invalidSetting(AUTHORITIES, authorities, `no value without ${FILE} or ${VARIABLE}`);
  return undefined;
}
