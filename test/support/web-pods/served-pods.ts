// ServedPods: pods that answer requests by themselves, as a cluster runs them: a web server in the test's process beside a
// real `svc proxy`, or a component that a real `svc run` serves.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { certificateTexts, mountCertificates } from '../certificates/certificate-files.ts';
import { SvcProcess } from '../host-process.ts';
import { GATEWAY_ID, idOf, WebPod } from './web-pod.ts';

export interface PodStart {
  /** Folder of the pod's files, which does not exist. */
  readonly folder: string;
  readonly service: string;
  readonly authority: CertificateAuthority;
}

/** A pod of a service of the project `shop`. */
export interface ServedPod {
  readonly svc: SvcProcess;
  /** Folder of its certificates. */
  readonly certificates: string;
  readonly servicePort: number;
  /** Says where services are: ports by `<project>/<service>`. */
  locate(services: Readonly<Record<string, readonly number[]>>): void;
  /** Stops the pod as a cluster does. Rejects if a process does not end with the code 0. */
  stop(): Promise<void>;
  /** Ends the pod at once, whether or not it was stopped. */
  kill(): Promise<void>;
}

export interface WebServer {
  readonly settings: Readonly<Record<string, string>>;
  /** Answers the requests. `servicesUrl` returns the address for calls. */
  readonly respond: (servicesUrl: () => string) => RequestListener;
}

/** Starts a pod of a web server. */
export async function startWebServer(
  { folder, service, authority }: PodStart,
  { settings, respond }: WebServer,
): Promise<ServedPod> {
  let servicesUrl = '';
  const server = createServer(respond(() => servicesUrl));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  mkdirSync(folder);
  const { port: processPort } = server.address() as AddressInfo;
  const pod = await WebPod.start({ authority, folder, service, processPort, settings });
  servicesUrl = `http://127.0.0.1:${pod.callingPort}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return {
    svc: pod.svc,
    certificates: pod.certificates,
    servicePort: pod.servicePort,
    locate: (services) => pod.locate(services),
    async stop() {
      await stopped(pod.svc);
      // The process ends after the proxy, and so it answers what the proxy still passes.
      close();
    },
    async kill() {
      await pod.end();
      close();
    },
  };
}

/** Starts a pod of a component, with a journal of its own in two shards. */
export async function startComponent(
  { folder, service, authority }: PodStart,
  module: string,
): Promise<ServedPod> {
  const certificates = join(folder, 'identity');
  mkdirSync(certificates, { recursive: true });
  const issued = await authority.issue({ uris: [idOf(service)] });
  mountCertificates(certificates, certificateTexts(issued, authority));
  const settings = {
    'svc.name': service,
    'svc.project': 'shop',
    'svc.identity.folder': certificates,
    'svc.identity.trust-domain': 'td',
    'svc.identity.gateway': GATEWAY_ID,
    'svc.http.host': '127.0.0.1',
    'svc.shards': '2',
  };
  const words = Object.entries(settings).flatMap((setting) => ['--set', setting.join('=')]);
  const data = dataFolderOf(folder);
  const run = ['run', '--deployed', module, '--data', data, '--port', '0'];
  const svc = new SvcProcess([...run, ...words]);
  return {
    svc,
    certificates,
    servicePort: Number(new URL(await svc.listening()).port),
    locate() {},
    stop: async () => stopped(svc),
    kill: async () => void (await svc.end('SIGKILL')),
  };
}

/** Returns the number of events of each entity of a component, in the journal of a pod that has stopped. */
export function eventsOf(podFolder: string, component: string): ReadonlyMap<string, number> {
  const cli = join(import.meta.dirname, '..', '..', '..', 'cli', 'bin', 'svc.js');
  const words = ['journal', dataFolderOf(podFolder), component, '--limit', 'all', '-o', 'json'];
  const text = execFileSync(process.execPath, [cli, ...words], { maxBuffer: 64 * 1024 * 1024 });
  const { entities } = JSON.parse(String(text)) as {
    readonly entities: readonly { readonly id: string; readonly events: number }[];
  };
  return new Map(entities.map(({ id, events }) => [id, events]));
}

function dataFolderOf(podFolder: string): string {
  return join(podFolder, 'data');
}

async function stopped(svc: SvcProcess): Promise<void> {
  const { code, stderr } = await svc.end('SIGTERM');
  if (code !== 0) throw new Error(`a pod ended with ${code}:\n${stderr}`);
}
