// docs/reference/management.md: the paths, the parts and the series that it lists are those that there are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManagementPart } from '../../host/introspection/management-part.ts';
import { SingleNode } from '../../host/introspection/management/cluster-members.ts';
import type { LogEntry } from '../../kit/log-entry.ts';
import type { ServiceView } from '../../host/introspection/service-view.ts';
import { INTROSPECTION_SETTING_NAMES } from '../../host/service/settings.ts';

const file = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'management.md');
const page = readFileSync(file, 'utf8');

/** The first column of the table below the heading, or above all of them. */
const rowsOf = (heading: string) =>
  [
    ...page
      .split(/^## /m)
      .find((section) => section.startsWith(heading))!
      .matchAll(/^\| `([^`]+)`/gm),
  ].map(([, name]) => name!);
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, text]) => JSON.parse(text!) as Record<string, unknown>,
);

async function management(): Promise<string> {
  const log: LogEntry[] = [];
  const part = new ManagementPart({
    settings: {
      name: 'shopping-cart',
      http: true,
      port: 9000,
      names: INTROSPECTION_SETTING_NAMES,
    },
    shards: { count: 1, serving: [true] },
    source: Promise.resolve(),
    journal: Promise.resolve({ failure: new Promise(() => {}) }),
    views: { read: () => [] },
    configuration: { problem: undefined },
    metrics: { text: () => 'x 1\n' },
    log: (entry: LogEntry) => log.push(entry),
  } as unknown as ServiceView);
  onTestFinished(async () => part.close());
  await part.listen({ host: '127.0.0.1', port: 0 });
  part.served();
  return `http://127.0.0.1:${String(log[0]!.fields!['port'])}`;
}

test('every path of the page is there', async () => {
  const url = await management();
  const paths = rowsOf('# The management server');
  expect(paths).toHaveLength(6);
  const members = (await (await fetch(`${url}/cluster/members`)).json()) as { selfNode: string };
  const statuses = paths.map(async (path) => {
    const { status } = await fetch(url + path.replace('{node}', members.selfNode));
    return [path, status];
  });
  expect(await Promise.all(statuses)).toEqual(paths.map((path) => [path, 200]));
});

test('the parts of readiness are those of the page', async () => {
  const ready = await fetch(`${await management()}/ready`);
  const { parts } = (await ready.json()) as { parts: { part: string }[] };
  expect(rowsOf('Readiness')).toEqual(parts.map(({ part }) => part));
});

test('the cluster of the page is one that there can be', () => {
  const self = new SingleNode('shopping-cart', 'shopping-cart-0', '6228e5cb97db1933');
  expect(examples.at(-1)).toEqual(self.members());
});
