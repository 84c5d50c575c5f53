// NodesUsage: what a load costs the nodes of a service and their database, and which locks were waited for meanwhile.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { familyUs, processorUs } from '../processor-time.ts';
import { LockWatch, type WatchedLocks } from './lock-watch.ts';
import { nodeLoads, type ScaleLoad, sendLoads, strayCommands } from './scale-load.ts';
import { loggedBytes, statementCounts } from './server-counters.ts';
import type { ServiceNodes } from './service-nodes.ts';

export interface NodesUsage {
  readonly nodes: number;
  readonly load: ScaleLoad;
  /** Answered commands, each of which stores an event. */
  readonly commands: number;
  readonly events: number;
  /** Commands that were sent to another node than the owner, and calls that nodes have sent to others. */
  readonly strays: number;
  readonly forwarded: number;
  readonly seconds: number;
  /** Processor time of all nodes, for a command. */
  readonly nodeUs: number;
  /** Processor time of the server without that of the watch, for an event. */
  readonly serverUs: number;
  /** Statements that store appends, and all statements, for an event. */
  readonly appends: number;
  readonly statements: number;
  /** Bytes of the write-ahead log of the server, for an event. */
  readonly walBytes: number;
  readonly locks: WatchedLocks;
}

/** Sends a load. Rejects if a slice got another owner meanwhile: that is no steady state. */
export async function measureUsage(
  server: PostgresServer,
  nodes: ServiceNodes,
  load: ScaleLoad,
): Promise<NodesUsage> {
  const owners = await nodes.owners();
  const loads = nodeLoads(nodes.count, owners, load);
  const [{ pid: watchPid }] = (await server.sql('SELECT pg_backend_pid() AS pid')) as [
    { readonly pid: number },
  ];
  const watch = LockWatch.start(server, nodes.database.name);
  let isWatching = true;
  try {
    const before = await countersOf(server, nodes, watchPid);
    const startedMs = performance.now();
    const commands = await sendLoads(nodes.ports, loads, load);
    const seconds = (performance.now() - startedMs) / 1_000;
    const after = await countersOf(server, nodes, watchPid);
    isWatching = false;
    const locks = await watch.stop();
    assert.deepEqual(await nodes.owners(), owners, 'slices have moved');
    const events = after.events - before.events;
    const each = (name: keyof Counters): number => (after[name] - before[name]) / events;
    return {
      nodes: nodes.count,
      load,
      commands,
      events,
      strays: strayCommands(loads, owners),
      forwarded: after.forwarded - before.forwarded,
      seconds,
      nodeUs: (after.nodeUs - before.nodeUs) / commands,
      serverUs: each('serverUs'),
      appends: each('appends'),
      statements: each('statements'),
      walBytes: each('walBytes'),
      locks,
    };
  } finally {
    if (isWatching) await watch.stop();
  }
}

/** Use of nodes that nobody calls, each of them in a second. */
export interface NodesRest {
  /** Processor time, in microseconds. */
  readonly nodeUs: number;
  readonly statements: number;
}

export async function measureRest(
  server: PostgresServer,
  nodes: ServiceNodes,
  seconds: number,
): Promise<NodesRest> {
  const counts = async (): Promise<NodesRest> => ({
    nodeUs: nodes.usedUs(),
    statements: (await statementCounts(server, nodes.database.name)).all,
  });
  const startedMs = performance.now();
  const before = await counts();
  await pause(seconds * 1_000);
  const after = await counts();
  const nodeSeconds = (nodes.count * (performance.now() - startedMs)) / 1_000;
  return {
    nodeUs: (after.nodeUs - before.nodeUs) / nodeSeconds,
    statements: (after.statements - before.statements) / nodeSeconds,
  };
}

/** Returns what a load costs beyond what its nodes use at rest in the same time, for a command. */
export function withoutRest(
  { nodes, seconds, commands, nodeUs, statements }: NodesUsage,
  rest: NodesRest,
): NodesRest {
  const nodeSeconds = (nodes * seconds) / commands;
  return {
    nodeUs: nodeUs - rest.nodeUs * nodeSeconds,
    statements: statements - rest.statements * nodeSeconds,
  };
}

/** Totals so far. */
interface Counters {
  readonly nodeUs: number;
  readonly serverUs: number;
  readonly appends: number;
  readonly statements: number;
  readonly walBytes: number;
  readonly events: number;
  readonly forwarded: number;
}

async function countersOf(
  server: PostgresServer,
  nodes: ServiceNodes,
  watchPid: number,
): Promise<Counters> {
  const forwarded = await nodes.forwarded();
  const { appends, all } = await statementCounts(server, nodes.database.name);
  const [row] = await nodes.database.sql('SELECT sum(head)::float8 AS events FROM svc.slice');
  return {
    nodeUs: nodes.usedUs(),
    serverUs: familyUs(server.pid) - processorUs(watchPid),
    appends,
    statements: all,
    walBytes: await loggedBytes(server),
    events: row!['events'] as number,
    forwarded,
  };
}
