// LogWithoutSecrets is a log whose lines have `***` in the place of the secrets of the configuration, wherever a line comes from: the
// module, a failure that quotes it, or a thread that folds events that the module has stored.
import type { Log } from '@svc/kit/log';
import type { LogEntry } from '@svc/kit/log-entry';
import type { CurrentConfiguration } from '@svc/model/configuration';

type Secrets = Pick<CurrentConfiguration, 'texts' | 'withoutSecrets'>;

/** `secrets`: returns those that are in use; undefined: there are none yet. */
export function logWithoutSecrets(log: Log, secrets: () => Secrets | undefined): Log {
  return (entry) => {
    const known = secrets();
    const hasSecrets = known?.texts !== undefined && known.texts.secrets.length > 0;
    log(hasSecrets ? shownEntry(entry, known) : entry);
  };
}

function shownEntry(entry: LogEntry, secrets: Secrets): LogEntry {
  const { message, fields } = entry;
  const shown = Object.entries(fields ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? secrets.withoutSecrets(value) : value,
  ]);
  return {
    ...entry,
    message: secrets.withoutSecrets(message),
    ...(fields === undefined
      ? {}
      : { fields: Object.fromEntries(shown) as NonNullable<LogEntry['fields']> }),
  };
}
