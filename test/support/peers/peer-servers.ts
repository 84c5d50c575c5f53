// PeerServers: servers of others as the process behind a proxy. Each answers a request with what it has received, in the field
// `X-Report`: method, target, values of X-Svc-Caller and the body. nginx, haproxy and Apache forward requests to a
// recorder, which reports what they have made of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { notTestedWithout, type PeerProgram } from './peer-programs.ts';
import { type PeerCommand, PeerProcess } from './peer-process.ts';

const SERVERS = join(import.meta.dirname, 'servers');
const APACHE_MODULES = '/usr/lib/apache2/modules';

/** A server that is to be configured. */
interface Site {
  /** Folder of its own. */
  readonly folder: string;
  readonly port: number;
  readonly recorderPort: number;
  /** Time after which it closes an idle connection. */
  readonly idleSeconds: number;
}

const IDLE_SECONDS_DEFAULT = 600;

interface ServerKind {
  readonly needs: readonly PeerProgram[];
  readonly command: (site: Site) => PeerCommand;
}

const KINDS = {
  recorder: { needs: [], command: ({ port }) => nodeCommand('recorder.ts', port) },
  node: {
    needs: [],
    command: ({ port, idleSeconds }) => nodeCommand('node-server.ts', port, idleSeconds),
  },
  python: { needs: ['python3'], command: ({ port }) => pythonCommand('http-server.py', port) },
  wsgi: { needs: ['python3'], command: ({ port }) => pythonCommand('wsgi-server.py', port) },
  php: { needs: ['php'], command: phpCommand },
  nginx: { needs: ['nginx'], command: nginxCommand },
  haproxy: { needs: ['haproxy'], command: haproxyCommand },
  apache: { needs: ['apache2'], command: apacheCommand },
  cgi: { needs: ['apache2', 'php-cgi'], command: cgiCommand },
} as const satisfies Readonly<Record<string, ServerKind>>;

export type PeerServerName = keyof typeof KINDS;
/** Servers with parsers of their own; the others are used with them, or have the same. */
export const DIFFERENT_SERVERS = ['nginx', 'haproxy', 'apache', 'node', 'python', 'php'] as const;

/** Returns why tests that need the servers are left out, and prints it; undefined: all are installed. */
export function notTestedWithoutServers(...names: readonly PeerServerName[]): string | undefined {
  return notTestedWithout(
    ...new Set(names.flatMap((name): PeerProgram[] => [...KINDS[name].needs])),
  );
}

/** Servers that were started together, by their names, with the recorder of those that forward. */
export class PeerServers {
  readonly #processes: ReadonlyMap<PeerServerName, PeerProcess>;

  private constructor(processes: ReadonlyMap<PeerServerName, PeerProcess>) {
    this.#processes = processes;
  }

  /** `idleSeconds`: time after which they close an idle connection. */
  static async start(
    folder: string,
    names: readonly PeerServerName[],
    idleSeconds = IDLE_SECONDS_DEFAULT,
  ): Promise<PeerServers> {
    const common = { parent: folder, recorderPort: 0, idleSeconds };
    const recorder = await start('recorder', common);
    const started = await Promise.allSettled(
      names.map(async (name) => {
        const server = await start(name, { ...common, recorderPort: recorder.port });
        return [name, server] as const;
      }),
    );
    const servers = new PeerServers(
      new Map([
        ['recorder', recorder],
        ...started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
      ]),
    );
    const failed = started.find(({ status }) => status === 'rejected');
    if (failed === undefined) return servers;
    await servers.end();
    throw (failed as PromiseRejectedResult).reason;
  }

  port(name: PeerServerName): number {
    return this.#processes.get(name)!.port;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.end()));
  }
}

interface StartOptions {
  /** Folder in which each server has one of its own. */
  readonly parent: string;
  readonly recorderPort: number;
  readonly idleSeconds: number;
}

