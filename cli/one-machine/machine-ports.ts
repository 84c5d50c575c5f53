// MachinePorts: the ports of an installation on one machine, tried before anything starts.
import { createServer } from 'node:net';
import { CommandFailure } from '../command.ts';

export interface MachinePorts {
  /** Port of the gateway. */
  readonly gateway: number;
  readonly controlPlane: number;
  readonly loginProvider: number;
  readonly registry: number;
}

export const HTTPS_PORT = 443;
/** Port of the gateway where 443 cannot be had. */
export const OTHER_HTTPS_PORT = 8443;

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

/** Rejects with SVC_PORT_IN_USE or SVC_ADDRESS_UNAVAILABLE for the first port that cannot be had. */
export async function tryPorts(host: string, ports: MachinePorts): Promise<void> {
  const all: readonly (readonly [host: string, port: number, option: string, what: string])[] = [
    [host, ports.gateway, '--port', 'the gateway'],
    ['127.0.0.1', ports.controlPlane, '--api-port', 'the control plane'],
    ['127.0.0.1', ports.loginProvider, '--login-port', 'the login provider'],
    ['127.0.0.1', ports.registry, '--registry-port', 'the registry'],
  ];
  const refusals = await Promise.all(
    all.map(async ([address, port, option, what]) => ({
      code: await portRefusal(address, port),
      words: `Port ${port} of ${address}, which ${what} takes,`,
      option,
    })),
  );
  const refused = refusals.find(({ code }) => code !== undefined);
  if (refused === undefined) return;
  const { code, words, option } = refused;
  throw new CommandFailure(
    code === 'EADDRINUSE' ? 'SVC_PORT_IN_USE' : 'SVC_ADDRESS_UNAVAILABLE',
    code === 'EADDRINUSE'
      ? `${words} is in use by another program. Stop that program, or choose another port with ${option}.`
      : `${words} cannot be listened on (${code}). Choose another port with ${option}.`,
  );
}
