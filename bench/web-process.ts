// WebProcess: the process behind the proxies of measurements (y) to (z), which costs as little as it can. It answers every
// GET with the same 1 KiB, the last byte of which is `END`, and `GET /events` with a stream of server-sent events: the
// time at which each was sent, in milliseconds of the machine's monotonic clock, and `END`.
//
// Usage: node bench/web-process.ts PORT
import { createServer, type Socket } from 'node:net';
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

const server = createServer({ noDelay: true }, (socket) => {
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
});
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
