// Callers of a real service of two shards that send requests and read no response: what both shards keep for them has
// one budget.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 1024 * 1024;
/** More than the buffers of the system take. */
const RESPONSE_BYTES = 8 * MIB;
const BUDGET_BYTES = 40 * MIB;
/** The next one finds no room for one more of the largest responses. */
const ADMITTED = BUDGET_BYTES / RESPONSE_BYTES - 1;
const CALLERS = 16;
/** The system gives each connection to one of the two shards: of so many, each has some. */
const CONNECTIONS = 32;

/** A response of as many letters as the path says, a power of two, of two bytes each. */
const LETTERS = `import { register } from "@svc/guest-sdk";
@endpoint("/letters") @access("internet") class Letters {
  @get("/{length}") get(length: i32): string {
    let text = "é";
    while (text.length < length) text += text;
    return text;
  }
}
register<Letters>();
`;

async function serve(): Promise<string> {
  const folder = temporaryFolder();
  const entryFile = join(folder, 'index.ts');
  writeFileSync(entryFile, LETTERS);
  const module = join(folder, 'letters.wasm');
  writeFileSync(module, (await buildComponent({ entryFile })).component);
  const words = ['run', module, '--port', '0', '--data', join(folder, 'data'), '--shards', '2'];
  const budget = `svc.http.unsent-bytes-max=${BUDGET_BYTES}`;
  const service = new SvcProcess([...words, '--set', budget]);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return service.listening();
}

interface UnreadingCaller {
  readonly socket: Socket;
  readonly status: number;
}

/** Asks for a large response, and reads no more of it than its status. */
async function unreadingCaller(url: string): Promise<UnreadingCaller> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /letters/${RESPONSE_BYTES / 2} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, status: Number(head.toString('latin1').split(' ')[1]) };
}

async function unreadingCallers(url: string): Promise<UnreadingCaller[]> {
  const callers: UnreadingCaller[] = [];
  for (let n = 0; n < CALLERS; n++) callers.push(await unreadingCaller(url));
  return callers;
}

const admitted = (callers: readonly UnreadingCaller[]) =>
  callers.filter(({ status }) => status === 200).length;

/** What small requests over connections of their own are answered. */
async function answers(url: string): Promise<ReadonlySet<string>> {
  const ask = async () => {
    const response = await fetch(`${url}/letters/1`, { headers: { connection: 'close' } });
    await response.text();
    return `${response.status} ${response.headers.get('retry-after')}`;
  };
  return new Set(await Promise.all(Array.from({ length: CONNECTIONS }, ask)));
}

test('two shards refuse further requests once both together keep as much as they may, and serve again once that is given back', async () => {
  const url = await serve();
  for (let round = 0; round < 2; round++) {
    const callers = await unreadingCallers(url);
    expect(admitted(callers)).toBe(ADMITTED);
    expect(await answers(url)).toEqual(new Set(['503 1']));
    for (const { socket } of callers)
      if (round === 0) socket.destroy();
      else socket.resume();
    await expect.poll(() => answers(url), { timeout: 10_000 }).toEqual(new Set(['200 null']));
  }
});
