// The structure of manifests against the published types of the newest Kubernetes.
import { expect, test } from 'vitest';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import { GOLDEN_SERVICES } from '../../support/kubernetes/golden-services.ts';
import { publishedTypes } from '../../support/kubernetes/published-types.ts';
import {
  type FieldTypes,
  type PublishedTypes,
  structuralProblems,
} from '../../support/kubernetes/structural-check.ts';

const published = publishedTypes();
const without = published === undefined ? ' (@kubernetes/client-node is not installed)' : '';

test.skipIf(published === undefined).each(Object.entries(GOLDEN_SERVICES))(
  `the manifests of %s have only published fields, of their types${without}`,
  async (_, { desired, installation }) => {
    const manifests = manifestsOf(desired, installation);
    const found = await Promise.all(
      manifests.map((manifest) => structuralProblems(manifest, published!)),
    );
    expect(found.flat()).toEqual([]);
    expect(manifests.length).toBeGreaterThanOrEqual(4);
  },
);

test.skipIf(published === undefined)(
  `the published types know what became of a pod since 1.20, and no fields that are misspelt${without}`,
  async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: {
        initContainers: [{ name: 'a', image: 'a', restartPolicy: 'Always' }],
        containers: [
          { name: 'b', image: 'b', readinesProbe: {}, ports: [{ containerPort: '80' }] },
        ],
      },
    };
    expect(await structuralProblems(pod, published!)).toEqual([
      'Pod.spec.containers[0].readinesProbe is no field of V1Container',
      'Pod.spec.containers[0].ports[0].containerPort is "80": no number',
    ]);
  },
);

/** A few types, as the package has them. */
const FEW: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  V1ObjectMeta: { name: 'string', labels: '{ [key: string]: string; }' },
  V1Thing: {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'V1ObjectMeta',
    parts: 'Array<V1Part>',
  },
  V1Part: { port: 'IntOrString', count: 'number', isOn: 'boolean', other: 'V1Missing' },
};
const few: PublishedTypes = {
  fieldsOf: (type) => {
    const fields: FieldTypes | undefined = FEW[type] && new Map(Object.entries(FEW[type]));
    return Promise.resolve(fields);
  },
};

test.each<[object, readonly string[]]>([
  [{ parts: [{ port: 'http', count: 2, isOn: true }, { port: 80 }] }, []],
  [{ part: [] }, ['Thing.part is no field of V1Thing']],
  [{ parts: {} }, ['Thing.parts is no list']],
  [{ parts: ['a'] }, ['Thing.parts[0] is no V1Part']],
  [{ parts: [{ count: '2' }] }, ['Thing.parts[0].count is "2": no number']],
  [{ parts: [{ port: 1.5 }] }, ['Thing.parts[0].port is 1.5: no IntOrString']],
  [{ parts: [{ isOn: undefined }] }, ['Thing.parts[0].isOn is undefined: no boolean']],
  [
    { parts: [{ other: {} }] },
    ['Thing.parts[0].other has the type V1Missing, which is not published'],
  ],
  [{ metadata: { labels: { a: 1 } } }, ['Thing.metadata.labels.a is 1: no string']],
  [{ metadata: { labels: [] } }, ['Thing.metadata.labels is no object']],
])('the check of %j finds %j', async (more, expected) => {
  const manifest = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, ...more };
  expect(await structuralProblems(manifest, few)).toEqual(expected);
});

test('of a custom resource only the metadata are checked', async () => {
  const custom = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', spec: { any: 1 } };
  expect(await structuralProblems({ ...custom, metadata: { name: 'a' } }, few)).toEqual([]);
  expect(await structuralProblems({ ...custom, metadata: { nam: 'a' } }, few)).toEqual([
    'Cluster.metadata.nam is no field of V1ObjectMeta',
  ]);
});