async function start(
  name: PeerServerName,
  { parent, recorderPort, idleSeconds }: StartOptions,
): Promise<PeerProcess> {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return PeerProcess.start(
    (port) => KINDS[name].command({ folder, port, recorderPort, idleSeconds }),
    async (port) => (await fetch(`http://127.0.0.1:${port}/`)).headers.has('x-report'),
  );
}

function nodeCommand(file: string, ...args: readonly number[]): PeerCommand {
  return { program: process.execPath, args: [join(SERVERS, file), ...args.map(String)] };
}

function pythonCommand(file: string, port: number): PeerCommand {
  return { program: 'python3', args: [join(SERVERS, file), String(port)] };
}

function phpCommand({ folder, port }: Site): PeerCommand {
  const settings = ['enable_post_data_reading=0', 'display_errors=0', 'memory_limit=1G'];
  return {
    program: 'php',
    args: [
      ...settings.flatMap((setting) => ['-d', setting]),
      '-S',
      `127.0.0.1:${port}`,
      '-t',
      folder,
      join(SERVERS, 'server.php'),
    ],
  };
}

function nginxCommand({ folder, port, recorderPort, idleSeconds }: Site): PeerCommand {
  const config = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  writeFileSync(
    config,
    `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary}
  large_client_header_buffers 8 128k;
  client_max_body_size 0;
  keepalive_requests 1000000000;
  keepalive_timeout ${idleSeconds}s;
  upstream recorder { server 127.0.0.1:${recorderPort}; keepalive 8; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://recorder;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 64k;
      proxy_buffers 8 64k;
    }
  }
}
`,
  );
  return { program: 'nginx', args: ['-e', 'stderr', '-p', folder, '-c', config] };
}

function haproxyCommand({ folder, port, recorderPort, idleSeconds }: Site): PeerCommand {
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(
    config,
    `global
  tune.bufsize 131072
  tune.http.maxhdr 3000
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive ${idleSeconds}s
listen peer
  bind 127.0.0.1:${port}
  server recorder 127.0.0.1:${recorderPort}
`,
  );
  return { program: 'haproxy', args: ['-db', '-f', config] };
}

/** The lines with which every configuration of Apache begins. */
function apacheBeginning({ folder, port, idleSeconds }: Site, modules: readonly string[]): string {
  return `ServerRoot "${folder}"
DefaultRuntimeDir "${folder}"
PidFile "${folder}/httpd.pid"
ErrorLog error.log
LogLevel crit
ServerName localhost
Listen 127.0.0.1:${port}
KeepAliveTimeout ${idleSeconds}
MaxKeepAliveRequests 0
ThreadsPerChild 64
TraceEnable extended
LimitRequestLine 131072
LimitRequestFieldSize 131072
LimitRequestFields 0
${modules.map((name) => `LoadModule ${name}_module "${APACHE_MODULES}/mod_${name}.so"`).join('\n')}
`;
}

function apacheCommand(site: Site): PeerCommand {
  const config = join(site.folder, 'apache.conf');
  writeFileSync(
    config,
    `${apacheBeginning(site, ['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http'])}
RequestHeader set X-Request-Line expr=%{THE_REQUEST}
AllowEncodedSlashes NoDecode
MergeSlashes Off
ProxyPass "/" "http://127.0.0.1:${site.recorderPort}/" nocanon flushpackets=on
`,
  );
  return { program: 'apache2', args: ['-X', '-f', config] };
}

function cgiCommand(site: Site): PeerCommand {
  const config = join(site.folder, 'apache.conf');
  const program = join(site.folder, 'server.cgi');
  writeFileSync(
    program,
    `#!/bin/sh
REDIRECT_STATUS=200 SCRIPT_FILENAME="${join(SERVERS, 'server.php')}" exec php-cgi -q -d enable_post_data_reading=0
`,
    { mode: 0o755 },
  );
  writeFileSync(
    config,
    `${apacheBeginning(site, ['mpm_event', 'authz_core', 'alias', 'cgi'])}
AllowEncodedSlashes NoDecode
ScriptAlias "/" "${program}/"
`,
  );
  return { program: 'apache2', args: ['-X', '-f', config] };
}
