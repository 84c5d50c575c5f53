// docs/how-to/several-machines.md: the commands for a laptop start three nodes that answer for one another. The database is one of the
// tests, and the ports are free ones.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileExample } from '../support/compile-fixture.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { freePorts } from '../support/free-ports.ts';
import { SvcProcess } from '../support/host-process.ts';
import type { FreshDatabase } from '../support/postgres/fresh-database.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE = 'docs/how-to/several-machines.md';
const SOON = { timeout: 120_000, interval: 100 };
const TIMEOUT_MS = 300_000;
const FIRST_PORT = 9_001;

test(
  'three nodes on a laptop share the entities, and answer for one another, also when one is killed',
  async () => {
    const [started, asked] = snippetsOf(PAGE, 'sh').map(({ code }) => code);
    const commands = started!.trimEnd().split('\n');
    expect(commands).toHaveLength(5);
    const ports = await freePorts(3);
    const withPorts = (text: string) =>
      text.replaceAll(/\b900\d\b/g, (port) => String(ports[Number(port) - FIRST_PORT]));

    const folder = temporaryFolder();
    const database = await (await PostgresServer.shared('18')).freshDatabase();
    writeFileSync(join(folder, 'database.url'), database.url, { mode: 0o600 });
    writeFileSync(join(folder, 'counter.wasm'), await compileExample('02-counter'));
    const nodes = commands
      .filter((command) => command.startsWith('npx svc run '))
      .map((command) => startNode(withPorts(command), folder));
    expect(nodes).toHaveLength(3);
    await Promise.all(nodes.map((svc) => svc.listening()));
    await expect.poll(() => shares(database), SOON).toEqual([true, true, true]);

    for (const [command, answer] of commandsIn(asked!))
      expect([command, await curl(withPorts(command))]).toEqual([command, answer]);

    const [, killed, last] = nodes;
    await killed!.end('SIGKILL');
    await expect.poll(() => shares(database), SOON).toEqual([true, true]);
    expect(await (await fetch(`${await last!.listening()}/counters/a`)).json()).toEqual({
      value: 5,
    });
  },
  TIMEOUT_MS,
);

function startNode(command: string, cwd: string): SvcProcess {
  const [, , ...words] = command.split(' ');
  const svc = new SvcProcess(words, { cwd });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

/** For each node that owns slices: whether it has about as many as the others. */
async function shares(database: FreshDatabase): Promise<readonly boolean[]> {
  const rows = await database.sql(
    'SELECT count(*)::int AS slices FROM svc.slice WHERE owner IS NOT NULL GROUP BY owner',
  );
  const total = rows.reduce((sum, { slices }) => sum + (slices as number), 0);
  return rows.map(({ slices }) => total === 1_024 && slices > 1_024 / rows.length / 1.5);
}

/** The commands of a block, each with the answer in the comment below it. */
function commandsIn(block: string): readonly (readonly [command: string, answer: string])[] {
  return [...block.matchAll(/^(curl .*)\n# (.*)$/gm)].map(([, command, answer]) => [
    command!,
    answer!,
  ]);
}

async function curl(command: string): Promise<string> {
  const [, body] = /-d '([^']*)'/.exec(command) ?? [];
  const [url] = /http:\S+/.exec(command)!;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body });
  return response.text();
}
