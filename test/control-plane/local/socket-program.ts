// A program for the tests of sockets that are handed in: it listens on them, and answers each connection with the name of the socket and
// with whether it can reach the address and port of its arguments itself.
import { connect, createServer, type Server } from 'node:net';
import { listeningSockets } from '@svc/kit/listening-sockets';

const [address = '', port = ''] = process.argv.slice(2);
const servers = listeningSockets(process.env, [process.pid, process.ppid]).map(
  ({ fd, name }) =>
    new Promise<Server>((listening) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        const tried = connect(Number(port), address);
        const answer = (reached: string): void => {
          tried.destroy();
          socket.end(`${name} ${reached}`);
        };
        tried.on('connect', () => answer('reached')).on('error', () => answer('not reached'));
      });
      server.listen({ fd }, () => listening(server));
    }),
);
await Promise.all(servers);
process.stdout.write(`listening ${servers.length}\n`);
