// Nodes that share the slices of a journal: who owns what, when nodes come, leave, are cut off, or end without a word.
import { describe, test, type TestContext } from 'vitest';
import { type ClusterCounts, NOBODY } from '../../../../../host/storage/cluster-nodes.ts';
import type {
  UserReport,
  UserRequest,
} from '../../../../../host/storage/postgres/postgres-connection.ts';
import { histogramCount } from '../../../../../model/shared-histogram.ts';
import { SLICE_COUNT } from '../../../../../model/slice.ts';
import { type JournalNode, JournalNodes } from '../../../../support/postgres/journal-nodes.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';

/** Numbers of slices that the node has got. */
function acquired(node: JournalNode): ClusterCounts['acquired'] {
  return node.opened.cluster.counts.acquired;
}

/** A node has about a third of the slices, or about a half, in the tests. */
const SHARE_MIN = SLICE_COUNT / 4;

describe.concurrent.each(serverVersions())('PostgreSQL %s: nodes of one journal', (version) => {
  /** Makes nodes for a test: most tests wait for leases, and run at the same time. */
  async function newNodes({ onTestFinished }: TestContext): Promise<JournalNodes> {
    const nodes = await JournalNodes.make(await PostgresServer.shared(version));
    onTestFinished(() => nodes.close());
    return nodes;
  }

  test('share the slices once they serve', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const first = await nodes.start();
    expect(first.share).toBe(SLICE_COUNT);
    expect(first.statuses).toEqual(['Joining']);
    await first.serve();
    const second = await nodes.start();
    expect(second.share).toBe(0);
    expect(first.share).toBe(SLICE_COUNT);
    await second.serve();
    await nodes.agreed([first, second]);
    expect(first.share).toBeGreaterThan(SHARE_MIN);
    expect(second.share).toBe(SLICE_COUNT - first.share);
    await expect.poll(() => first.statuses).toEqual(['Up', 'Up']);
    expect(second.opened.cluster.nodes).toEqual(first.opened.cluster.nodes);
    expect(second.opened.cluster.nodes[1]).toMatchObject({
      number: second.number,
      address: { host: '127.0.0.1', port: 17_355 },
      fingerprint: 'test',
    });
  });

  test('take over from one that ended without a word, once its lease has ended', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second, third] = await nodes.startServing(3);
    // The moment is found out by the database: the row is removed by those who take over.
    await nodes.database.sql(
      `CREATE TABLE public.removed (left_ms float8);
      CREATE FUNCTION public.note_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO public.removed VALUES (extract(epoch FROM OLD.lease_until - clock_timestamp()) * 1000); RETURN OLD; END $$;
      CREATE TRIGGER noted AFTER DELETE ON svc.node FOR EACH ROW EXECUTE FUNCTION public.note_removed()`,
    );
    const { share } = third!;
    await third!.kill();
    await nodes.agreed([first!, second!]);
    const leftMs = await nodes.value('SELECT left_ms FROM public.removed');
    expect(leftMs).toBeLessThanOrEqual(0);
    expect(leftMs).toBeGreaterThan(-1_000);
    expect(first!.statuses).toEqual(['Up', 'Up']);
    await expect.poll(() => acquired(first!).ended + acquired(second!).ended).toBe(share);
  });

  test('lose a node that cannot reach the database, and get it back under another number', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second] = await nodes.startServing(2);
    const before = second!.number;
    second!.proxy.refuse();
    await nodes.agreed([first!]);
    // It answers nothing any more when another node owns its slices.
    expect(second!.opened.problem).toContain('cannot be reached');
    expect(second!.number).toBe(before);
    second!.proxy.accept();
    await expect.poll(() => second!.number).toBeGreaterThan(before);
    await nodes.agreed([first!, second!]);
    expect(second!.share).toBeGreaterThan(SHARE_MIN);
    expect(second!.opened.problem).toBeUndefined();
    await expect.poll(() => first!.statuses).toEqual(['Up', 'Up']);
  });

  test('lose a node that gets no answer from the database', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second] = await nodes.startServing(2);
    second!.proxy.holdAnswers();
    await nodes.agreed([first!]);
    expect(second!.opened.problem).toBeDefined();
    second!.proxy.letAnswersThrough();
    await nodes.agreed([first!, second!]);
  });

  test('hand over to one that comes, in batches that were released before', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const first = await nodes.start();
    await first.serve();
    const { ports } = first.opened.connect([0, SLICE_COUNT]);
    const log: string[] = [];
    first.opened.cluster.beforeRelease((slices) => {
      log.push(`stop ${slices.length}`);
      return Promise.resolve();
    });
    ports[0].on('message', (request: UserRequest) => {
      if (request.kind === 'release') {
        const areOwn = request.slices.every((slice) => first.table.ownerOf(slice) === first.number);
        log.push(`release ${request.slices.length}, ${areOwn ? 'own' : 'lost'}`);
        const released: UserReport = { kind: 'released', number: request.number };
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
        ports[0].postMessage(released);
      } else log.push(`ended, owns ${first.share}`);
    });
    const second = await nodes.start();
    await second.serve();
    await nodes.agreed([first, second]);
    await expect.poll(() => log.at(-1)).toBe(`ended, owns ${first.share}`);
    expect(log.length % 3).toBe(0);
    const { counts } = first.opened.cluster;
    expect(counts).toMatchObject({ slices: first.share, handedOver: second.share });
    expect(counts.acquired).toEqual({ free: SLICE_COUNT, ended: 0, node: 0 });
    await expect.poll(() => histogramCount(counts.handOverSeconds)).toBe(log.length / 3);
    await expect.poll(() => acquired(second)).toEqual({ free: 0, ended: 0, node: second.share });
    let owned = SLICE_COUNT;
    for (let at = 0; at < log.length; at += 3) {
      const count = Number(log[at]!.slice('stop '.length));
      expect(count).toBeLessThanOrEqual(32);
      owned -= count;
      expect(log.slice(at + 1, at + 3)).toEqual([`release ${count}, own`, `ended, owns ${owned}`]);
    }
  });

  test('hand over although a thread does not let go, and one that stops before fails', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const first = await nodes.start();
    await first.serve();
    first.opened.connect([0, 1]);
    first.opened.cluster.beforeRelease(() => Promise.reject(new Error('failed')));
    const second = await nodes.start();
    await second.serve();
    await nodes.agreed([first, second]);
    expect(second.share).toBeGreaterThan(SHARE_MIN);
  });

  test('hand over to others when one leaves, which owns nothing then, and is a member until it ends', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second, third] = await nodes.startServing(3);
    await second!.opened.cluster.leave(60_000);
    expect(second!.share).toBe(0);
    await nodes.agreed([first!, third!]);
    await expect.poll(() => first!.statuses).toEqual(['Up', 'Leaving', 'Up']);
    expect(second!.opened.problem).toBeUndefined();
    await second!.opened.close();
    await expect.poll(() => first!.statuses).toEqual(['Up', 'Up']);
  });

  test('leave at once without another that serves, and keep what they own until they end', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const first = await nodes.start();
    await first.serve();
    const second = await nodes.start();
    await first.opened.cluster.leave(60_000);
    expect(first.share).toBe(SLICE_COUNT);
    await first.opened.close();
    // Nobody waits for the lease of one that has left.
    await nodes.agreed([second]);
  });

  test('give up nothing that others could take before its owner has ended', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second] = await nodes.startServing(2);
    await second!.opened.close();
    await nodes.agreed([first!]);
    expect(await nodes.value('SELECT count(*)::int FROM svc.node')).toBe(1);
  });

  test('start at once, whatever was split among them before', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const opened = await Promise.all([nodes.start(), nodes.start(), nodes.start()]);
    await Promise.all(opened.map((node) => node.serve()));
    await nodes.agreed(opened);
    for (const { share } of opened) expect(share).toBeGreaterThan(SHARE_MIN);
  });

  test('are refused beside one that shares with nobody, and the other way round', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const alone = await nodes.start({ isExclusive: true });
    expect(alone.share).toBe(SLICE_COUNT);
    await expect(nodes.start()).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    await expect(nodes.start({ isExclusive: true })).rejects.toThrow(
      'start this one as its standby',
    );
    await alone.opened.close();
    await nodes.start();
    await expect(nodes.start({ isExclusive: true })).rejects.toMatchObject({
      code: 'SVC_DATA_IN_USE',
    });
  });

  test('take the place of one that was lost and shared with nobody, once its lease has ended', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const lost = await nodes.start({ isExclusive: true });
    lost.proxy.refuse();
    const next = await nodes.start({ isExclusive: true });
    expect(next.share).toBe(SLICE_COUNT);
  });

  test('are refused with another module, by its name', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const first = await nodes.start({ fingerprint: 'a-module' });
    const refused = nodes.start({ fingerprint: 'another' });
    await expect(refused).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    await expect(refused).rejects.toThrow(
      /: a-module \(on .* This one has the fingerprint another\./,
    );
    await first.opened.close();
    await nodes.start({ fingerprint: 'another' });
  });

  test('take nothing from others for one lease after the database has another history', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second] = await nodes.startServing(2);
    expect(await nodes.value('SELECT history FROM svc.cluster')).toMatch(/^\d+\/1$/);
    await nodes.database.sql(`UPDATE svc.cluster SET history = 'before it was promoted'`);
    // A promoted server is another connection.
    first!.proxy.reset();
    await expect
      .poll(() => nodes.value('SELECT takeover_from > clock_timestamp() FROM svc.cluster'))
      .toBe(true);
    second!.proxy.refuse();
    await nodes.database.sql(
      `UPDATE svc.node SET lease_until = clock_timestamp() WHERE number = ${second!.number}`,
    );
    await nodes.agreed([first!]);
    expect(await nodes.value('SELECT takeover_from <= clock_timestamp() FROM svc.cluster')).toBe(
      true,
    );
  });

  test('take over from one that has ended although its lease was given by a clock that was ahead', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first, second] = await nodes.startServing(2);
    await second!.kill();
    await nodes.database.sql(
      `UPDATE svc.node SET lease_until = clock_timestamp() + interval '1 hour' WHERE number = ${second!.number}`,
    );
    await nodes.database.sql(`UPDATE svc.cluster SET history = 'before it was promoted'`);
    first!.proxy.reset();
    await nodes.agreed([first!]);
    expect(await nodes.value('SELECT count(*)::int FROM svc.node')).toBe(1);
  });

  test('own nothing of which they do not know whether they have handed it over', async (context) => {
    const { expect } = context;
    const nodes = await newNodes(context);
    const [first] = await nodes.startServing(1);
    await nodes.database.sql(
      `CREATE FUNCTION public.wait_for_release() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER held AFTER UPDATE ON svc.slice DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (OLD.owner IS DISTINCT FROM NEW.owner) EXECUTE FUNCTION public.wait_for_release()`,
    );
    const second = await nodes.start();
    await nodes.database.sql('SELECT pg_advisory_lock(4711)');
    await second.serve();
    await expect
      .poll(() =>
        nodes.value(`SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'advisory'
          AND datname = current_database()`),
      )
      .toBe(1);
    // It owns the slices of the batch no more, before the database has answered and after the connection is lost.
    expect(first!.share).toBeLessThan(SLICE_COUNT);
    first!.proxy.reset();
    expect(first!.owners.has(NOBODY)).toBe(true);
    await nodes.database.sql('SELECT pg_advisory_unlock_all()');
    await nodes.agreed([first!, second]);
  });
});
