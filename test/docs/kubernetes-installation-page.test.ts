// docs/reference/kubernetes-installation.md names every value of the chart with its default, every object, every port, and every right of the control plane.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PLAIN_MANIFESTS } from '../../scripts/plain-manifests.ts';
import {
  chartValues,
  driverRoles,
  INSTALLATION_FOLDER,
  objectsIn,
} from '../support/kubernetes/installation-files.ts';
import { podOf } from '../support/kubernetes/read-manifests.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../docs/reference/kubernetes-installation.md'),
  'utf8',
);
const manifests = PLAIN_MANIFESTS.map(({ file }) =>
  objectsIn(readFileSync(join(INSTALLATION_FOLDER, file), 'utf8')),
);

/** Returns the values with their paths. What the user fills in is one value: settings, resources, annotations. */
function valuesIn(value: object, path = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    const isGroup = typeof one === 'object' && one !== null && !Array.isArray(one);
    const isOpen = ['settings', 'resources', 'annotations', 'ingressAnnotations', 'spec'].includes(
      name,
    );
    return isGroup && !isOpen
      ? valuesIn(one, `${path}${name}.`)
      : [[`${path}${name}`, one] as const];
  });
}

/** Whether a default is shown as it is. */
const isWord = (value: unknown) =>
  ['boolean', 'number'].includes(typeof value) || (typeof value === 'string' && value !== '');

test('each value of the chart has a row with its default, and there is no other row', () => {
  const values = valuesIn(chartValues());
  const section = page.slice(page.indexOf('## Values'), page.indexOf('## Objects'));
  const rows = [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(values.map(([name]) => name));
  const defaults = new Map(rows.map(([, name, shown]) => [name, shown]));
  const wrong = values
    .filter(([name, value]) => isWord(value) && defaults.get(name) !== `\`${String(value)}\``)
    .map(([name]) => name);
  expect(wrong).toEqual([]);
});

test('each object is named with its kind', () => {
  const objects = page.slice(page.indexOf('## Objects'), page.indexOf('## Rights'));
  const rows = objects.split('\n').filter((line) => line.startsWith('| '));
  for (const { kind, metadata } of manifests.flat())
    expect(
      rows.some((row) => row.split('|')[1]!.includes(kind) && row.includes(`\`${metadata.name}\``)),
      `${kind}/${metadata.name}`,
    ).toBe(true);
});

test('each port and each container is named', () => {
  for (const { name, ports = [] } of manifests.flatMap((of) => podOf(of).containers)) {
    expect(page).toContain(`\`${name}\``);
    for (const { containerPort } of ports)
      expect(page).toMatch(new RegExp(`\\| [0-9, ]*${containerPort}`));
  }
});

test('each right has a row', () => {
  const { platform, databases } = driverRoles();
  const rights = page.slice(page.indexOf('## Rights'));
  const verbsOf = (resource: string) =>
    rights
      .split('\n')
      .find((line) => line.split('|')[1]?.includes(`\`${resource}\``))
      ?.split('|')[2]
      ?.trim();
  const rules = [...platform.rules, ...databases.rules];
  const wanted = rules.flatMap(({ resources, verbs }) =>
    resources.map((resource) => [resource, verbs.join(', ')]),
  );
  expect(wanted.map(([resource]) => [resource, verbsOf(resource!)])).toEqual(wanted);
});
