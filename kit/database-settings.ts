// DatabaseSettings: the settings svc.database.*, which say where the URL of a database is that holds the journal. No setting holds the
// URL itself, because it holds a password.
import { readPath } from './program-flags.ts';
import { invalidSetting, type SettingsReader } from './settings-reader.ts';

/** Where a URL is. It has the form of the option `database` of a service. */
export type DatabaseUrlSource =
  /** Absolute path of a file that holds the URL alone. */
  | { readonly urlFile: string; readonly urlVariable?: undefined }
  /** Name of an environment variable whose value is the URL. */
  | { readonly urlVariable: string; readonly urlFile?: undefined };

const FILE = 'svc.database.url-file';
const VARIABLE = 'svc.database.url-variable';
export const DATABASE_NAMES: readonly string[] = [FILE, VARIABLE];

/** Returns where the URL of the database is; undefined: the journal is in the data folder. Throws SVC_SETTING_INVALID. */
export function readDatabaseUrlSource(reader: SettingsReader): DatabaseUrlSource | undefined {
  const urlFile = readPath(reader, FILE);
  const urlVariable = reader.text(VARIABLE);
  if (urlFile !== undefined && urlVariable !== undefined)
    throw invalidSetting(VARIABLE, urlVariable, `no value beside ${FILE}`);
  if (urlFile !== undefined) return { urlFile };
  return urlVariable === undefined ? undefined : { urlVariable };
}
