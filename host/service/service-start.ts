// ServiceStart announces that a service has started.
import { relative } from 'node:path';
import type { Log } from '@svc/kit/log';
import { journalAt, locationName } from '../storage/journal-location.ts';
import { announcement } from '../introspection/announcement.ts';
import { followerCounts } from '../introspection/follower-counts.ts';
import type { ServedAddress } from '../introspection/introspection-part.ts';
import { reportUncallable } from './own-name.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings } from './settings.ts';

/**
 * Announces the service: as text for a person or as a log entry on stderr, and with its URL alone on stdout for a
 * script. A service without HTTP has only a log entry.
 */
export function announce(
  { name, dataFolder, database, deployed, logFormat }: Settings<SettingsSections>,
  log: Log,
  { url, descriptor }: ServedAddress,
): void {
  reportUncallable(name, log);
  const { pid } = process;
  const location = journalAt(dataFolder, database);
  const journal = locationName(location);
  const where = location.kind === 'folder' ? {} : { journal };
  const fields = { dataFolder, ...where, pid, ...followerCounts(descriptor) };
  if (url === undefined) {
    log({ level: 'info', message: 'serving without HTTP', fields });
    return;
  }
  if (deployed || logFormat === 'json')
    log({ level: 'info', message: 'listening', fields: { url, ...fields } });
  else
    process.stderr.write(
      announcement({
        name,
        url,
        journal: location.kind === 'folder' ? relative(process.cwd(), dataFolder) || '.' : journal,
        pid,
        descriptor,
      }),
    );
  process.stdout.write(`${url}\n`);
}
