// `npm run bench:scale`: what a command costs on several nodes of a service compared with one, on a PostgreSQL server of its own: processor
// time, statements and waits for locks; what the database takes alone; and, computed from these figures, what more nodes would do.
//
// Usage: npm run bench:scale -- [--nodes 3] [--commands 30000] [--rounds 3] [--in-flight 64] [--per-second 500] [--seconds 3] [--postgres 18] [--json FILE]
//
// The service on one node and the one on several nodes run all the time, and work in turns.
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { missingServer, type PostgresVersion } from '../test/support/postgres/postgres-programs.ts';
import { PostgresServer } from '../test/support/postgres/postgres-server.ts';
import { describeMachine } from './machine.ts';
import { type AloneRate, measureAlone } from './scale/database-alone.ts';
import { LOCK_LOGGING } from './scale/lock-watch.ts';
import { measureRest, measureUsage, type NodesUsage } from './scale/nodes-usage.ts';
import { DEPTH, type ScaleLoad } from './scale/scale-load.ts';
import {
  computedOf,
  costsOf,
  type Kind,
  ratiosOf,
  type Rest,
  type Round,
  scaleText,
} from './scale/scale-report.ts';
import { showStatementCounts, STATEMENT_COUNTING } from './scale/server-counters.ts';
import { ServiceNodes } from './scale/service-nodes.ts';
import { benchModule } from './service.ts';

const CONFIGURATION = {
  // The defaults of PostgreSQL, which a server for tests has less of.
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  ...STATEMENT_COUNTING,
  ...LOCK_LOGGING,
};
/** Duration of each measurement at a steady rate. */
const PACED_SECONDS = 5;
const REST_SECONDS = 4;
/** Nodes finish what a load has left. */
const REST_AFTER_MS = 1_000;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3' },
    commands: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '64' },
    'per-second': { type: 'string', default: '500' },
    seconds: { type: 'string', default: '3' },
    postgres: { type: 'string', default: '18' },
    json: { type: 'string' },
  },
});
const nodes = wholeNumber('nodes', 2, 10);
const commands = wholeNumber('commands', 1, 10_000_000);
const rounds = wholeNumber('rounds', 1, 100);
const inFlight = wholeNumber('in-flight', DEPTH, 1_024);
const perSecond = wholeNumber('per-second', 1, 100_000);
const seconds = wholeNumber('seconds', 1, 60);
if (inFlight % DEPTH !== 0) refuse(`--in-flight takes a multiple of ${DEPTH}`);
const version = values.postgres as PostgresVersion;
if (version !== '15' && version !== '18') refuse('--postgres takes 15 or 18');
const missing = await missingServer(version);
if (missing !== undefined) refuse(missing);

function wholeNumber(
  name: 'nodes' | 'commands' | 'rounds' | 'in-flight' | 'per-second' | 'seconds',
  min: number,
  max: number,
): number {
  const number = /^[1-9][0-9]{0,7}$/.test(values[name]) ? Number(values[name]) : Number.NaN;
  if (number >= min && number <= max) return number;
  return refuse(`--${name} takes a number from ${min} to ${max}`);
}

function refuse(message: string): never {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
}

function log(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

async function measureRounds(
  server: PostgresServer,
): Promise<{ readonly rest: Rest; readonly measured: readonly Round[] }> {
  const module = await benchModule();
  const started: ServiceNodes[] = [];
  try {
    const one = await ServiceNodes.start(server, module, 1);
    started.push(one);
    const several = await ServiceNodes.start(server, module, nodes);
    started.push(several);
    const own: ScaleLoad = { shape: 'own', commands, inFlight };
    const paced = { ...own, commands: PACED_SECONDS * perSecond, perSecond };
    const measures: Readonly<Record<Kind, (load: Partial<ScaleLoad>) => Promise<NodesUsage>>> = {
      one: (load) => measureUsage(server, one, { ...own, ...load }),
      oneWithAll: (load) =>
        measureUsage(server, one, { ...own, inFlight: nodes * inFlight, ...load }),
      own: (load) => measureUsage(server, several, { ...own, ...load }),
      spread: (load) => measureUsage(server, several, { ...own, shape: 'spread', ...load }),
      onePaced: (load) => measureUsage(server, one, { ...paced, ...load }),
      ownPaced: (load) =>
        measureUsage(server, several, { ...paced, commands: nodes * paced.commands, ...load }),
      spreadPaced: (load) => measures.ownPaced({ shape: 'spread', ...load }),
    };
    // Each node carries out as many commands as it compiles its code: the one gets as many of the two kinds as each of the others.
    for (const kind of ['one', 'oneWithAll', 'own', 'spread'] as const) {
      log(`warming up: ${kind}`);
      const share = kind === 'one' || kind === 'oneWithAll' ? 1 : nodes;
      // oxlint-disable-next-line no-await-in-loop -- a load follows the other
      await measures[kind]({ commands: Math.ceil(commands / 2) * share });
    }
    log('at rest');
    await pause(REST_AFTER_MS);
    const rest = {
      one: await measureRest(server, one, REST_SECONDS),
      several: await measureRest(server, several, REST_SECONDS),
    };
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      log(`round ${round} of ${rounds}`);
      measured.push({
        // oxlint-disable-next-line no-await-in-loop -- a load follows the other
        one: await measures.one({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        own: await measures.own({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        spread: await measures.spread({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        oneWithAll: await measures.oneWithAll({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        onePaced: await measures.onePaced({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        ownPaced: await measures.ownPaced({}),
        // oxlint-disable-next-line no-await-in-loop -- the same
        spreadPaced: await measures.spreadPaced({}),
      });
    }
    return { rest, measured };
  } finally {
    await Promise.all(started.map((each) => each.stop()));
    module.remove();
  }
}

/** Statements of one event, of as many as a node has in flight, and several loops. */
async function measureDatabase(server: PostgresServer): Promise<readonly AloneRate[]> {
  const rates: AloneRate[] = [];
  for (const each of [
    { loops: 1, inFlight: 1 },
    { loops: 1, inFlight },
    { loops: nodes, inFlight },
    { loops: nodes, inFlight: nodes * inFlight },
  ]) {
    log(`the database alone: ${each.loops} loops, ${each.inFlight} events a statement`);
    // oxlint-disable-next-line no-await-in-loop -- a measurement follows the other
    rates.push(await measureAlone(server, each, seconds));
  }
  return rates;
}

const server = await PostgresServer.start(version, { configuration: CONFIGURATION });
try {
  await showStatementCounts(server);
  const { rest, measured } = await measureRounds(server);
  const alone = await measureDatabase(server);
  const costs = costsOf(measured, rest, alone[0]!);
  const report = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${describeMachine()}, PostgreSQL ${version}`,
    nodes,
    commands,
    inFlight,
    perSecond,
    rest,
    rounds: measured,
    ratios: ratiosOf(measured, rest),
    alone,
    costs,
    computed: computedOf(costs, inFlight),
  };
  process.stdout.write(scaleText(report));
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
} finally {
  await server.stop();
}
