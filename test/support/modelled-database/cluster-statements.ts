// ClusterStatements are the statements by which nodes join, renew their leases, take slices and hand them over. Conditions that a test
// may remove from a statement are looked for in its text.
import type { Parameter, Row } from '../../../host/storage/postgres/database-session.ts';
import { SLICE_COUNT } from '../../../model/slice.ts';
import type { ClusterRow, NodeRow, SliceRow } from './modelled-tables.ts';
import type { KnownStatement, StatementRun } from './statement-run.ts';

const ONLY = 'only';
/** Changes of lanes by operators, of which there are none. */
const WORK = 0;
const ANY = (): boolean => true;

type Slices = readonly number[];

/** Returns when a lease ends that is given now. The statement names how long it lasts. */
function leaseEndMs(run: StatementRun, text: string): number {
  const [, ms] = /clock_timestamp\(\) \+ interval '(\d+) milliseconds'/.exec(text)!;
  return run.nowMs + Number(ms);
}

/** Returns until when a lease has to last, by a statement that takes something from its node, for the node to keep it. */
function deadBeforeMs(run: StatementRun, text: string): number {
  const [, seconds = '0'] =
    /lease_until <= clock_timestamp\(\)(?: \+ interval '(\d+) s')?/.exec(text) ?? [];
  return run.nowMs + Number(seconds) * 1_000;
}

/** Returns by how much a statement raises the epoch of a slice. */
function raisedBy(text: string): number {
  const [, sign = '+', by = '0'] = /SET (?:owner = \S+ )?epoch = s\.epoch(?: ([+-]) (\d))?/.exec(
    text,
  )!;
  return Number(sign + by);
}

async function changeNode(
  run: StatementRun,
  number: Parameter,
  qualifies: (row: NodeRow) => boolean,
  change: (row: NodeRow) => NodeRow | undefined,
): Promise<NodeRow | undefined> {
  const key = number as number;
  await run.step();
  const row = await run.lock(run.tables.nodes, key, qualifies);
  if (row === undefined) return undefined;
  const changed = change(row);
  run.transaction.write(run.tables.nodes, key, changed);
  return changed ?? row;
}

async function changeCluster(
  run: StatementRun,
  change: (row: ClusterRow) => ClusterRow,
): Promise<ClusterRow> {
  await run.step();
  const row = (await run.lock(run.tables.cluster, ONLY, ANY))!;
  const changed = change(row);
  if (changed !== row) run.transaction.write(run.tables.cluster, ONLY, changed);
  return changed;
}

/** Locks slices in their order, and changes those that qualify. */
async function changeSlices(
  run: StatementRun,
  slices: Iterable<number>,
  {
    qualifies,
    skips = false,
    change,
  }: {
    readonly qualifies: (row: SliceRow) => boolean;
    readonly skips?: boolean;
    readonly change: (row: SliceRow) => SliceRow;
  },
): Promise<readonly SliceRow[]> {
  await run.step();
  const changed: SliceRow[] = [];
  for (const slice of [...slices].toSorted((a, b) => a - b)) {
    const locked = run.lock(run.tables.slices, slice, qualifies, skips);
    const row = locked instanceof Promise ? await locked : locked;
    if (row !== undefined) changed.push(change(row));
  }
  for (const row of changed) run.transaction.write(run.tables.slices, row.slice, row);
  return changed;
}

function isAlive(run: StatementRun, node: NodeRow | undefined): boolean {
  return node !== undefined && node.leaseUntilMs > run.nowMs;
}

/** Returns the nodes, the one whose lease ends last before the others. */
function latestFirst(run: StatementRun): readonly NodeRow[] {
  return [...run.rows(run.tables.nodes)].toSorted((a, b) => b.leaseUntilMs - a.leaseUntilMs);
}

function leftMsOf(run: StatementRun, { leaseUntilMs }: NodeRow): number {
  return Math.round(leaseUntilMs - run.nowMs);
}

function readCluster(run: StatementRun): readonly Row[] {
  const { version, takeoverFromMs } = run.read(run.tables.cluster, ONLY)!;
  const nodes = [...run.rows(run.tables.nodes)].toSorted((a, b) => a.number - b.number);
  const owners: number[] = [];
  const heads: number[] = [];
  for (let slice = 0; slice < SLICE_COUNT; slice++) {
    const { owner, head } = run.read(run.tables.slices, slice)!;
    owners.push(owner ?? 0);
    heads.push(head);
  }
  const json = nodes.map((node) => ({
    number: node.number,
    uid: node.uid,
    status: node.status,
    machine: node.machine,
    host: node.host,
    port: node.port,
    version: node.version,
    fingerprint: node.fingerprint,
    joined_ms: Math.round(node.joinedMs),
    lease_left_ms: Math.round(node.leaseUntilMs - run.nowMs),
  }));
  const pauseMs = Math.max(0, Math.round(takeoverFromMs - run.nowMs));
  return [[version, pauseMs, nodes.length === 0 ? null : JSON.stringify(json), owners, heads]];
}

