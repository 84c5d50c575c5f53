// DatabaseAlone: what the database takes while nothing decides: loops that send the statement of the journal, one in flight each, as the
// writer of a node does.
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { ownUs } from '../in-flight.ts';
import { AppendLoop } from '../postgres/append-loop.ts';
import { familyUs } from '../processor-time.ts';
import { loggedBytes } from './server-counters.ts';

export interface AloneRate {
  readonly loops: number;
  /** Events in flight of each loop, which are those of its next statement. */
  readonly inFlight: number;
  readonly eventsPerSecond: number;
  readonly statementsPerSecond: number;
  readonly eventsPerStatement: number;
  /** Processor time of the server, for an event. */
  readonly serverUs: number;
  /** Processor time of the loops themselves, for an event. */
  readonly loopUs: number;
  /** Bytes of the write-ahead log, for an event. */
  readonly walBytes: number;
}

/** Sends for some seconds, and at least one event a loop. `server`: one that does nothing else meanwhile. */
export async function measureAlone(
  server: PostgresServer,
  { loops: count, inFlight }: Pick<AloneRate, 'loops' | 'inFlight'>,
  seconds: number,
): Promise<AloneRate> {
  const database = await server.freshDatabase();
  const loops = await AppendLoop.openSeveral(database, count);
  try {
    // The first appends of each entity make its rows and fill the caches of the server.
    await send(loops, inFlight, seconds / 4);
    const before = { server: familyUs(server.pid), own: ownUs(), bytes: await loggedBytes(server) };
    const statementsBefore = loops.reduce((sum, { statements }) => sum + statements, 0);
    const startedMs = performance.now();
    const events = await send(loops, inFlight, seconds);
    const passed = (performance.now() - startedMs) / 1_000;
    const statements = loops.reduce((sum, loop) => sum + loop.statements, -statementsBefore);
    return {
      loops: count,
      inFlight,
      eventsPerSecond: events / passed,
      statementsPerSecond: statements / passed,
      eventsPerStatement: events / statements,
      serverUs: (familyUs(server.pid) - before.server) / events,
      loopUs: (ownUs() - before.own) / events,
      walBytes: ((await loggedBytes(server)) - before.bytes) / events,
    };
  } finally {
    await Promise.all(loops.map((loop) => loop.close()));
    await database.end();
  }
}

async function send(
  loops: readonly AppendLoop[],
  inFlight: number,
  seconds: number,
): Promise<number> {
  const untilMs = performance.now() + seconds * 1_000;
  let events = 0;
  const sendTurns = async (loop: AppendLoop, first: number): Promise<void> => {
    let turn = first;
    do {
      // oxlint-disable-next-line no-await-in-loop -- an event follows the other
      await loop.append(turn);
      turn += inFlight;
      events++;
    } while (performance.now() < untilMs);
  };
  await Promise.all(
    loops.flatMap((loop) => Array.from({ length: inFlight }, (_, first) => sendTurns(loop, first))),
  );
  return events;
}
