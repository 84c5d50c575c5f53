// Nodes with two modules: who may join beside whom, and what is decided by the newest module.
import { test, type TestContext } from 'vitest';
import { SvcError } from '../../../../../kit/svc-error.ts';
import type { RunningModule } from '../../../../../host/storage/cluster-nodes.ts';
import type { ServiceSchedule } from '../../../../../host/storage/timer-administration.ts';
import { type JournalNode, JournalNodes } from '../../../../support/postgres/journal-nodes.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';

/** Shortens the leases of lost nodes, for which the test would wait longer otherwise. */
const ENDS_SOON = `UPDATE svc.node SET lease_until = clock_timestamp() + interval '1 second'`;

/** Makes nodes for one test, and returns what starts them and what is seen of their modules. */
async function newNodes({ expect, onTestFinished }: TestContext) {
  const nodes = await JournalNodes.make(await PostgresServer.shared('18'));
  onTestFinished(() => nodes.close());
  /** The modules that were compared, each with the one that has joined. */
  const compared: string[] = [];

  /** Starts a node that serves, and whose module is noted. `refuses`: modules beside which it does not run. */
  async function start(fingerprint: string, ...refuses: readonly string[]): Promise<JournalNode> {
    const admit = ({ fingerprint: running, descriptor, machine }: RunningModule): void => {
      expect([descriptor, machine]).toEqual([`{"of":"${running}"}`, expect.any(String)]);
      compared.push(`${fingerprint} beside ${running}`);
      if (refuses.includes(running))
        throw new SvcError('SVC_UPGRADE_UNSAFE', `not beside ${running}`);
    };
    const node = await nodes.start({ fingerprint, admit });
    await note(node, fingerprint);
    await node.serve();
    return node;
  }

  async function note({ opened, number }: JournalNode, fingerprint: string): Promise<void> {
    opened.noteModule({ fingerprint, descriptor: `{"of":"${fingerprint}"}`, timeMs: number });
    await expect.poll(modules).toContain(fingerprint);
  }

  /** The modules that are noted, in the order of their numbers. */
  async function modules(): Promise<readonly unknown[]> {
    const rows = await nodes.database.sql('SELECT fingerprint FROM svc.module ORDER BY number');
    return rows.map((row) => row['fingerprint']);
  }

  /** The schedules that are stored. */
  async function names(): Promise<readonly unknown[]> {
    const rows = await nodes.database.sql('SELECT name FROM svc.timer ORDER BY name');
    return rows.map((row) => row['name']);
  }

  return { nodes, compared, start, note, modules, names };
}

test.concurrent('a node joins beside another module once it was compared', async (context) => {
  const { expect } = context;
  const { compared, start } = await newNodes(context);
  await start('a');
  const second = await start('b');
  expect(compared).toEqual(['b beside a']);
  await expect.poll(() => second.statuses).toEqual(['Up', 'Up']);
});

test.concurrent('a node that does not run beside the other module does not join, and changes nothing', async (context) => {
  const { expect } = context;
  const { nodes, start } = await newNodes(context);
  const first = await start('a');
  const before = await nodes.value('SELECT version FROM svc.cluster');
  await expect(start('b', 'a')).rejects.toThrow('not beside a');
  expect(await nodes.value('SELECT version FROM svc.cluster')).toBe(before);
  expect(await nodes.value('SELECT max(number) FROM svc.node')).toBe(String(first.number));
});

