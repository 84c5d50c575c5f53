// ComparedHistories play the same random history on a real database and on the model of it, statement by statement, and compare after each
// one what was answered, and which statements wait for a lock. The simulation is only as good as this model.
import { Random } from '../../support/random.ts';
import { ModelledServer } from '../../support/modelled-database/modelled-server.ts';
import { connectToModel, useModel } from '../../support/modelled-database/modelled-session.ts';
import type { JournalDatabase } from '../../support/postgres/journal-database.ts';
import { VirtualNetwork } from '../../support/virtual/virtual-network.ts';
import { VirtualProcess } from '../../support/virtual/virtual-process.ts';
import { VirtualTime } from '../../support/virtual/virtual-time.ts';
import { OPERATIONS, type Operation, SteppedNode } from './stepped-node.ts';
import { SteppedSession } from './stepped-session.ts';

const NODES = ['n1', 'n2', 'n3'];
/** What each node does at the beginning. */
const PREPARED: readonly (readonly Operation['kind'][])[] = [
  ['join', 'serve', 'take', 'claim'],
  ['join', 'serve'],
  ['join', 'serve'],
];
const STEPS = 120;
/** Virtual time in which every statement is answered that waits for nobody, in milliseconds. */
const ANSWERED_MS = 200;
const DRAWN = 1_000;
const RIGHT = { rate: 1, aheadMs: 0 };
/** A test ends the lease of a node whose row nobody has locked. */
export const EXPIRE = `UPDATE svc.node SET lease_until = clock_timestamp() - interval '1 minute' WHERE number IN (
  SELECT number FROM svc.node WHERE number = $1 FOR UPDATE SKIP LOCKED)`;
const EMPTY = `TRUNCATE svc.journal, svc.reply, svc.snapshot, svc.module, svc.event_type, svc.node RESTART IDENTITY;
  UPDATE svc.slice SET owner = NULL, epoch = 0, head = 0, commits = 0 WHERE epoch > 0;
  UPDATE svc.cluster SET version = 0, history = '', takeover_from = clock_timestamp()`;
const BLOCKED = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;

