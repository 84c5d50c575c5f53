// HostedProgram: a web server as the image of a service, which tells what it sees of its sandbox. Linux only.
import { join } from 'node:path';
import type { LocalMachine } from './local-machine.ts';
import { buildNodeImage } from './node-image.ts';

/** Answers in JSON: /seen, /call/SERVICE/PATH (through the calling address), /file?PATH, /die, /slow. */
const SERVER = `
const { createServer, request } = require('node:http');
const { readFileSync } = require('node:fs');
const { connect } = require('node:net');
const answer = (response, value) => response.end(JSON.stringify(value));
const tried = (make) => { try { return make(); } catch (error) { return error.code; } };
const server = createServer((incoming, response) => {
  const [path, query] = incoming.url.split('?');
  if (path === '/seen')
    return answer(response, { env: process.env, pid: process.pid, uid: process.getuid(), host: require('node:os').hostname(), headers: incoming.headers });
  if (path === '/file') return answer(response, tried(() => readFileSync(query, 'utf8')));
  if (path === '/connect') {
    const [host, port] = query.split(':');
    const socket = connect({ host, port: Number(port) });
    socket.on('connect', () => { answer(response, 'connected'); socket.destroy(); });
    return socket.on('error', ({ code }) => answer(response, code));
  }
  if (path === '/die') process.exit(3);
  if (path === '/slow') return setTimeout(() => answer(response, 'slow'), Number(query));
  if (path.startsWith('/call/'))
    return request(process.env.SVC_SERVICES_URL + path.slice(5), (called) => {
      let body = '';
      called.on('data', (part) => (body += part)).on('end', () => answer(response, { status: called.statusCode, body }));
    }).end();
  incoming.resume().once('end', () => answer(response, { version: process.env.VERSION ?? '1' }));
});
if (process.env.ENDS_AT_ONCE !== undefined) process.on('SIGTERM', () => process.exit(0));
process.on('SIGTERM', () => { console.log('asked to end'); server.close(() => process.exit(0)); server.closeIdleConnections(); });
if (process.env.MUTE === undefined) server.listen(Number(process.env.PORT), () => console.log('listening'));
else setInterval(() => {}, 1000);
`;

/** Stores the server as an image of the machine. */
export function storeServer(machine: LocalMachine, layout: string): void {
  writeServerImage(join(machine.cwd, 'images', layout));
}

/** Writes the image of the server, with the tag 1, as an OCI layout into the folder. */
export function writeServerImage(folder: string): void {
  buildNodeImage(
    folder,
    { '/app/server.js': SERVER },
    {
      cmd: ['/app/server.js'],
      env: { FROM_IMAGE: 'image', SHADOWED: 'image' },
      user: 'node',
      tag: '1',
    },
  );
}
