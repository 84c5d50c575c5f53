// ProcessGuest: implements the engine's Guest for code that runs in a process of its own. The process has no sandbox: it is trusted as
// far as the machine and its user let it reach.
import type { Guest, GuestEntities } from '@svc/model/guest';
import type { GuestLog, GuestLogLevel } from '@svc/model/guest-log';
import type { Log } from '@svc/process-protocol/process';
import { ProcessEntity } from './process-entity.ts';
import { ProcessConsumers, ProcessEndpoints } from './process-handlers.ts';
import { ProcessLink } from './process-link.ts';
import type { ProcessSettings } from './process-settings.ts';
import type { ProcessSource } from './process-source.ts';
import type { GuestShard } from '../guest-shard.ts';
import { ProcessViews } from './process-views.ts';

const LEVELS: ReadonlySet<string> = new Set<GuestLogLevel>(['debug', 'info', 'warn', 'error']);

/**
 * Connects to the process, and starts a guest that has a stream of its own, which is opened again whenever it ends. Rejects as
 * `ProcessLink.open` does.
 */
export async function startProcessGuest(
  source: ProcessSource,
  ofShard: GuestShard,
  log: GuestLog,
): Promise<Guest> {
  const link = new ProcessLink({ source, ofShard, log: (line) => log(logLine(line)) });
  await link.open();
  return processGuest(source, link);
}

function processGuest(source: ProcessSource, link: ProcessLink): Guest {
  const { descriptor, fingerprint, isFingerprinted, connection } = source;
  const { settings } = connection;
  const { views = [], consumers = [] } = descriptor;
  return {
    descriptor,
    fingerprint: isFingerprinted ? fingerprint : undefined,
    entities: entitiesOf(link, settings),
    endpoints: new ProcessEndpoints(link, settings, descriptor),
    views: views.length === 0 ? undefined : new ProcessViews(() => link.stream, settings),
    consumers: consumers.length === 0 ? undefined : new ProcessConsumers(link, settings),
    close: () => link.close(),
  };
}

function entitiesOf(link: ProcessLink, settings: ProcessSettings): GuestEntities {
  return {
    open({ component, id }, snapshot, alone = false) {
      const { stream } = link;
      return snapshot === undefined
        ? ProcessEntity.openEmpty(stream, settings, { component, id, alone })
        : ProcessEntity.openFrom(stream, settings, { component, id, snapshot, alone });
    },
  };
}

/** Converts a line that a process logs. */
export function logLine({ level, message, source }: Log): Parameters<GuestLog>[0] {
  return {
    level: LEVELS.has(level) ? (level as GuestLogLevel) : 'info',
    message,
    source: source === '' ? 'process' : source,
  };
}
