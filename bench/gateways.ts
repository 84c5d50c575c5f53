// Gateways: what measurements (za) to (zc) compare: `svc gateway` and nginx with one worker, each with TLS of hostnames in front and mutual
// TLS to the same instance behind. Both add the same fields to a request, keep their connections to the instance open, write no access log,
// resume no session and stream what they pass.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { writeRouteFile } from '@svc/routing/route-file';
import {
  CertificateAuthority,
  type CertificateContents,
} from '../test/support/certificates/certificate-authority.ts';
import type { FrontProcessors } from './front-measures.ts';
import {
  accepts,
  endAll,
  freePort,
  nginxConfig,
  nodeOn,
  type PeerKind,
  type Served,
  type Started,
  started,
  startPeer,
} from './fronts.ts';
import { BENCH_HOST } from './proxy-client.ts';

const root = join(import.meta.dirname, '..');
const cli = join(root, 'cli', 'bin', 'svc.js');
const DOMAIN = 'example.org';
const GATEWAY_ID = `spiffe://${DOMAIN}/gateway`;
const INSTANCE_ID = `spiffe://${DOMAIN}/ns/svc-shop/sa/web`;
/** Name in the certificate of the instance, which nginx checks in place of the identity. */
const INSTANCE_NAME = 'web';
const START_MS_MAX = 30_000;
const KEPT_CONNECTIONS = 256;

/** The certificates of an installation, each a folder with tls.crt, tls.key and ca.crt. */
interface Certificates {
  readonly gateway: string;
  readonly instance: string;
  /** The folder of certificates by hostname. */
  readonly hostnames: string;
  /** Certificate of the authority of hostnames. */
  readonly namesCa: string;
  readonly own: { readonly cert: string; readonly key: string; readonly ca: string };
}

/** An instance, and the gateways in front of it. */
export class GatewayBench {
  /** The instance without a gateway, by mutual TLS. */
  readonly direct: Served;
  readonly #folder: string;
  readonly #certificates: Certificates;
  readonly #instancePort: number;
  readonly #processors: FrontProcessors;
  readonly #children: ChildProcess[];

  private constructor(
    folder: string,
    certificates: Certificates,
    processors: FrontProcessors,
    { child, port }: Started,
  ) {
    this.#folder = folder;
    this.#certificates = certificates;
    this.#processors = processors;
    this.#instancePort = port;
    this.#children = [child];
    const options = { ...certificates.own, servername: INSTANCE_NAME };
    this.direct = { pid: child.pid!, dial: () => dial(port, options) };
  }

  static async open(processors: FrontProcessors): Promise<GatewayBench> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    const certificates = await writeCertificates(folder);
    const port = await freePort();
    const instance = { name: 'web-1-a', address: '127.0.0.1', port };
    const service = { key: 'shop/web', state: 'serving', identity: INSTANCE_ID } as const;
    const services = [{ ...service, hostnames: [BENCH_HOST], instances: [instance] }];
    await writeRouteFile(join(folder, 'routes.json'), { version: 1, services });
    const program = join(root, 'bench', 'web-process.ts');
    const [command, args] = nodeOn(processors.behind, program, `${port}`, certificates.instance);
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const untilMs = performance.now() + START_MS_MAX;
    while (!(await accepts(port))) {
      if (performance.now() > untilMs) throw new Error('the instance does not listen');
      await pause(20);
    }
    return new GatewayBench(folder, certificates, processors, { child, port });
  }

  /** Starts a gateway. Resolves once it accepts connections. */
  async start(kind: 'svc' | PeerKind): Promise<Served> {
    const { child, port } = await (kind === 'svc' ? this.#startSvc() : this.#startNginx());
    this.#children.push(child);
    const options = { ca: this.#certificates.namesCa, servername: BENCH_HOST };
    return { pid: child.pid!, dial: () => dial(port, options) };
  }

  async close(): Promise<void> {
    await endAll(this.#children);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #startSvc(): Promise<Started> {
    const settings = {
      'svc.log': 'json',
      'svc.gateway.host': '127.0.0.1',
      'svc.gateway.port': '0',
      'svc.gateway.plain-port': '0',
      'svc.gateway.base-domain': DOMAIN,
      'svc.gateway.certificates': this.#certificates.hostnames,
      'svc.gateway.routes-file': join(this.#folder, 'routes.json'),
      'svc.identity.folder': this.#certificates.gateway,
    };
    const words = Object.entries(settings).flatMap((setting) => ['--set', setting.join('=')]);
    return started(nodeOn(this.#processors.front, cli, 'gateway', ...words), [
      /"port":(\d+),"message":"https listening"/,
    ]);
  }

  async #startNginx(): Promise<Started> {
    const port = await freePort();
    const folder = join(this.#folder, `nginx-${port}`);
    const { gateway, hostnames } = this.#certificates;
    const http = `
  upstream instance {
    server 127.0.0.1:${this.#instancePort};
    keepalive ${KEPT_CONNECTIONS};
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} ssl backlog=4096;
    ssl_certificate ${hostnames}/default.crt;
    ssl_certificate_key ${hostnames}/default.key;
    ssl_protocols TLSv1.3;
    ssl_session_tickets off;
    ssl_session_cache off;
    location / {
      proxy_pass https://instance;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_ssl_certificate ${gateway}/tls.crt;
      proxy_ssl_certificate_key ${gateway}/tls.key;
      proxy_ssl_trusted_certificate ${gateway}/ca.crt;
      proxy_ssl_verify on;
      proxy_ssl_name ${INSTANCE_NAME};
      proxy_ssl_protocols TLSv1.3;
      proxy_ssl_session_reuse off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
    }
  }`;
    const config = nginxConfig({ folder, http });
    return startPeer('nginx', { folder, port, config, processors: this.#processors.front });
  }
}

function dial(port: number, options: object): Socket {
  return connectTls({ host: '127.0.0.1', port, ...options }).setNoDelay(true);
}

async function writeCertificates(folder: string): Promise<Certificates> {
  const identities = await CertificateAuthority.create('identities');
  const names = await CertificateAuthority.create('names');
  const issue = async (name: string, contents: CertificateContents) => {
    const { certificate, key } = await identities.issue(contents);
    const own = join(folder, name);
    mkdirSync(own);
    writeFileSync(join(own, 'tls.crt'), certificate);
    writeFileSync(join(own, 'tls.key'), key);
    writeFileSync(join(own, 'ca.crt'), identities.certificate);
    return { folder: own, own: { cert: certificate, key, ca: identities.certificate } };
  };
  const gateway = await issue('gateway', { uris: [GATEWAY_ID] });
  const instance = await issue('instance', { uris: [INSTANCE_ID], dnsNames: [INSTANCE_NAME] });
  const hostnames = join(folder, 'hostnames');
  mkdirSync(hostnames);
  const { certificate, key } = await names.issue({ dnsNames: [`*.${DOMAIN}`] });
  writeFileSync(join(hostnames, 'default.key'), key);
  writeFileSync(join(hostnames, 'default.crt'), certificate);
  return {
    gateway: gateway.folder,
    instance: instance.folder,
    hostnames,
    namesCa: names.certificate,
    own: gateway.own,
  };
}
