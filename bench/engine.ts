// Measurement (d): the engine without HTTP: durable commands of a module, compared with a plain segment log whose
// writer only writes and syncs groups of the same records.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../host/engine/entity-engine.ts';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';
import { systemRandom, systemClock, systemEventLoop, systemDigest } from '../host/system.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { SegmentLog } from './segment-log.ts';
import { benchModule } from './service.ts';

const IN_FLIGHT = 64;
const ENTITIES = 1_000;
/** A record as long as the journal's data for one event of the counter. */
const RECORD = JSON.stringify({ type: 'added', amount: 1 });

export async function measureEngine({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const opened = await openSqliteJournal(join(folder, 'data'));
  const journal = attachSqliteJournal(opened.connect());
  const guest = await createWasmGuest(readFileSync(module.file), WASM_LIMITS_DEFAULT, () => {});
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    random: systemRandom(),
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });
  const log = new SegmentLog(join(folder, 'segments'));
  try {
    const command = async (turn: number) => {
      const target = { component: 'counter', id: `c${(turn * 7919) % ENTITIES}` };
      const answer = await engine.call(target, 'add', '{"amount":1}', []);
      if (answer.kind !== 'reply') throw new Error(answer.message);
    };
    const append = async () => log.append(RECORD);
    await perSecond(command, warmUpSeconds);
    await perSecond(append, warmUpSeconds / 2);
    const figures: { svc: number; log: number }[] = [];
    for (let round = 0; round < rounds; round++)
      figures.push({
        svc: await perSecond(command, seconds),
        log: await perSecond(append, seconds),
      });
    return [
      {
        letter: 'd',
        what: `engine and SQLite journal, ${IN_FLIGHT} commands in flight, 1,000 entities`,
        svc: median(figures.map((figure) => figure.svc)),
        beside: 'raw segment log with fsync',
        other: median(figures.map((figure) => figure.log)),
        unit: 'per second',
        ratio: median(figures.map((figure) => figure.svc / figure.log)),
        cores: `a thread that decides and one that writes share ${availableParallelism()}`,
      },
    ];
  } finally {
    await engine.close();
    await journal.close();
    await opened.close();
    await guest.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

/** Returns how often `work` completes per second, with a fixed number of concurrent runs. */
async function perSecond(work: (turn: number) => Promise<void>, seconds: number): Promise<number> {
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  let done = 0;
  let turn = 0;
  const worker = async () => {
    while (performance.now() < untilMs) {
      await work(turn++);
      done++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (done * 1000) / (performance.now() - startedMs);
}
