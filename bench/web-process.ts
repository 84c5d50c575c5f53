// WebProcess: the server behind the proxies and the gateway of measurements (y) to (zc), which costs as little as it can. It answers every
// GET with the same 1 KiB, the last byte of which is `END`, and `GET /events` with a stream of server-sent events: the
// time at which each was sent, in milliseconds of the machine's monotonic clock, and `END`.
//
// Usage: node bench/web-process.ts PORT [FOLDER], where FOLDER has tls.crt, tls.key and ca.crt for mutual TLS
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { monotonicMs } from './monotonic-clock.ts';

const END = '~';
const BODY_BYTES = 1024;
const EVENT_EVERY_MS = 4;
const HEAD_END = Buffer.from('\r\n\r\n');
const EVENTS = Buffer.from('GET /events ');
const FIELDS = [
  'Content-Type: text/plain; charset=utf-8',
  'Date: Mon, 23 Nov 2026 11:00:00 GMT',
  'ETag: "5f3a9c"',
  'Cache-Control: no-store',
].join('\r\n');
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\n${FIELDS}\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${'x'.repeat(BODY_BYTES - 1)}${END}`,
);
const EVENTS_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

function sendEvents(socket: Socket): void {
  socket.write(EVENTS_HEAD);
  const timer = setInterval(() => {
    const event = `data: ${monotonicMs()}${END}\n\n`;
    socket.write(`${event.length.toString(16)}\r\n${event}\r\n`);
  }, EVENT_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
}

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (piece: Buffer) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let from = 0;
    for (let end = bytes.indexOf(HEAD_END); end !== -1; end = bytes.indexOf(HEAD_END, from)) {
      if (bytes.indexOf(EVENTS, from) === from) sendEvents(socket);
      else socket.write(ANSWER);
      from = end + HEAD_END.length;
    }
    rest = bytes.subarray(from);
  });
  socket.on('error', () => socket.destroy());
}

const [port, folder] = process.argv.slice(2);
const server =
  folder === undefined
    ? createServer({ noDelay: true }, serve)
    : createTlsServer(
        {
          noDelay: true,
          cert: readFileSync(join(folder, 'tls.crt')),
          key: readFileSync(join(folder, 'tls.key')),
          ca: readFileSync(join(folder, 'ca.crt')),
          requestCert: true,
        },
        serve,
      );
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
