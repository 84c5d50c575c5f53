// The manifests of services of every hosting, as files. `vitest run -u` writes them again: read the difference before you commit it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import { GOLDEN_SERVICES } from '../../support/kubernetes/golden-services.ts';

const FOLDER = join(import.meta.dirname, 'generated');

test.each(Object.entries(GOLDEN_SERVICES))(
  'the manifests of %s are those of its file',
  async (name, { desired, installation }) => {
    const items = manifestsOf(desired, installation);
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2);
    await expect(`${text}\n`).toMatchFileSnapshot(join(FOLDER, `${name}.json`));
  },
);

test('every file has a service', () => {
  const files = Object.keys(GOLDEN_SERVICES).map((name) => `${name}.json`);
  expect(readdirSync(FOLDER).toSorted()).toEqual(files.toSorted());
});