test.concurrent('a third module is refused until one of the two is gone', async (context) => {
  const { expect } = context;
  const { compared, start } = await newNodes(context);
  const first = await start('a');
  await start('b');
  const refused = start('c');
  await expect(refused).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
  await expect(refused).rejects.toThrow(
    /: a \(on .*; b \(on .* Nodes run 2 modules at most: complete the update that is under way first\./,
  );
  await first.opened.close();
  await start('c');
  expect(compared).toEqual(['b beside a', 'c beside b']);
});

test.concurrent('of two that join at once with different modules, one is refused', async (context) => {
  const { expect } = context;
  const { start } = await newNodes(context);
  await start('a');
  const joined = await Promise.allSettled([start('b'), start('c')]);
  expect(joined.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test.concurrent('a node of the former module is started again, whatever it says about the newer one', async (context) => {
  const { expect } = context;
  const { compared, start, modules } = await newNodes(context);
  await start('a');
  const second = await start('a', 'b');
  await start('b');
  await second.opened.close();
  await start('a', 'b');
  expect(compared).toEqual(['b beside a']);
  // The newest module is still the last one.
  expect(await modules()).toEqual(['a', 'b']);
});

test.concurrent('the last node of a module is compared again when it is started again, and is the newest then', async (context) => {
  const { expect } = context;
  const { start, modules } = await newNodes(context);
  const first = await start('a');
  await start('b');
  await first.opened.close();
  await expect(start('a', 'b')).rejects.toThrow('not beside b');
  await start('a');
  await expect.poll(modules).toEqual(['a', 'b', 'a']);
});

test.concurrent('a node whose lease has ended joins again beside a module that it has met', async (context) => {
  const { expect } = context;
  const { nodes, compared, start } = await newNodes(context);
  const first = await start('a', 'b');
  await start('b');
  await expect.poll(() => first.statuses).toEqual(['Up', 'Up']);
  await nodes.database.sql(`DELETE FROM svc.node WHERE number = ${first.number}`);
  await expect.poll(() => first.statuses).toEqual(['Up', 'Up']);
  await expect
    .poll(() => nodes.value(`SELECT count(*)::int FROM svc.node WHERE fingerprint = 'a'`))
    .toBe(1);
  expect(compared).toEqual(['b beside a']);
});

test.concurrent('a node waits for the end of one whose lease has ended, whatever its module', async (context) => {
  const { expect } = context;
  const { nodes, compared, start } = await newNodes(context);
  const first = await start('a');
  await first.kill();
  await nodes.database.sql(
    `UPDATE svc.node SET lease_until = clock_timestamp();
    UPDATE svc.cluster SET takeover_from = clock_timestamp() + interval '1 second'`,
  );
  await start('b', 'a');
  expect(compared).toEqual([]);
  expect(await nodes.value('SELECT takeover_from <= clock_timestamp() FROM svc.cluster')).toBe(
    true,
  );
});

test.concurrent('a node waits for the end of lost ones beside which it does not run, whose leases have not ended', async (context) => {
  const { expect } = context;
  const { nodes, compared, start } = await newNodes(context);
  const lost = [await start('a'), await start('b')];
  for (const node of lost) await node.kill();
  await nodes.database.sql(ENDS_SOON);
  await start('c', 'a', 'b');
  expect(compared).toEqual(['b beside a']);
  await expect.poll(() => nodes.value('SELECT count(*)::int FROM svc.node')).toBe(1);
});

test.concurrent('a node waits for the end of a lost one that it does not fit, whose lease has not ended', async (context) => {
  const { expect } = context;
  const { nodes, compared, start } = await newNodes(context);
  const lost = await start('a');
  await lost.kill();
  await nodes.database.sql(ENDS_SOON);
  await start('b', 'a');
  expect(compared).toEqual(['b beside a']);
  expect(await nodes.value('SELECT count(*)::int FROM svc.node')).toBe(1);
});

test.concurrent('a node waits until the module of one that has just joined is noted', async (context) => {
  const { expect } = context;
  const { nodes, compared, start, note } = await newNodes(context);
  const first = await nodes.start({ fingerprint: 'a' });
  const joined = start('b');
  expect(compared).toEqual([]);
  await note(first, 'a');
  await joined;
  expect(compared).toEqual(['b beside a']);
});

test.concurrent('schedules are those of the newest module, also after one with the former was started again', async (context) => {
  const { expect } = context;
  const { nodes, start, modules, names } = await newNodes(context);
  const [first, second] = [await start('a'), await start('a')];
  await first.opened.reconcileSchedules([schedule('of-a')], 0);
  expect(await names()).toEqual(['of-a']);
  const newer = await start('b');
  await newer.opened.reconcileSchedules([schedule('of-b')], 0);
  expect(await names()).toEqual(['of-b']);
  await second.opened.close();
  const again = await start('a');
  await again.opened.reconcileSchedules([schedule('of-a')], 0);
  expect(await names()).toEqual(['of-b']);
  expect(await modules()).toEqual(['a', 'b']);
  // The update is taken back.
  await newer.opened.close();
  await expect.poll(names).toEqual(['of-a']);
  await expect.poll(modules).toEqual(['a', 'b', 'a']);
  await nodes.agreed([first, again]);
  expect(await modules()).toEqual(['a', 'b', 'a']);
});

test.concurrent('schedules are stored by the node that is left, if the first one of its module ends at the same time', async (context) => {
  const { expect } = context;
  const { start, names } = await newNodes(context);
  const [first, second] = [await start('a'), await start('a')];
  const newer = await start('b');
  await second.opened.reconcileSchedules([schedule('of-a')], 0);
  expect(await names()).toEqual([]);
  await Promise.all([first.opened.close(), newer.opened.close()]);
  await expect.poll(names).toEqual(['of-a']);
});

test.concurrent('schedules are stored again after a node with a newer module came and went unseen', async (context) => {
  const { expect } = context;
  const { nodes, start, modules, names } = await newNodes(context);
  const node = await start('a');
  await node.opened.reconcileSchedules([schedule('of-a')], 0);
  // As a node that failed at its start leaves it.
  await nodes.database.sql(
    `INSERT INTO svc.module (fingerprint, descriptor, time_ms) VALUES ('b', '{}', 0);
    UPDATE svc.timer SET name = 'of-b';
    UPDATE svc.cluster SET version = version + 2`,
  );
  await expect.poll(modules).toEqual(['a', 'b', 'a']);
  await expect.poll(names).toEqual(['of-a']);
});

test.concurrent('a node whose own lease has ended when it looks stores its schedules once it has joined again', async (context) => {
  const { expect } = context;
  const { nodes, start, names } = await newNodes(context);
  const node = await start('a');
  await nodes.database.sql(
    `UPDATE svc.node SET lease_until = clock_timestamp() - interval '1 second'`,
  );
  let hasSeen = false;
  node.opened.cluster.onNodes(() => (hasSeen = true));
  node.opened.cluster.look();
  await expect.poll(() => hasSeen).toBe(true);
  await node.opened.reconcileSchedules([schedule('of-a')], 0);
  await expect.poll(names).toEqual(['of-a']);
});

function schedule(id: string): ServiceSchedule {
  const target = { component: 'cart', id: 'one' };
  const due = { kind: 'every', everyMs: 60_000 } as const;
  return { id, target, command: 'sweep', input: 'null', schedule: due };
}
