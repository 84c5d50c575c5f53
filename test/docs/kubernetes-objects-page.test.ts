// docs/reference/kubernetes-objects.md names every object, label, annotation, port, container and secret that manifests have.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RESERVED_PORTS } from '../../client/index.ts';
import * as names from '../../control-plane/kubernetes/manifests/object-names.ts';
import { manifestsOf } from '../../control-plane/kubernetes/manifests/service-manifests.ts';
import { GOLDEN_SERVICES } from '../support/kubernetes/golden-services.ts';
import { allContainers, podOf } from '../support/kubernetes/read-manifests.ts';

const page = readFileSync(
  join(import.meta.dirname, '../../docs/reference/kubernetes-objects.md'),
  'utf8',
);
const manifests = Object.values(GOLDEN_SERVICES).map(({ desired, installation }) =>
  manifestsOf(desired, installation),
);
const KEY = { project: 'PROJECT', service: '<service>' };

test('each kind of object has a row', () => {
  const kinds = new Set(manifests.flat().map(({ kind }) => kind));
  // The custom resource of a database has another name with each operator of databases.
  kinds.delete('Cluster');
  expect([...kinds].filter((kind) => !page.includes(`\n| ${kind} | \``))).toEqual([]);
});

test('each label, annotation, port and secret is named', () => {
  const texts = [
    names.FIELD_MANAGER,
    names.MANAGED_BY_LABEL,
    names.PROJECT_LABEL,
    names.SERVICE_LABEL,
    names.INCARNATION_ANNOTATION,
    names.GENERATION_ANNOTATION,
    names.APPLIED_GENERATION_ANNOTATION,
    names.INSTANCES_ANNOTATION,
    names.STARTED_ANNOTATION,
    names.TEMPLATE_ANNOTATION,
    names.PROJECT_SECRETS,
    names.SUPPLIED_URL_KEY,
    names.envSecretName(KEY),
    names.configurationSecretName(KEY),
    names.identitySecretName(KEY),
    names.databaseName(KEY),
    `${names.JOURNAL_VOLUME}-<service>-0`,
    ...names.IDENTITY_KEYS,
    ...Object.values(names.PORT_NAMES),
  ];
  expect(texts.filter((text) => !page.includes(`\`${text}\``))).toEqual([]);
  const ports = RESERVED_PORTS.map(({ port }) => port);
  expect(ports.filter((port) => !page.includes(`\n| ${port} |`))).toEqual([]);
});

test('each container is named, with its command', () => {
  const containers = manifests.flatMap((of) => allContainers(podOf(of)));
  expect(containers.length).toBeGreaterThan(10);
  for (const { name, command } of containers) {
    expect(page).toContain(`\`${name}\``);
    expect(page).toContain(command === undefined ? `\`${name}\`` : `\`${command.join(' ')}\``);
  }
});

test('the times of a stop are those of pods', () => {
  const seconds = new Set(manifests.map((of) => podOf(of).terminationGracePeriodSeconds));
  expect(seconds).toEqual(new Set([20, 30]));
  expect(page).toContain('20 seconds in all, or 30 with a\n  database');
});
