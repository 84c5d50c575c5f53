// WebPod: a real `svc proxy` process with certificates and ports of its own, beside a process whose connections a test takes
// and answers by hand.
import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { RawPeer } from '../../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../certificates/certificate-files.ts';
import type { ListeningSocket } from '../../../kit/listening-sockets.ts';
import { SvcProcess } from '../host-process.ts';

/** The program of `svc proxy`, which takes sockets that its parent has given to it. */
const PROXY = join(import.meta.dirname, '..', '..', '..', 'proxy', 'pod', 'main.ts');
export const GATEWAY_ID = 'spiffe://td/ns/svc-platform/sa/gateway';

export function idOf(service: string, project = 'shop'): string {
  return `spiffe://td/ns/svc-${project}/sa/${service}`;
}

/** The process beside a proxy: a listener whose connections a test takes one by one. */
export class PodProcess {
  readonly #server: Server;
  readonly #peers: RawPeer[] = [];
  #wake: () => void = () => undefined;
  accepted = 0;

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.accepted += 1;
      this.#peers.push(new RawPeer(socket));
      this.#wake();
    });
  }

  static async open(port = 0): Promise<PodProcess> {
    const process = new PodProcess();
    process.#server.listen(port, '127.0.0.1');
    await once(process.#server, 'listening');
    return process;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async next(): Promise<RawPeer> {
    while (this.#peers.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#peers.shift()!;
  }

  /** Listens no more, and closes all connections. */
  close(): void {
    this.#server.close();
    for (const { socket } of this.#peers.splice(0)) socket.destroy();
  }
}

export interface PodOptions {
  readonly authority: CertificateAuthority;
  /** Folder of the pod's files. */
  readonly folder: string;
  readonly service?: string;
  readonly project?: string;
  /** Settings beside those of the pod, and in their place; empty: the setting is not given. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port of a process that is not this object's. */
  readonly processPort?: number;
  /** Listening sockets that the proxy is given. */
  readonly sockets?: readonly ListeningSocket[];
}

export class WebPod {
  readonly svc: SvcProcess;
  readonly process: PodProcess;
  readonly authority: CertificateAuthority;
  /** Folder of its certificates. */
  readonly certificates: string;
  servicePort = 0;
  callingPort = 0;
  readinessPort = 0;
  readonly #servicesFile: string;

  private constructor(
    process: PodProcess,
    {
      authority,
      folder,
      service = 'web',
      project = 'shop',
      settings = {},
      processPort,
      sockets = [],
    }: PodOptions,
  ) {
    this.process = process;
    this.authority = authority;
    this.certificates = join(folder, 'identity');
    this.#servicesFile = join(folder, 'services.json');
    mkdirSync(this.certificates, { recursive: true });
    this.locate({});
    const all: Readonly<Record<string, string>> = {
      'svc.name': service,
      'svc.project': project,
      'svc.identity.folder': this.certificates,
      'svc.identity.trust-domain': 'td',
      'svc.identity.gateway': GATEWAY_ID,
      'svc.proxy.host': '127.0.0.1',
      'svc.proxy.port': '0',
      'svc.proxy.calling-port': '0',
      'svc.proxy.readiness-port': '0',
      'svc.proxy.process-port': String(processPort ?? process.port),
      'svc.proxy.services-file': this.#servicesFile,
      ...settings,
    };
    const given = Object.entries(all).filter(([, value]) => value !== '');
    const words = given.flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    this.svc =
      sockets.length === 0
        ? new SvcProcess(['proxy', ...words])
        : new SvcProcess(words, { program: PROXY, sockets });
  }

  /** Resolves once it listens on all ports. */
  static async start(options: PodOptions): Promise<WebPod> {
    const { authority, folder, service = 'web', project = 'shop' } = options;
    const issued = await authority.issue({ uris: [idOf(service, project)] });
    mkdirSync(join(folder, 'identity'), { recursive: true });
    writeCertificates(join(folder, 'identity'), certificateTexts(issued, authority));
    const pod = new WebPod(await PodProcess.open(), options);
    pod.servicePort = await pod.#listening('service');
    pod.callingPort = await pod.#listening('calling');
    pod.readinessPort = await pod.#listening('readiness');
    return pod;
  }

  /** Writes the file in which the proxy finds services: a port or several by `<project>/<service>`. */
  locate(services: Readonly<Record<string, number | readonly number[]>>): void {
    const listed = Object.entries(services).map(([name, ports]) => [
      name,
      [ports].flat().map((port) => `127.0.0.1:${port}`),
    ]);
    writeFileSync(this.#servicesFile, JSON.stringify({ services: Object.fromEntries(listed) }));
  }

  /** A connection to the service port, with a certificate that names the id. */
  async connectAs(
    id: string | readonly string[],
    options: ConnectionOptions = {},
  ): Promise<RawPeer> {
    const uris = typeof id === 'string' ? [id] : id;
    const { certificate, key } = await this.authority.issue({ uris });
    return dialTls(this.servicePort, {
      cert: certificate,
      key,
      ca: this.authority.certificate,
      ...options,
    });
  }

  /** A connection to a Unix domain socket, with a certificate that names the id. */
  async connectBySocket(path: string, id: string): Promise<RawPeer> {
    const { certificate, key } = await this.authority.issue({ uris: [id] });
    return dialTls(0, { path, cert: certificate, key, ca: this.authority.certificate });
  }

  /** A connection of the process to the calling port. */
  connectToCall(): Promise<RawPeer> {
    return dialTcp(this.callingPort);
  }

  connectToReadiness(): Promise<RawPeer> {
    return dialTcp(this.readinessPort);
  }

  async end(): Promise<void> {
    this.process.close();
    await this.svc.end('SIGKILL');
  }

  async #listening(name: string): Promise<number> {
    const line = new RegExp(`"port":(\\d+),"message":"${name} port listening"`);
    await this.svc.logged(line);
    return Number(line.exec(this.svc.stderr)![1]);
  }
}

export async function dialTcp(port: number, host = '127.0.0.1'): Promise<RawPeer> {
  const socket = connectTcp({ host, port, allowHalfOpen: true });
  await once(socket, 'connect');
  return new RawPeer(socket);
}

export async function dialTls(port: number, options: ConnectionOptions): Promise<RawPeer> {
  const halfOpen = { allowHalfOpen: true };
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    checkServerIdentity: () => undefined,
    ...halfOpen,
    ...options,
  });
  await once(socket, 'secureConnect');
  return new RawPeer(socket);
}