export const CLUSTER_STATEMENTS: readonly KnownStatement[] = [
  ['FROM pg_control_system()', (run) => [[run.needs.history]]],
  ['SELECT (extract(epoch FROM clock_timestamp())', (run) => [[Math.round(run.nowMs)]]],
  [
    'SELECT history, greatest(0',
    async (run) => {
      const { history, takeoverFromMs } = await changeCluster(run, (row) => row);
      return [[history, Math.max(0, Math.round(takeoverFromMs - run.nowMs))]];
    },
  ],
  [
    'SELECT FROM svc.cluster FOR UPDATE',
    async (run) => {
      await changeCluster(run, (row) => row);
      return [[]];
    },
  ],
  [
    'UPDATE svc.cluster SET history = $1',
    async (run, [history], text) => {
      await changeCluster(run, (row) => ({
        version: row.version + 1,
        history: history as string,
        takeoverFromMs: row.history === '' ? row.takeoverFromMs : leaseEndMs(run, text),
      }));
      return [];
    },
  ],
  [
    'UPDATE svc.cluster SET version = version + 1',
    async (run) => {
      await changeCluster(run, (row) => ({ ...row, version: row.version + 1 }));
      return [];
    },
  ],
  ['SELECT c.version, greatest(0', (run) => readCluster(run)],
  [
    'DELETE FROM svc.node WHERE number = $1 AND renewals BETWEEN',
    async (run, [number, least, most]) => {
      const isOwn = ({ renewals }: NodeRow): boolean =>
        renewals >= (least as number) && renewals <= (most as number);
      const removed = await changeNode(run, number!, isOwn, () => undefined);
      return removed === undefined ? [] : [[1]];
    },
  ],
  [
    'DELETE FROM svc.node WHERE uid = $1',
    async (run, [uid, after]) => {
      const qualifies = (row: NodeRow): boolean =>
        row.uid === uid && row.number > (after as number) && row.renewals === 0;
      for (const { number } of run.rows(run.tables.nodes))
        await changeNode(run, number, qualifies, () => undefined);
      return [];
    },
  ],
  [
    'WITH dead AS (',
    async (run, [self], text) => {
      await run.step();
      const removed: Row[] = [];
      const isDead = (row: NodeRow): boolean =>
        row.leaseUntilMs <= deadBeforeMs(run, text) && row.number !== self;
      for (const { number } of [...run.rows(run.tables.nodes)].toSorted(
        (a, b) => a.number - b.number,
      )) {
        const locked = run.lock(run.tables.nodes, number, isDead, true);
        if ((locked instanceof Promise ? await locked : locked) === undefined) continue;
        run.transaction.write(run.tables.nodes, number, undefined);
        removed.push([number]);
      }
      return removed;
    },
  ],
  [
    'SELECT n.machine, (extract',
    (run, [isExclusive]) => {
      const found = latestFirst(run).find((node) => node.isExclusive || isExclusive === true);
      if (found === undefined) return [];
      return [[found.machine, leftMsOf(run, found), found.number, found.renewals]];
    },
  ],
  [
    'SELECT DISTINCT ON (n.fingerprint)',
    (run) => {
      const found = new Map<string, NodeRow>();
      for (const node of latestFirst(run)) found.getOrInsert(node.fingerprint, node);
      return [...found.values()].map((node) => {
        const { fingerprint, machine, number, renewals } = node;
        return [fingerprint, machine, leftMsOf(run, node), number, renewals];
      });
    },
  ],
  [
    'INSERT INTO svc.node (uid',
    async (run, values, text) => {
      const [uid, status, isExclusive, machine, host, port, version, fingerprint] = values;
      await run.step();
      const number = run.needs.nextNumber('node');
      await run.insert(run.tables.nodes, number, {
        number,
        uid: uid as string,
        status: status as string,
        joinedMs: run.nowMs,
        leaseUntilMs: leaseEndMs(run, text),
        renewals: 0,
        isExclusive: isExclusive as boolean,
        machine: machine as string,
        host: host as string | null,
        port: port as number | null,
        version: version as string,
        fingerprint: fingerprint as string,
      });
      return [[number]];
    },
  ],
  [
    'WITH renewed AS (',
    async (run, [number, least, most], text) => {
      const qualifies = (row: NodeRow): boolean =>
        row.renewals >= (least as number) && row.renewals <= (most as number) && isAlive(run, row);
      const renewed = await changeNode(run, number!, qualifies, (row) => ({
        ...row,
        renewals: row.renewals + 1,
        leaseUntilMs: leaseEndMs(run, text),
      }));
      if (renewed === undefined) return [];
      const ends = [...run.rows(run.tables.nodes)]
        .filter((node) => node.number !== number)
        .map(({ leaseUntilMs }) => leaseUntilMs);
      const leftMs = ends.length === 0 ? null : Math.round(Math.min(...ends) - run.nowMs);
      return [[renewed.renewals, run.read(run.tables.cluster, ONLY)!.version, WORK, leftMs]];
    },
  ],
  [
    'WITH free AS (SELECT number FROM svc.node',
    async (run, _values, text) => {
      await run.step();
      const numbers = [...run.rows(run.tables.nodes)].map(({ number }) => number);
      for (const number of numbers.toSorted((a, b) => a - b)) {
        const locked = run.lock(run.tables.nodes, number, ANY, true);
        const row = locked instanceof Promise ? await locked : locked;
        if (row === undefined) continue;
        const leaseUntilMs = leaseEndMs(run, text);
        run.transaction.write(run.tables.nodes, number, { ...row, leaseUntilMs });
      }
      return [];
    },
  ],
  [
    'WITH free AS (\n      SELECT s.slice',
    async (run, [self, slices], text) => {
      const node = run.read(run.tables.nodes, self as number);
      const mayTake = (): boolean => isAlive(run, node) && node!.status !== 'leaving';
      const taken = await changeSlices(run, slices as Slices, {
        qualifies: ({ owner }) =>
          mayTake() && (owner === null || run.read(run.tables.nodes, owner) === undefined),
        skips: true,
        change: (row) => ({ ...row, owner: self as number, epoch: row.epoch + raisedBy(text) }),
      });
      return taken.map(({ slice, head }) => [slice, head]);
    },
  ],
  [
    'WITH mine AS (\n      SELECT s.slice, n.number AS next',
    async (run, [self, slices, nexts], text) => {
      const next = new Map(
        (slices as Slices).map((slice, index) => [slice, (nexts as Slices)[index]!]),
      );
      const isServing = (number: number): boolean => {
        const node = run.read(run.tables.nodes, number);
        return node?.status === 'up' && isAlive(run, node);
      };
      const moved = await changeSlices(run, next.keys(), {
        qualifies: ({ slice, owner }) => owner === self && isServing(next.get(slice)!),
        skips: true,
        change: (row) => ({
          ...row,
          owner: next.get(row.slice)!,
          epoch: row.epoch + raisedBy(text),
        }),
      });
      return moved.map(({ slice, owner }) => [slice, owner]);
    },
  ],
  [
    "UPDATE svc.node SET status = 'up'",
    async (run, [number, host, port]) => {
      const changed = await changeNode(
        run,
        number!,
        ({ status }) => status === 'joining',
        (row) => ({ ...row, status: 'up', host: host as string, port: port as number }),
      );
      return changed === undefined ? [] : [[1]];
    },
  ],
  [
    "UPDATE svc.node SET status = 'leaving'",
    async (run, [number]) => {
      const changed = await changeNode(
        run,
        number!,
        ({ status }) => status !== 'leaving',
        (row) => ({ ...row, status: 'leaving' }),
      );
      return changed === undefined ? [] : [[1]];
    },
  ],
  [
    'SELECT slice FROM svc.slice WHERE owner = $1 ORDER BY slice FOR UPDATE SKIP LOCKED',
    async (run, [self]) => {
      const own = [...run.rows(run.tables.slices)].filter(({ owner }) => owner === self);
      await changeSlices(
        run,
        own.map(({ slice }) => slice),
        {
          qualifies: ({ owner }) => owner === self,
          skips: true,
          change: (row) => ({ ...row, owner: null }),
        },
      );
      return [];
    },
  ],
  [
    'FROM mine WHERE s.slice = mine.slice',
    async (run, [slices, self], text) => {
      const rows = await changeSlices(run, slices as Slices, {
        qualifies: ({ owner }) => owner === self,
        change: (row) => ({ ...row, epoch: row.epoch + raisedBy(text) }),
      });
      for (const { slice, epoch } of rows)
        run.transaction.deeds.push({ kind: 'claim', slice, node: self as number, epoch });
      return rows.map(({ slice, epoch, head, commits }) => [slice, epoch, head, commits]);
    },
  ],
  [
    'FROM sent WHERE s.slice = sent.slice',
    async (run, [slices, epochs], text) => {
      const sent = new Map(
        (slices as Slices).map((slice, index) => [slice, (epochs as Slices)[index]]),
      );
      await changeSlices(run, sent.keys(), {
        qualifies: ({ slice, epoch }) => sent.get(slice) === epoch,
        change: (row) => ({ ...row, epoch: row.epoch + raisedBy(text) }),
      });
      return [];
    },
  ],
];
