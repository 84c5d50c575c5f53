// Measurements (ea), (eb), (ed), (ee) and (ef): the journal in PostgreSQL, on a server of the benchmark's own that writes through to the disk.
import { availableParallelism } from 'node:os';
import { TIMER_LIMITS_DEFAULT } from '@svc/model/timer-limits';
import { attachJournal, leasesOf } from '../../host/storage/journal-connection.ts';
import { journalInDatabase } from '../../host/storage/journal-location.ts';
import { JournalSeries } from '../../host/storage/journal-series.ts';
import type { DatabaseSource } from '../../host/storage/postgres/database-source.ts';
import { openPostgresJournal } from '../../host/storage/postgres/opened-postgres.ts';
import { SLICE_COUNT } from '@svc/model/slice';
import { urlFile } from '../../test/support/postgres/fresh-database.ts';
import { missingServer } from '../../test/support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { CounterEngine } from '../counter-engine.ts';
import { type ComparedRates, compareRates, IN_FLIGHT, ownUs } from '../in-flight.ts';
import { familyUs } from '../processor-time.ts';
import type { Measurement, Pace } from '../report.ts';
import { AppendLoop } from './append-loop.ts';
import { DelayingProxy } from './delaying-proxy.ts';
import { measureNodeCost } from './node-cost-row.ts';
import { measureNodeQueries } from './node-query-row.ts';

const LETTERS = ['ea', 'eb', 'ed', 'ee', 'ef'];
const DELAY_MS = 2;
const CONFIGURATION = {
  // The defaults of PostgreSQL, which a server for tests has less of.
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  shared_preload_libraries: 'pg_stat_statements',
};
const CORES = `the load, the server and its disk share ${availableParallelism()}`;

/** Resolves with no measurement where there is no PostgreSQL, and says so on stderr. */
export async function measurePostgres(
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const missing = await missingServer('18');
  if (missing !== undefined) {
    const left = LETTERS.filter((letter) => wanted.has(letter)).join(', ');
    process.stderr.write(`bench: (${left}) left out: ${missing}\n`);
    return [];
  }
  const server = await PostgresServer.start('18', { configuration: CONFIGURATION });
  try {
    return [
      ...(wanted.has('ea') ? [await measureEngine(server, pace)] : []),
      ...(wanted.has('eb') ? [await measureFence(server, pace)] : []),
      ...(wanted.has('ed') ? [await measureKeys(server, pace)] : []),
      ...(wanted.has('ee') ? [await measureNodeCost(server, pace)] : []),
      ...(wanted.has('ef') ? [await measureNodeQueries(server, pace)] : []),
    ];
  } finally {
    await server.stop();
  }
}

async function measureEngine(server: PostgresServer, pace: Pace): Promise<Measurement> {
  const { source } = await server.freshDatabase();
  const loop = await AppendLoop.open(await server.freshDatabase());
  try {
    const compared = await withEngine(source, async (engine) => {
      await engine.load();
      return compareRates(
        (turn) => engine.add(turn),
        (turn) => loop.append(turn),
        pace,
        () => allUs(server),
      );
    });
    return {
      letter: 'ea',
      what: `engine and journal in PostgreSQL, ${IN_FLIGHT} commands in flight, 1,000 entities`,
      beside: `the same statement without an engine; ${inWords(compared)}, the aim is 0.6`,
      ...compared.rates,
      cores: CORES,
    };
  } finally {
    await loop.close();
  }
}

async function measureFence(server: PostgresServer, pace: Pace): Promise<Measurement> {
  const fenced = await AppendLoop.open(await server.freshDatabase());
  const plain = await AppendLoop.open(await server.freshDatabase(), false);
  try {
    const compared = await compareRates(
      (turn) => fenced.append(turn),
      (turn) => plain.append(turn),
      pace,
      () => allUs(server),
    );
    return {
      letter: 'eb',
      what: `the statement of the journal in PostgreSQL without an engine, ${IN_FLIGHT} events in flight, 1,000 entities`,
      beside: `the same without its fence; ${inWords(compared)}, the aim is 0.8`,
      ...compared.rates,
      cores: CORES,
    };
  } finally {
    await fenced.close();
    await plain.close();
  }
}

async function measureKeys(server: PostgresServer, pace: Pace): Promise<Measurement> {
  const { name, url } = await server.freshDatabase();
  const proxy = await DelayingProxy.to(server.port, DELAY_MS);
  try {
    const through = new URL(url);
    through.port = String(proxy.port);
    const compared = await withEngine(urlFile(server.folder, name, through.href), (engine) =>
      compareRates(
        () => engine.addToOneWithKey(),
        () => engine.addToOne(),
        pace,
        () => allUs(server),
      ),
    );
    return {
      letter: 'ed',
      what: `engine and journal in PostgreSQL, answers ${DELAY_MS} ms later, ${IN_FLIGHT} commands with idempotency keys in flight, one entity`,
      beside: `the same without keys; ${inWords(compared)}, the aim is 0.5`,
      ...compared.rates,
      cores: CORES,
    };
  } finally {
    await proxy.close();
  }
}

/** Returns the processor time of the server and of this process so far, in microseconds. */
function allUs(server: PostgresServer): number {
  return ownUs() + familyUs(server.pid);
}

function inWords({ ratioByProcessor }: ComparedRates): string {
  return `by processor time the ratio is ${ratioByProcessor.toFixed(2)}`;
}

/** Uses an engine whose journal is in an empty database. */
async function withEngine<T>(
  source: DatabaseSource,
  use: (engine: CounterEngine) => Promise<T>,
): Promise<T> {
  const opened = await openPostgresJournal(journalInDatabase(source), {
    limits: { bytesMax: 0, closeMs: 3_000 },
    timerLimits: TIMER_LIMITS_DEFAULT,
    series: new JournalSeries(),
    fingerprint: 'bench',
    isExclusive: true,
  });
  try {
    opened.noteModule({ fingerprint: 'bench', descriptor: '{}', timeMs: Date.now() });
    const connection = opened.connect([0, SLICE_COUNT]);
    const engine = await CounterEngine.open(await attachJournal(connection), leasesOf(connection));
    try {
      return await use(engine);
    } finally {
      await engine.close();
    }
  } finally {
    await opened.close();
  }
}
