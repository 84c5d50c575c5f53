// `svc dev` with a journal in PostgreSQL: builds replace each other, and what is stored stays.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SvcProcess } from '../support/host-process.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SOON = { timeout: 90_000 };
/** Five builds. */
const ALL_MS = 400_000;

/** A counter. `added`: the name of its events. */
const source = (version: number, added = 'added') => `
import { Effect, EventSourcedEntity, Result, register } from "@svc/guest-sdk";
@data class Count { value: i32 = 0; }
@data class Add { amount: i32 = 0; }
@data abstract class CounterEvent {}
@variant("${added}") class Added extends CounterEvent { amount: i32 = 0; }
@entity("counter") class Counter extends EventSourcedEntity<Count, CounterEvent> {
  empty(entityId: string): Count { return new Count(); }
  apply(state: Count, event: CounterEvent): Count {
    if (event instanceof Added) state.value += (event as Added).amount;
    return state;
  }
  @command("add") add(state: Count, input: Add): Effect<Count> {
    const added: Added = { amount: input.amount };
    return this.persist(added).thenReplyState();
  }
  @query("get") get(state: Count): Count { return state; }
}
@endpoint("/counters") @access("local") class CounterEndpoint {
  @get("/{id}") get(id: string): Result<Count> { return new CounterClient(id).get(); }
  @post("/{id}") add(id: string, input: Add): Result<Count> { return new CounterClient(id).add(input); }
  @get("/{id}/version") version(id: string): i32 { return ${version}; }
}
register<Counter>();
register<CounterEndpoint>();
`;

test(
  'builds replace each other on a journal in a database, and what is stored stays',
  async () => {
    const server = await PostgresServer.shared('18');
    const database = await server.freshDatabase();
    onTestFinished(() => database.end());
    const folder = temporaryFolder();
    const entry = join(folder, 'till', 'assembly', 'index.ts');
    mkdirSync(join(folder, 'till', 'assembly'), { recursive: true });
    writeFileSync(entry, source(1));
    const env = {
      SVC_RUNNING_DIR: join(folder, 'running'),
      SVC_DATABASE_URL_VARIABLE: 'TILL_URL',
      TILL_URL: database.url,
    };
    const start = () => {
      const dev = new SvcProcess(['dev', 'till', '--port', '0'], { cwd: folder, env });
      onTestFinished(async () => void (await dev.end('SIGKILL')));
      return dev;
    };
    let url = '';
    const answer = async (path: string, init: RequestInit = {}) => {
      const headers = { 'content-type': 'application/json', connection: 'close' };
      // While the modules change, nobody listens.
      const response = await fetch(`${url}${path}`, { headers, ...init }).catch(() => undefined);
      return response && `${response.status} ${await response.text()}`;
    };
    const add = (amount: number) =>
      answer('/counters/a', { method: 'POST', body: JSON.stringify({ amount }) });
    const serves = async (version: number) => {
      await expect.poll(() => answer('/counters/a/version'), SOON).toBe(`200 ${version}`);
    };

    const dev = start();
    url = await dev.listening();
    await serves(1);
    expect(dev.stderr).toContain(
      'journal the database whose URL is in the environment variable TILL_URL',
    );
    expect(await add(2)).toBe('200 {"value":2}');
    writeFileSync(entry, source(2));
    await serves(2);
    expect(await answer('/counters/a')).toBe('200 {"value":2}');
    expect(await add(3)).toBe('200 {"value":5}');
    // A build that no longer has the events that are stored serves on, and says so or that it could not look.
    writeFileSync(entry, source(3, 'put-in'));
    await serves(3);
    await expect
      .poll(() => dev.stderr, SOON)
      .toMatch(/stored events (?:no longer fold|could not be looked at)/);
    expect(await answer('/counters/a')).toMatch(/^500 /);
    writeFileSync(entry, source(4));
    await serves(4);
    expect(await add(4)).toBe('200 {"value":9}');
    const stopped = await dev.end('SIGINT');
    expect(stopped.code).toBe(0);
    const modules = 'SELECT count(DISTINCT module)::int AS count FROM svc.journal';
    expect(await database.sql(modules)).toEqual([{ count: 3 }]);

    // The stop has given the journal up, so that the next session need not wait.
    const again = start();
    url = await again.listening();
    await serves(4);
    expect(await answer('/counters/a')).toBe('200 {"value":9}');
    expect(stopped.stderr + again.stderr).not.toContain(new URL(database.url).password);
  },
  ALL_MS,
);
