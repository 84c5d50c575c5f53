// The client of the benchmark counts every response once, whatever the pieces are, and rejects an error.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { AnswerCount, requestText, sendPipelined } from '../../bench/pipelined-client.ts';
import { LoadedService } from '../../bench/shards.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

async function listening(started: Server): Promise<number> {
  server = started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  return (started.address() as AddressInfo).port;
}

const refusing: RequestListener = (_request, response) => {
  response.writeHead(503).end();
};

/** Returns this many requests, each once. */
function requests(count: number): () => string | undefined {
  let sent = 0;
  return () =>
    sent === count ? undefined : requestText('POST', `/counters/c${sent++}`, '{"amount":1}');
}

describe('the pipelined client', () => {
  test('sends each request once, whole, and counts its answer', async () => {
    const seen: string[] = [];
    const answer: RequestListener = (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.once('end', () => {
        seen.push(`${request.method} ${request.url} ${body}`);
        response.end('{"value":5}');
      });
    };
    const port = await listening(createServer(answer));
    const load = { port, connections: 3, depth: 4, next: requests(50) };
    expect(await sendPipelined(load)).toBe(50);
    const wanted = Array.from({ length: 50 }, (_, n) => `POST /counters/c${n} {"amount":1}`);
    expect(seen.toSorted()).toEqual(wanted.toSorted());
  });

  test('counts an answer once in whatever pieces it comes', () => {
    const text = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'.repeat(2);
    const miscounted: [first: number, second: number][] = [];
    for (let first = 0; first <= text.length; first++)
      for (let second = first; second <= text.length; second++) {
        const answers = new AnswerCount();
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        const count = pieces.reduce((sum, piece) => sum + answers.add(piece), 0);
        if (count !== 2) miscounted.push([first, second]);
      }
    expect(miscounted).toEqual([]);
  });

  test('fails at an answer that is not 200, and when its connection closes', async () => {
    const load = { connections: 1, depth: 1, next: requests(10) };
    const busy = sendPipelined({ ...load, port: await listening(createServer(refusing)) });
    await expect(busy).rejects.toThrow('answered 503');
    server?.close();
    const port = await listening(createSocketServer((socket) => socket.end()));
    await expect(sendPipelined({ ...load, port })).rejects.toThrow('under way');
  });
});

test('a load that is shorter than it takes to connect has made requests, so that nothing is divided by zero', async () => {
  const wasm = await compileFixture('counter');
  const service = await LoadedService.start(wasm, temporaryFolder(), 1);
  try {
    expect(await service.load({ route: 0, isOverHttp: true }, 1e-6)).toBeGreaterThan(0);
  } finally {
    await service.close();
  }
});
