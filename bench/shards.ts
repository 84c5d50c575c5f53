// Measurements (i), (j), (i2), (j2): two shards compared with one, loaded from within the shards: queries, and durable
// commands, of random entities, so that with two shards half of the calls are forwarded. In (i2) and (j2) the requests
// use HTTP, as in a real service.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { admitModule } from '../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { peerLinks } from '../host/shards/peer-link.ts';
import type { Peer } from '../host/shards/shard-messages.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';
import { makeObjectsYoung } from '../host/service/young-objects.ts';
import type { LoadedShard, RecordingTurns, ShardLoad, ShardNews } from './loaded-shard.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';
import type { Slice } from './switched-recorder.ts';

const ENTITIES = 1_000;
/** Concurrent requests of all shards together. */
const IN_FLIGHT = 128;

const SCENARIOS = [
  { letter: 'i', what: 'queries', route: 0, isOverHttp: false },
  { letter: 'i2', what: 'queries', route: 0, isOverHttp: true },
  { letter: 'j', what: 'durable commands', route: 1, isOverHttp: false },
  { letter: 'j2', what: 'durable commands', route: 1, isOverHttp: true },
] as const;

export async function measureShards(
  wanted: ReadonlySet<string>,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement[]> {
  const scenarios = SCENARIOS.filter(({ letter }) => wanted.has(letter));
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const services: LoadedService[] = [];
  try {
    const wasm = readFileSync(module.file);
    const [one, two] = [
      await LoadedService.start(wasm, join(folder, 'one'), 1),
      await LoadedService.start(wasm, join(folder, 'two'), 2),
    ];
    services.push(one, two);
    const measurements: Measurement[] = [];
    for (const { letter, what, route, isOverHttp } of scenarios) {
      const load = async (service: LoadedService, forSeconds: number) =>
        service.load({ route, isOverHttp }, forSeconds);
      for (const service of services) await load(service, warmUpSeconds);
      const figures: { two: number; one: number }[] = [];
      for (let round = 0; round < rounds; round++)
        figures.push({
          two: await load(two, seconds),
          one: await load(one, seconds),
        });
      measurements.push({
        letter,
        what: `two shards: ${what} of ${ENTITIES.toLocaleString('en-US')} entities, ${IN_FLIGHT} requests in flight, ${isOverHttp ? 'over HTTP, each shard its own client' : 'no sockets'}`,
        svc: median(figures.map((figure) => figure.two)),
        beside: 'one shard',
        other: median(figures.map((figure) => figure.one)),
        unit: 'per second',
        ratio: median(figures.map((figure) => figure.two / figure.one)),
        cores: `shards and the journal's writer share ${availableParallelism()}`,
      });
    }
    return measurements;
  } finally {
    for (const service of services) await service.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

/** Shards with their own journal. */
export class LoadedService {
  readonly #shards: readonly Worker[];
  readonly #journal: Awaited<ReturnType<typeof openSqliteJournal>>;

  static async start(wasm: Uint8Array, dataFolder: string, count: number): Promise<LoadedService> {
    // As in a service, this happens before the threads start.
    makeObjectsYoung();
    const module = admitModule(wasm, WASM_LIMITS_DEFAULT);
    const journal = await openSqliteJournal(dataFolder);
    const peers: Peer[][] = Array.from({ length: count }, () => []);
    for (let index = 0; index < count; index++)
      for (let other = 0; other < index; other++) {
        const [here, there] = peerLinks(count);
        peers[index]!.push({ index: other, ...here });
        peers[other]!.push({ index, ...there });
      }
    const shards = peers.map((ownPeers, index) => {
      const connection = journal.connect();
      const workerData: LoadedShard = {
        module,
        index,
        count,
        entities: ENTITIES,
        journal: connection,
        peers: ownPeers,
      };
      const transferList = [...connection.ports, ...ownPeers.map((peer) => peer.port)];
      return new Worker(new URL('./loaded-shard.ts', import.meta.url), {
        workerData,
        transferList,
      });
    });
    return new LoadedService(shards, journal);
  }

  private constructor(
    shards: readonly Worker[],
    journal: Awaited<ReturnType<typeof openSqliteJournal>>,
  ) {
    this.#shards = shards;
    this.#journal = journal;
  }

  /** Returns the requests per second of all shards together. */
  async load(wanted: Pick<ShardLoad, 'route' | 'isOverHttp'>, seconds: number): Promise<number> {
    const inFlight = IN_FLIGHT / this.#shards.length;
    const startedMs = performance.now();
    const done = await Promise.all(
      this.#shards.map(async (shard) => answerOf(shard, { ...wanted, inFlight, seconds }, 'done')),
    );
    const requests = done.reduce((sum, each) => sum + each.requests, 0);
    return (requests * 1000) / (performance.now() - startedMs);
  }

  /** Turns the only shard's recorder off in every second turn. Returns the port of its server. */
  async takeTurns(sliceMs: number, report: (slice: Slice) => void): Promise<number> {
    const [shard] = this.#shards;
    shard!.on('message', (news: ShardNews) => {
      if (news.kind === 'slice') report(news.slice);
    });
    return (await answerOf(shard!, { sliceMs }, 'turns')).port;
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.terminate()));
    await this.#journal.close();
  }
}

/** Sends a message to the shard. Resolves with its next message of that kind; rejects if the shard fails. */
async function answerOf<Kind extends ShardNews['kind']>(
  shard: Worker,
  wanted: ShardLoad | RecordingTurns,
  kind: Kind,
): Promise<Extract<ShardNews, { kind: Kind }>> {
  const { promise, resolve, reject } = Promise.withResolvers<Extract<ShardNews, { kind: Kind }>>();
  const listen = (news: ShardNews) => {
    if (news.kind === kind) resolve(news as Extract<ShardNews, { kind: Kind }>);
  };
  shard.on('message', listen);
  shard.once('error', reject);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  shard.postMessage(wanted);
  try {
    return await promise;
  } finally {
    shard.off('message', listen);
    shard.off('error', reject);
  }
}
