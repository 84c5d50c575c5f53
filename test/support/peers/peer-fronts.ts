// PeerFronts: programs of others in front of a proxy's service port, in the place of a gateway: they take plain requests, and pass
// them on with mutual TLS on connections that they keep.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PeerCommand, PeerProcess } from './peer-process.ts';

export interface FrontOptions {
  /** Folder of its own. */
  readonly folder: string;
  /** Service port of the proxy. */
  readonly port: number;
  /** File with a certificate and its key. */
  readonly certificate: string;
}

export type PeerFront = Pick<PeerProcess, 'port' | 'end'>;

export async function openFront(
  name: 'nginx' | 'haproxy',
  options: FrontOptions,
): Promise<PeerFront> {
  const command = name === 'nginx' ? nginxFront : haproxyFront;
  return PeerProcess.start(
    (port) => command(port, options),
    async (port) => (await fetch(`http://127.0.0.1:${port}/`)).ok,
  );
}

function nginxFront(port: number, { folder, port: to, certificate }: FrontOptions): PeerCommand {
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
  client_max_body_size 0;
  upstream pod { server 127.0.0.1:${to}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass https://pod;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_ssl_certificate ${certificate};
      proxy_ssl_certificate_key ${certificate};
      proxy_ssl_protocols TLSv1.3;
      proxy_ssl_verify off;
      proxy_request_buffering off;
    }
  }
}
`,
  );
  return { program: 'nginx', args: ['-e', 'stderr', '-p', folder, '-c', config] };
}

function haproxyFront(port: number, { folder, port: to, certificate }: FrontOptions): PeerCommand {
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(
    config,
    `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen front
  bind 127.0.0.1:${port}
  server pod 127.0.0.1:${to} ssl verify none crt ${certificate} alpn http/1.1
`,
  );
  return { program: 'haproxy', args: ['-db', '-f', config] };
}
