// A supervised service whose shard's threads do what a test tells them to (acting-shard.ts).
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import { onTestFinished } from 'vitest';
import type { GuestSource } from '../../host/hosting/guest-source.ts';
import { SECTION_DEFAULTS } from '../../host/service/section-settings.ts';
import type { CertificateTexts } from '../../identity/certificates.ts';
import type { LogEntry } from '../../kit/log-entry.ts';
import {
  SUPERVISOR_LIMITS_DEFAULT,
  type SupervisorLimits,
} from '../../host/shards/supervisor-limits.ts';
import { Supervisor } from '../../host/shards/supervisor.ts';
import type { JournalConnection } from '../../host/storage/journal-connection.ts';

export const descriptor: ModuleDescriptor = {
  protocol: '0.1.0',
  sdk: { name: 'test', version: '1.0.0' },
  types: {},
  entities: [],
  endpoints: [],
};
export const ADMIT = `
  const serve = told('serve');
  tell({ kind: 'admitted', descriptor: ${JSON.stringify(descriptor)} });
  const { journal } = await serve;
  const closeJournal = () => journal.ports.forEach((port) => port.close());`;
/** On port 0 it is given one; a port that it is told to keep, it keeps. No machine has this address (RFC 5737). */
export const LISTEN = `
  const stop = told('stop');
  const { port } = settings.address;
  tell({ kind: 'log', entry: { level: 'info', message: 'asked for port ' + port } });
  tell({ kind: 'listening', address: { host: '192.0.2.1', port: port || 4711 } });`;
export const SERVE = `${ADMIT}${LISTEN} await stop; closeJournal(); tell({ kind: 'stopped' });`;

/** A connection through this port. Acting shards do nothing with it but close it. */
export function connectionOf(port: MessagePort): JournalConnection {
  return { kind: 'sqlite', dir: '/nowhere', end: new SharedArrayBuffer(8), ports: [port] };
}

const IDENTITY = {
  project: 'shop',
  rules: { trustDomain: 'td', gatewayId: 'spiffe://td/gateway' },
};

interface Options {
  readonly limits?: Partial<SupervisorLimits>;
  readonly connect?: () => Promise<JournalConnection>;
  readonly shards?: number;
  readonly port?: number;
  readonly certificates?: () => CertificateTexts;
}

export function supervise(
  program: string,
  { limits = {}, connect, shards = 1, port = 0, certificates }: Options = {},
) {
  const log: LogEntry[] = [];
  const logged = new Set<() => void>();
  let connects = 0;
  const supervisor = new Supervisor({
    shardFile: new URL('./acting-shard.ts', import.meta.url),
    settings: {
      name: 'test',
      deployed: false,
      http: true,
      address: { host: '127.0.0.1', port },
      count: shards,
      sections: SECTION_DEFAULTS,
      ...(certificates === undefined ? {} : { identity: IDENTITY }),
    },
    certificates,
    source: Promise.resolve(program as unknown as GuestSource),
    limits: { ...SUPERVISOR_LIMITS_DEFAULT, ...limits },
    env: { GIVEN: '1' },
    connectJournal: async () => {
      connects++;
      return connect === undefined ? connectionOf(new MessageChannel().port1) : connect();
    },
    log: (entry) => {
      log.push(entry);
      for (const look of logged) look();
    },
  });
  onTestFinished(async () => void (await supervisor.stop()));
  return {
    supervisor,
    log,
    connects: () => connects,
    restarts: () => log.filter(({ fields }) => fields?.['code'] === 'SVC_SHARD_FAILED'),
    /** Resolves once so many lines of the log have the message. */
    logs: async (message: string, count: number): Promise<void> => {
      const enough = Promise.withResolvers<void>();
      const look = () => {
        if (log.filter((entry) => entry.message === message).length >= count) enough.resolve();
      };
      logged.add(look);
      look();
      return enough.promise;
    },
  };
}

export const failsWith = async (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as Error & { code: string },
  );
