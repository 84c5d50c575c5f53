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
 * Connects to the process, and returns a function that starts guests. They share a stream, which ends with the last of them. Rejects as
 * `ProcessLink.open` does.
 */
export async function processStarter(
  source: ProcessSource,
  ofShard: GuestShard,
): Promise<(log: GuestLog) => Guest> {
  let write: GuestLog | undefined;
  let open = 0;
  const link = new ProcessLink({ source, ofShard, log: (line) => write?.(lineOf(line)) });
  await link.open();
  return (log) => {
    write = log;
    open += 1;
    let isClosed = false;
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      open -= 1;
      if (open === 0) link.close();
    };
    return processGuest(source, link, close);
  };
}

function processGuest(source: ProcessSource, link: ProcessLink, close: () => void): Guest {
  const { descriptor, fingerprint, isFingerprinted, connection } = source;
  const { settings } = connection;
  const { views = [], consumers = [] } = descriptor;
  return {
    descriptor,
    fingerprint: isFingerprinted ? fingerprint : undefined,
    entities: entitiesOf(link, settings),
    endpoints: new ProcessEndpoints(link, settings, descriptor),
    views: views.length === 0 ? undefined : new ProcessViews(link, settings),
    consumers: consumers.length === 0 ? undefined : new ProcessConsumers(link, settings),
    close,
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

function lineOf({ level, message, source }: Log): Parameters<GuestLog>[0] {
  return {
    level: LEVELS.has(level) ? (level as GuestLogLevel) : 'info',
    message,
    source: source === '' ? 'process' : source,
  };
}
