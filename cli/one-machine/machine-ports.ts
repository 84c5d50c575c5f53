// MachinePorts: the ports of an installation on one machine, tried before anything starts.
import { createServer } from 'node:net';
import { CommandFailure } from '../command.ts';

export interface MachinePorts {
  /** Port of the gateway with TLS. */
  readonly gateway: number;
  /** Port of the gateway without TLS, which redirects; 0: none. */
  readonly http: number;
  readonly controlPlane: number;
  readonly loginProvider: number;
  readonly registry: number;
  /** Undefined: the installation has no webhook service. */
  readonly webhooks?: number | undefined;
}

/** A port that a program of the installation takes. */
interface WantedPort {
  readonly host: string;
  readonly port: number;
  /** Option that chooses another port. */
  readonly option: string;
  /** The program that takes the port, in words. */
  readonly what: string;
}

/** A port that the gateway listens on, under the name that it has for the gateway. */
export interface GatewayPort extends WantedPort {
  readonly name: 'https' | 'http';
}

const HTTPS_PORT = 443;
/** Port of the gateway where 443 cannot be had. */
const OTHER_HTTPS_PORT = 8443;
const HTTP_PORT = 80;

/** Returns the code with which the system refuses the port; undefined if it is free. */
export async function portRefusal(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  server.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
  // Without `reusePort`: with it two programs would share the port without noticing.
  server.listen({ host, port, exclusive: true }, () => resolve(undefined));
  const refusal = await promise;
  if (refusal === undefined) await new Promise((closed) => server.close(closed));
  return refusal;
}

/** Chooses the gateway's port at the first start: that of HTTPS, if this user may have it and nobody else does. */
export async function chosenPort(host: string): Promise<number> {
  return (await portRefusal(host, HTTPS_PORT)) === undefined ? HTTPS_PORT : OTHER_HTTPS_PORT;
}

/** Chooses the port that redirects to HTTPS: that of HTTP, if this user may have it and nobody else does; 0: none. `taken`: ports with another use. */
export async function chosenHttpPort(host: string, taken: readonly number[]): Promise<number> {
  if (taken.includes(HTTP_PORT)) return 0;
  return (await portRefusal(host, HTTP_PORT)) === undefined ? HTTP_PORT : 0;
}

/** Returns the ports that the gateway listens on. */
export function gatewayPorts(host: string, { gateway, http }: MachinePorts): GatewayPort[] {
  const https = {
    name: 'https',
    host,
    port: gateway,
    option: '--port',
    what: 'the gateway',
  } as const;
  return http === 0
    ? [https]
    : [https, { ...https, name: 'http', port: http, option: '--http-port' }];
}

/** Rejects with SVC_PORT_IN_USE or SVC_ADDRESS_UNAVAILABLE for the first port that cannot be had. */
export async function tryPorts(host: string, ports: MachinePorts): Promise<void> {
  const loopback: readonly (readonly [port: number, option: string, what: string])[] = [
    [ports.controlPlane, '--api-port', 'the control plane'],
    [ports.loginProvider, '--login-port', 'the login provider'],
    [ports.registry, '--registry-port', 'the registry'],
    ...(ports.webhooks === undefined
      ? []
      : ([[ports.webhooks, '--webhooks-port', 'the webhook service']] as const)),
  ];
  const all: readonly WantedPort[] = [
    ...gatewayPorts(host, ports),
    ...loopback.map(([port, option, what]) => ({ host: '127.0.0.1', port, option, what })),
  ];
  const codes = await Promise.all(all.map((wanted) => portRefusal(wanted.host, wanted.port)));
  const index = codes.findIndex((code) => code !== undefined);
  if (index !== -1) throw portFailure(all[index]!, codes[index]!);
}

/** `code`: that with which the system refuses the port. */
export function portFailure(
  { host, port, option, what }: WantedPort,
  code: string,
): CommandFailure {
  const words = `Port ${port} of ${host}, which ${what} takes,`;
  return code === 'EADDRINUSE'
    ? new CommandFailure(
        'SVC_PORT_IN_USE',
        `${words} is in use by another program. Stop that program, or choose another port with ${option}.`,
      )
    : new CommandFailure(
        'SVC_ADDRESS_UNAVAILABLE',
        `${words} cannot be listened on (${code}). Choose another port with ${option}.`,
      );
}
