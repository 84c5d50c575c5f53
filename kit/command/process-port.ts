// ProcessPort: the port on which the process has to listen: whether it is free, and whether the process listens by now.
import { connect, createServer, type AddressInfo } from 'node:net';
import { listen } from '../listen.ts';

const LOOPBACK = '127.0.0.1';

/**
 * Resolves with a port of the loopback interface that no program has: the preferred one if it is free, else any.
 * `setting`: names what has chosen the port; then rejects with SVC_PORT_IN_USE instead of choosing another one.
 */
export async function freePort(preferred: number, setting?: string): Promise<number> {
  const server = createServer();
  try {
    await listen(
      server,
      { host: LOOPBACK, port: preferred },
      { server: 'the process', settings: { port: setting ?? 'the port' } },
    );
  } catch (error) {
    if (setting !== undefined || preferred === 0) throw error;
    return freePort(0);
  }
  const { port } = server.address() as AddressInfo;
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  await closed.promise;
  return port;
}

/** Resolves with whether a program accepts connections on the port. */
export async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: LOOPBACK, port });
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  const isAccepted = await promise;
  socket.destroy();
  return isAccepted;
}
