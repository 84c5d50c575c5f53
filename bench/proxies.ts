// Proxies: the proxies that measurements (y) to (z) compare, each a process of its own in front of the same web process:
// `svc web` (plain) and `svc proxy` (mutual TLS), nginx with one worker, and haproxy with one thread. All of them add
// the same fields to a request, keep their connections to the web process open, write no access log, resume no session
// and stream what they pass.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { CertificateAuthority } from '../test/support/certificates/certificate-authority.ts';
import type { FrontProcessors } from './front-measures.ts';
import {
  endAll,
  freePort,
  nginxConfig,
  nodeOn,
  type PeerKind,
  plain,
  type Served,
  type Started,
  started,
  startPeer,
} from './fronts.ts';

export type ProxyKind = 'svc' | PeerKind;
export type Front = 'plain' | 'mutual TLS';

const root = join(import.meta.dirname, '..');
const cli = join(root, 'cli', 'bin', 'svc.js');
const GATEWAY_ID = 'spiffe://td/ns/svc-platform/sa/gateway';
const SERVICE_ID = 'spiffe://td/ns/svc-shop/sa/web';
/** Connections to the web process that nginx keeps: as many as the measurements open at once. */
const KEPT_CONNECTIONS = 256;

interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** The web process, as the command of `svc web`, and the proxies in front of it. */
export class ProxyBench {
  /** The web process without a proxy. */
  readonly direct: Served;
  readonly #processPort: number;
  readonly #processors: FrontProcessors;
  readonly #folder: string;
  readonly #client: ClientCertificate;
  readonly #web: Served;
  readonly #children: ChildProcess[];

  private constructor(
    folder: string,
    client: ClientCertificate,
    processPort: number,
    processors: FrontProcessors,
    { child, port }: Started,
  ) {
    this.direct = { pid: child.pid!, dial: () => plain(processPort) };
    this.#web = { pid: child.pid!, dial: () => plain(port) };
    this.#folder = folder;
    this.#client = client;
    this.#processPort = processPort;
    this.#processors = processors;
    this.#children = [child];
  }

  static async open(processors: FrontProcessors): Promise<ProxyBench> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    const client = await writeIdentity(join(folder, 'identity'));
    const processPort = await freePort();
    const program = join(root, 'bench', 'web-process.ts');
    const process = nodeOn(processors.behind, program, `${processPort}`);
    const options = ['--port', '0', '--process-port', `${processPort}`, '--name', 'web'];
    const svc = await started(
      nodeOn(processors.front, cli, 'web', ...options, '--', ...process.flat()),
      [/^http:\S+:(\d+)$/m],
    );
    return new ProxyBench(folder, client, processPort, processors, svc);
  }

  /** Starts a proxy, or returns the one that runs. Resolves once it accepts connections. */
  async start(kind: ProxyKind, front: Front): Promise<Served> {
    if (kind === 'svc' && front === 'plain') return this.#web;
    const { child, port } = await (kind === 'svc'
      ? this.#startSvcProxy()
      : this.#startPeer(kind, front));
    this.#children.push(child);
    return { pid: child.pid!, dial: () => this.#dial(port, front) };
  }

  async close(): Promise<void> {
    await endAll(this.#children);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #dial(port: number, front: Front): Socket {
    if (front === 'plain') return plain(port);
    const options = { host: '127.0.0.1', port, ...this.#client, checkServerIdentity: anybody };
    return connectTls(options).setNoDelay(true);
  }

  async #startSvcProxy(): Promise<Started> {
    const settings = {
      'svc.name': 'web',
      'svc.project': 'shop',
      'svc.log': 'json',
      'svc.identity.folder': join(this.#folder, 'identity'),
      'svc.identity.trust-domain': 'td',
      'svc.identity.gateway': GATEWAY_ID,
      'svc.proxy.host': '127.0.0.1',
      'svc.proxy.port': '0',
      'svc.proxy.calling-port': '0',
      'svc.proxy.readiness-port': '0',
      'svc.proxy.process-port': String(this.#processPort),
      'svc.proxy.base-domain': 'example.org',
    };
    const words = Object.entries(settings).flatMap((setting) => ['--set', setting.join('=')]);
    return started(nodeOn(this.#processors.front, cli, 'proxy', ...words), [
      /"port":(\d+),"message":"service port listening"/,
      /"message":"readiness port listening"/,
    ]);
  }

  async #startPeer(kind: PeerKind, front: Front): Promise<Started> {
    const port = await freePort();
    const folder = join(this.#folder, `${kind}-${port}`);
    const identity = join(this.#folder, 'identity');
    const options = { port, processPort: this.#processPort, folder, identity, front };
    const config = kind === 'nginx' ? nginxProxy(options) : haproxyProxy(options);
    return startPeer(kind, { folder, port, config, processors: this.#processors.front });
  }
}

interface PeerOptions {
  readonly port: number;
  readonly processPort: number;
  readonly folder: string;
  readonly identity: string;
  readonly front: Front;
}

function nginxProxy({ port, processPort, folder, identity, front }: PeerOptions): string {
  const tls = `
    ssl_certificate ${identity}/tls.crt;
    ssl_certificate_key ${identity}/tls.key;
    ssl_client_certificate ${identity}/ca.crt;
    ssl_verify_client on;
    ssl_protocols TLSv1.3;
    ssl_session_tickets off;
    ssl_session_cache off;`;
  const http = `
  upstream process {
    server 127.0.0.1:${processPort};
    keepalive ${KEPT_CONNECTIONS};
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port}${front === 'plain' ? '' : ' ssl'} backlog=4096;
    ${front === 'plain' ? '' : tls}
    location / {
      proxy_pass http://process;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Svc-Caller internet;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
    }
  }`;
  return nginxConfig({ folder, http });
}

function haproxyProxy({ port, processPort, identity, front }: PeerOptions): string {
  const tls = ` ssl crt ${identity}/pair.pem ca-file ${identity}/ca.crt verify required ssl-min-ver TLSv1.3 no-tls-tickets`;
  return `
global
  nbthread 1
  maxconn 8192
  tune.ssl.cachesize 0
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  option http-no-delay
frontend front
  bind 127.0.0.1:${port}${front === 'plain' ? '' : tls}
  http-request set-header X-Svc-Caller internet
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Port 443
  default_backend process
backend process
  http-reuse always
  server process 127.0.0.1:${processPort}
`;
}

/** Writes the certificate of the service, and returns that of a client, which is the gateway. */
async function writeIdentity(folder: string): Promise<ClientCertificate> {
  const authority = await CertificateAuthority.create('bench');
  const service = await authority.issue({ uris: [SERVICE_ID] });
  mkdirSync(folder);
  writeFileSync(join(folder, 'tls.crt'), service.certificate);
  writeFileSync(join(folder, 'tls.key'), service.key);
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  // haproxy reads both from one file.
  writeFileSync(join(folder, 'pair.pem'), service.certificate + service.key);
  const { certificate, key } = await authority.issue({ uris: [GATEWAY_ID] });
  return { cert: certificate, key, ca: authority.certificate };
}

/** Accepts every certificate of the authority: the proxies have the same one, which names no host. */
function anybody(): undefined {
  return undefined;
}
