// TestGateway: a real `svc gateway` process with certificates of its own, which follows the routes that a test publishes, and instances
// with mutual TLS that a test answers for.
import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { RouteServer } from '../../../routing/route-server.ts';
import type { RoutedInstance, RoutedService } from '../../../routing/route-table.ts';
import type { RawPeer } from '../../forward/support/raw-peer.ts';
import {
  CertificateAuthority,
  type CertificateContents,
} from '../certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../certificates/certificate-files.ts';
import { SvcProcess } from '../host-process.ts';
import { dialTls } from '../web-pods/web-pod.ts';

export const DOMAIN = 'svc.test';
export const GATEWAY_ID = `spiffe://${DOMAIN}/gateway`;

export function idOf(service: string, project = 'shop'): string {
  return `spiffe://${DOMAIN}/ns/svc-${project}/sa/${service}`;
}

/** Returns a route of a service of the project `shop` that is exposed at its derived hostname. */
export function exposed(
  service: string,
  instances: readonly RoutedInstance[],
  changes: Partial<RoutedService> = {},
): RoutedService {
  return {
    key: `shop/${service}`,
    state: 'serving',
    identity: idOf(service),
    hostnames: [`${service}-shop.${DOMAIN}`],
    instances,
    ...changes,
  };
}

/** The authorities of an installation, and the folder of its files. */
export interface Installation {
  readonly folder: string;
  /** Issues identities. */
  readonly identities: CertificateAuthority;
  /** Issues certificates for hostnames. */
  readonly names: CertificateAuthority;
}

/** Makes the files that a gateway reads: its identity, and the certificate `default` for all derived hostnames. */
export async function install(folder: string, gatewayId = GATEWAY_ID): Promise<Installation> {
  const installation = {
    folder,
    identities: await CertificateAuthority.create('identities'),
    names: await CertificateAuthority.create('names'),
  };
  for (const name of ['identity', 'certificates']) mkdirSync(join(folder, name));
  const own = await installation.identities.issue({ uris: [gatewayId] });
  writeCertificates(join(folder, 'identity'), certificateTexts(own, installation.identities));
  await certify(installation, 'default', { dnsNames: [`*.${DOMAIN}`, DOMAIN] });
  return installation;
}

/** Writes the files of a certificate for hostnames. */
export async function certify(
  { folder, names }: Installation,
  name: string,
  contents: CertificateContents,
): Promise<void> {
  const { certificate, key } = await names.issue(contents);
  writeFileSync(join(folder, 'certificates', `${name}.key`), key);
  writeFileSync(join(folder, 'certificates', `${name}.crt`), certificate);
}

/** Starts an instance of a service, with the identity of the service unless another one is given. */
export async function startInstance(
  { identities }: Installation,
  service: string,
  listener: RequestListener,
  id = idOf(service),
): Promise<RoutedInstance & { readonly server: Server }> {
  const { certificate: cert, key } = await identities.issue({ uris: [id] });
  const server = createServer(
    { cert, key, ca: identities.certificate, requestCert: true, rejectUnauthorized: true },
    listener,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { name: `${service}-1-${port}`, address: '127.0.0.1', port, server };
}

export class TestGateway {
  readonly svc: SvcProcess;
  readonly installation: Installation;
  port = 0;

  private constructor(svc: SvcProcess, installation: Installation) {
    this.svc = svc;
    this.installation = installation;
  }

  /** Resolves once the gateway listens. `settings`: beside those that it needs, and in their place. */
  static async start(
    installation: Installation,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TestGateway> {
    const gateway = new TestGateway(
      new SvcProcess(['gateway', ...gatewayWords(installation, settings)]),
      installation,
    );
    gateway.port = await gateway.portOf('https');
    return gateway;
  }

  /** Opens a connection with the server name; undefined: without one. */
  connect(servername: string | undefined, options: ConnectionOptions = {}): Promise<RawPeer> {
    return dialTls(this.port, {
      ca: this.installation.names.certificate,
      ...(servername === undefined ? {} : { servername }),
      ...options,
    });
  }

  /** Sends a GET at the hostname, on a connection of its own; the response has its status, its fields in lower case, and its body. */
  async get(
    hostname: string,
    fields: readonly string[] = [],
    path = '/',
  ): Promise<{
    readonly status: number;
    readonly lines: readonly string[];
    readonly body: string;
  }> {
    const client = await this.connect(hostname);
    client.write(
      [`GET ${path} HTTP/1.1`, `Host: ${hostname}`, 'Connection: close', ...fields, '', ''].join(
        '\r\n',
      ),
    );
    const { lines, body } = await client.message();
    client.socket.destroy();
    return { status: Number(lines[0]!.split(' ')[1]), lines, body };
  }

  async portOf(name: 'https' | 'http'): Promise<number> {
    const line = new RegExp(`"port":(\\d+),"message":"${name} listening"`);
    await this.svc.logged(line);
    return Number(line.exec(this.svc.stderr)![1]);
  }
}

/** Returns the words of the command line that start a gateway. */
export function gatewayWords(
  { folder }: Installation,
  settings: Readonly<Record<string, string>> = {},
): readonly string[] {
  const all: Readonly<Record<string, string>> = {
    'svc.gateway.base-domain': DOMAIN,
    'svc.gateway.host': '127.0.0.1',
    'svc.gateway.port': '0',
    'svc.gateway.plain-port': '0',
    'svc.gateway.certificates': join(folder, 'certificates'),
    'svc.gateway.routes-socket': join(folder, 'routes.sock'),
    'svc.gateway.routes-file': join(folder, 'routes.json'),
    'svc.identity.folder': join(folder, 'identity'),
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) =>
    value === '' ? [] : ['--set', `${name}=${value}`],
  );
}

/** Listens for the gateway as an orchestrator does. */
export function startRouteServer({ folder }: Installation): Promise<RouteServer> {
  return RouteServer.listen(join(folder, 'routes.sock'));
}