/** Three nodes of a database, which is real or not. */
interface World {
  readonly nodes: readonly SteppedNode[];
  /** Resolves once each statement that was sent is answered or waits for a lock. */
  readonly settled: () => Promise<void>;
  /** Ends the lease of a node. */
  readonly expire: (number: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Compared {
  /** Where the two have differed, and what went before; undefined: nowhere. */
  readonly difference: string | undefined;
  /** The steps, each with its answers. */
  readonly steps: readonly string[];
}

/** Plays the history of a seed. */
export async function compared(journals: JournalDatabase, seed: number): Promise<Compared> {
  const random = new Random(seed);
  const worlds = [await realWorld(journals), await modelledWorld(seed)] as const;
  const lines: string[] = [];
  try {
    for (const world of worlds) await prepare(world);
    for (let step = 0; step < STEPS; step++) {
      lines.push(await taken(worlds, random));
      const [real, modelled] = worlds.map(stateOf);
      if (real !== modelled)
        return {
          difference: [...lines, `the database: ${real}`, `the model:    ${modelled}`].join('\n'),
          steps: lines,
        };
      // Which of two gets a row that both wait for is a race, also in a real database.
      if (worlds[0].nodes.filter(({ session }) => session.isSent).length > 1) break;
    }
    return { difference: undefined, steps: lines };
  } finally {
    await Promise.all(worlds.map((world) => world.close()));
  }
}

/** Takes one step in both worlds. Returns what it was. */
async function taken(worlds: readonly World[], random: Random): Promise<string> {
  const at = random.below(NODES.length);
  const drawn = Array.from({ length: 4 }, () => random.below(DRAWN));
  const kind = random.pick(OPERATIONS);
  const expires = random.below(25) === 0;
  const [{ session, isBusy }] = worlds.map(({ nodes }) => nodes[at]!) as [SteppedNode, SteppedNode];
  let what = 'waits';
  if (expires) {
    what = 'is expired';
    for (const { nodes, expire } of worlds) await expire(nodes[at]!.number);
  } else if (session.isWaiting) {
    what = 'goes on';
    for (const { nodes } of worlds) nodes[at]!.session.send();
  } else if (!isBusy) {
    what = `begins to ${kind} ${drawn.join(' ')}`;
    for (const world of worlds) begin(world, at, { kind, numbers: drawn });
  }
  for (const world of worlds) await world.settled();
  return `${NODES[at]} ${what}: ${stateOf(worlds[0]!)}`;
}

/** Lets all nodes join, and one of them own everything. */
async function prepare(world: World): Promise<void> {
  for (const [at, kinds] of PREPARED.entries())
    for (const kind of kinds) {
      begin(world, at, { kind, numbers: [15] });
      const { session } = world.nodes[at]!;
      for (await world.settled(); session.isWaiting; await world.settled()) session.send();
    }
}

function begin({ nodes }: World, at: number, operation: Operation): void {
  const node = nodes[at]!;
  node.begin(
    operation,
    nodes.map(({ number }) => number),
  );
  // An operation may need no statement.
  if (node.session.isWaiting) node.session.send();
}

function stateOf({ nodes }: World): string {
  return nodes
    .map(({ session, number, isBusy }) =>
      session.isSent ? 'blocked' : `${number} ${isBusy ? 'busy' : 'idle'} ${session.answer}`,
    )
    .join(' | ');
}

async function realWorld(journals: JournalDatabase): Promise<World> {
  await journals.database.sql(EMPTY);
  const sessions = await Promise.all(NODES.map(() => journals.session()));
  const pids = await Promise.all(
    sessions.map(
      async (session) => (await session.query({ text: 'SELECT pg_backend_pid()' }))[0]![0],
    ),
  );
  const nodes = sessions.map(
    (session, index) => new SteppedNode(NODES[index]!, new SteppedSession(session)),
  );
  const isSettled = async (): Promise<boolean> => {
    const rows = await journals.database.sql(BLOCKED);
    const blocked = new Set(rows.map((row) => row['pid'] as unknown));
    return nodes.every(({ session }, index) => !session.isSent || blocked.has(pids[index]));
  };
  return {
    nodes,
    settled: async () => {
      await turns();
      while (!(await isSettled()));
      await turns();
    },
    expire: async (number) => {
      await journals.database.sql(EXPIRE, [number]);
    },
    close: async () => {
      for (const session of sessions) session.abort();
      await Promise.all(sessions.map(({ ended }) => ended));
      // The server ends their transactions.
      const text = `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)`;
      while ((await journals.database.sql(text, [pids])).length > 0);
    },
  };
}

async function modelledWorld(seed: number): Promise<World> {
  const time = new VirtualTime();
  const random = new Random(seed);
  const network = new VirtualNetwork(random);
  const bugs: unknown[] = [];
  const server = new ModelledServer({
    time,
    random,
    network,
    clocks: RIGHT,
    onBug: (error) => bugs.push(error),
  });
  const nodes: SteppedNode[] = [];
  for (const name of NODES) {
    const process = new VirtualProcess(name, time, random, RIGHT);
    network.add(process);
    useModel(process, server);
    process.arrives(0, () => {
      void connectToModel({ idleInTransactionMs: Infinity }).then((session) =>
        nodes.push(new SteppedNode(name, new SteppedSession(session))),
      );
    });
    await time.run(() => nodes.some(({ name: known }) => known === name));
  }
  return {
    nodes,
    settled: async () => {
      await time.advance(ANSWERED_MS);
      if (bugs.length > 0) throw bugs[0];
    },
    expire: async (number) => server.expire(number),
    close: async () => undefined,
  };
}

/** Lets everything happen that waits for nothing but its turn. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
