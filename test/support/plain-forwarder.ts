// A stand-in for the forwarding of svc web: it passes bytes between sockets, and changes nothing.
import { connect, createServer, type Socket } from 'node:net';
import { httpUrl, listen } from '../../kit/listen.ts';
import type { Forwarder, ForwarderOptions } from '../../proxy/web/forwarder.ts';

export async function openPlainForwarder({
  port,
  processPort,
}: ForwarderOptions): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(processPort(), '127.0.0.1');
    for (const one of [socket, other]) {
      sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          socket.destroy();
          other.destroy();
        });
    }
    socket.pipe(other).pipe(socket);
  });
  const address = await listen(
    server,
    { host: '127.0.0.1', port },
    { settings: { port: '--port' } },
  );
  return {
    url: httpUrl(address),
    servicesUrl: 'http://127.0.0.1:1',
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}
