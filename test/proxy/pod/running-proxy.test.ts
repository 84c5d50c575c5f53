// The phases of a proxy, as the state file has them.
import { createServer, connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { ServiceStatus } from '../../../kit/service-status.ts';
import type { ServicePhase } from '../../../kit/state-file.ts';
import { readProxySettings } from '../../../proxy/pod/proxy-settings.ts';
import { RunningProxy } from '../../../proxy/pod/running-proxy.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import {
  certificateTexts,
  writeCertificates,
} from '../../support/certificates/certificate-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GATEWAY_ID, idOf } from '../../support/web-pods/web-pod.ts';

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

/** Reports each phase. */
class ObservedStatus extends ServiceStatus {
  readonly phases: ServicePhase[] = [];
  readonly #onPhase: (phase: ServicePhase) => void;

  constructor(onPhase: (phase: ServicePhase) => void = () => undefined) {
    super(undefined, () => undefined);
    this.#onPhase = onPhase;
  }

  override enter(phase: Exclude<ServicePhase, 'ended'>): void {
    this.phases.push(phase);
    this.#onPhase(phase);
  }
}

async function runProxy(
  ports: Readonly<Record<string, string>>,
  status: ServiceStatus,
  stopRequested: Promise<string>,
  logged: LogEntry[] = [],
): Promise<void> {
  const folder = join(temporaryFolder(), 'identity');
  mkdirSync(folder);
  const issued = await authority.issue({ uris: [idOf('web')] });
  writeCertificates(folder, certificateTexts(issued, authority));
  const env = {
    SVC_NAME: 'web',
    SVC_PROJECT: 'shop',
    SVC_IDENTITY_FOLDER: folder,
    SVC_IDENTITY_TRUST_DOMAIN: 'td',
    SVC_IDENTITY_GATEWAY: GATEWAY_ID,
    SVC_PROXY_HOST: '127.0.0.1',
    SVC_PROXY_PORT: '0',
    SVC_PROXY_READINESS_PORT: '0',
    SVC_PROXY_CALLING_PORT: '0',
    SVC_PROXY_STOP_TIMEOUT_MS: '100',
    ...ports,
  };
  const settings = readProxySettings({ args: [], env, stderrIsTerminal: false });
  const log = (entry: LogEntry): void => void logged.push(entry);
  await new RunningProxy(settings, { log, status, sockets: [] }).run(stopRequested);
}

async function connects(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.destroy();
}

test('a proxy is ready when all its ports listen, and stops when it is asked to', async () => {
  const stop = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<readonly number[]>();
  const logged: LogEntry[] = [];
  const status = new ObservedStatus((phase) => {
    if (phase === 'ready')
      ready.resolve(logged.flatMap(({ fields }) => fields?.['port'] ?? []) as number[]);
  });
  const run = runProxy({}, status, stop.promise, logged);
  const ports = (await Promise.race([ready.promise, run])) ?? [];
  expect(ports).toHaveLength(3);
  for (const port of ports) await connects(port);
  stop.resolve('test');
  await run;
  expect(status.phases).toEqual(['ready', 'stopping']);
});

test.each(['SVC_PROXY_PORT', 'SVC_PROXY_READINESS_PORT', 'SVC_PROXY_CALLING_PORT'])(
  'a proxy whose port %s is taken was never ready',
  async (setting) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const status = new ObservedStatus();
    const run = runProxy({ [setting]: String(port) }, status, new Promise(() => undefined));
    await expect(run).rejects.toMatchObject({ code: 'SVC_PORT_IN_USE' });
    expect(status.phases).toEqual([]);
  },
);
