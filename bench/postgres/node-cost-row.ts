// Measurement (ee): what a durable command of a service with its journal in PostgreSQL costs: the processor time of its node and of the
// server, and the statements that the server carries out for an event.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { requestText, sendPipelined } from '../pipelined-client.ts';
import { familyUs, processorUs } from '../processor-time.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { benchModule, type Service, startSvc } from '../service.ts';

const CONNECTIONS = 8;
const DEPTH = 8;
/** Processor time is measured in hundredths of a second. */
const SECONDS_MIN = 1;
const requests = Array.from({ length: 1_000 }, (_, index) =>
  requestText('POST', `/counters/c${index}`, '{"amount":1}'),
);

/** For one event. */
interface Cost {
  readonly nodeUs: number;
  readonly serverUs: number;
  readonly statements: number;
}

/** `server`: one that counts statements (pg_stat_statements), and does nothing else meanwhile. */
export async function measureNodeCost(
  server: PostgresServer,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement> {
  await server.sql('CREATE EXTENSION pg_stat_statements');
  const { source } = await server.freshDatabase();
  assert(source.kind === 'file');
  const module = await benchModule();
  const node = await startSvc(module.file, join(module.folder, 'data'), undefined, {
    'svc.database.url-file': source.path,
  });
  try {
    await send(node, 0);
    await send(node, warmUpSeconds);
    const costs: Cost[] = [];
    for (let round = 0; round < rounds; round++)
      costs.push(await costOf(node, server, Math.max(seconds, SECONDS_MIN)));
    return rowOf(costs);
  } finally {
    await node.stop();
    module.remove();
  }
}

function rowOf(costs: readonly Cost[]): Measurement {
  const of = (part: keyof Cost) => median(costs.map((cost) => cost[part]));
  return {
    letter: 'ee',
    what: `processor time of a durable POST, of \`svc run\` with its journal in PostgreSQL and of the server, ${CONNECTIONS * DEPTH} in flight, 1,000 entities`,
    svc: median(costs.map(({ nodeUs, serverUs }) => nodeUs + serverUs)),
    beside: `${of('serverUs').toFixed(1)} µs of it the server; ${of('statements').toFixed(3)} statements an event`,
    other: undefined,
    unit: 'µs',
    ratio: undefined,
    cores: `the load, the node and the server share ${availableParallelism()}`,
  };
}

async function costOf(node: Service, server: PostgresServer, seconds: number): Promise<Cost> {
  const nodeUs = processorUs(node.pid);
  const serverUs = familyUs(server.pid);
  const statements = await statementsOf(server);
  const events = await send(node, seconds);
  return {
    nodeUs: (processorUs(node.pid) - nodeUs) / events,
    serverUs: (familyUs(server.pid) - serverUs) / events,
    statements: ((await statementsOf(server)) - statements) / events,
  };
}

/** Returns how many statements other roles than that of this connection have sent so far. */
async function statementsOf(server: PostgresServer): Promise<number> {
  const [row] = await server.sql(
    'SELECT sum(calls)::int AS calls FROM pg_stat_statements WHERE userid <> current_user::regrole',
  );
  return Number(row!['calls']);
}

/** Sends a command to each entity in turn, for some seconds, and at least once. Returns the number of commands. */
async function send(node: Service, seconds: number): Promise<number> {
  const untilMs = performance.now() + seconds * 1_000;
  let turn = 0;
  return sendPipelined({
    port: Number(new URL(node.url).port),
    connections: CONNECTIONS,
    depth: DEPTH,
    next: () =>
      turn < requests.length || performance.now() < untilMs
        ? requests[turn++ % requests.length]
        : undefined,
  });
}
