// Measurement (l): the memory of a service whose journal has many entities, a tenth of which, but at most HOT_MAX, are
// in memory. Each of these has executed a durable command over HTTP, so that the shard and the journal's writer hold
// all that they ever hold about it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendToAll, withJournal } from './filled-journal.ts';
import { requestText, sendPipelined } from './pipelined-client.ts';
import type { Measurement } from './report.ts';
import { benchModule, startSvc } from './service.ts';

/** Maximum number of entities that a service keeps in memory by default. */
const HOT_MAX = 100_000;
/** One of this many entities is in memory. */
const PART_HOT = 10;
/** Step between the numbers of two entities called in a row: they are not called in the order of their creation. */
const STRIDE = 7_919;
const CONNECTIONS = 8;
const DEPTH = 16;
const AIM_MIB = 1_536;
const KIB_PER_MIB = 1_024;

export async function measureMemory(entities: number): Promise<Measurement[]> {
  const hot = Math.min(HOT_MAX, Math.ceil(entities / PART_HOT));
  const module = await benchModule();
  try {
    const dir = join(module.folder, 'data');
    await withJournal(dir, (journal) => appendToAll(journal, entities, 0, 1));
    const service = await startSvc(module.file, dir);
    try {
      const startMib = residentMib(service.pid).now;
      await heat(Number(new URL(service.url).port), entities, hot);
      const { now, highest } = residentMib(service.pid);
      return [
        {
          letter: 'l',
          what: `resident memory: ${entities.toLocaleString('en-US')} entities in the journal, ${hot.toLocaleString('en-US')} of them in memory`,
          svc: now,
          beside: `at most ${Math.round(highest)} MiB, after the start ${Math.round(startMib)} MiB; the aim is ${AIM_MIB} MiB`,
          other: undefined,
          unit: 'MiB',
          ratio: undefined,
          cores: 'any',
        },
      ];
    } finally {
      await service.stop();
    }
  } finally {
    module.remove();
  }
}

/** Sends one command to each of `hot` entities. */
async function heat(port: number, entities: number, hot: number): Promise<void> {
  // A step without a common divisor with the number of entities visits no entity twice.
  const step = coprime(STRIDE, entities);
  let turn = 0;
  const next = (): string | undefined => {
    if (turn === hot) return undefined;
    const id = (turn++ * step) % entities;
    return requestText('POST', `/counters/c${id}`, '{"amount":1}');
  };
  const answered = await sendPipelined({ port, connections: CONNECTIONS, depth: DEPTH, next });
  if (answered !== hot) throw new Error(`${answered} of ${hot} commands were answered`);
}

/** Returns the smallest number from `from` on that has no common divisor with `to`. */
function coprime(from: number, to: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let step = from;
  while (divisor(step, to) !== 1) step++;
  return step;
}

/** Returns the resident memory of the process in MiB, and its maximum; outside of Linux, `highest` equals `now`. */
export function residentMib(pid: number): { readonly now: number; readonly highest: number } {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) / KIB_PER_MIB;
    return { now: field('VmRSS'), highest: field('VmHWM') };
  }
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const now = Number(stdout) / KIB_PER_MIB;
  return { now, highest: now };
}
