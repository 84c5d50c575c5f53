// The table of the webhook service's routes.
import { expect, test } from 'vitest';
import {
  schemaProblems,
  WEBHOOK_PARAMETERS,
  WEBHOOK_ROUTES,
  webhookRefusalsOf,
  type DatasetReport,
} from '../../../client/index.ts';

const REPORT: DatasetReport = {
  name: 'routes',
  model: 'field-service',
  modelVersion: '1.0.0',
  tags: [],
  status: 'SOLVING_COMPLETED',
  score: '0hard/-1soft',
  seq: 0,
  parentId: null,
  originId: null,
  supersededBy: null,
  runLink: 'https://platform.example/runs/1',
  outputLink: 'https://platform.example/runs/1/output',
};

function problemsOf(changed: object): readonly string[] {
  const { body } = WEBHOOK_ROUTES.reportDataset;
  return schemaProblems(body, { ...REPORT, ...changed }).map(
    ({ path, reason }) => `${path} ${reason}`,
  );
}

test('every parameter of a path has a schema, and every schema a path', () => {
  const paths = Object.values(WEBHOOK_ROUTES).map(({ path }) => path);
  const used = paths.flatMap((path) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!));
  expect([...new Set(used)].toSorted()).toEqual(Object.keys(WEBHOOK_PARAMETERS).toSorted());
});

test('no two routes have one method and path', () => {
  const all = Object.values(WEBHOOK_ROUTES).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(all).size).toBe(all.length);
});

test('every route says who may use it', () => {
  expect(webhookRefusalsOf(WEBHOOK_ROUTES.listWebhooks).get(403)).toBe(
    'the caller is a member of the tenant, and not an administrator of the tenant',
  );
  expect(webhookRefusalsOf(WEBHOOK_ROUTES.reportDataset).get(403)).toContain('the platform');
});

test('a report has every field of the data of an event', () => {
  expect(problemsOf({})).toEqual([]);
  expect(
    problemsOf({ score: null, seq: Number.MAX_SAFE_INTEGER, status: 'SOLVING_ACTIVE' }),
  ).toEqual([]);
  const { name: _, ...without } = REPORT;
  expect(schemaProblems(WEBHOOK_ROUTES.reportDataset.body, without)).toEqual([
    { path: '/name', reason: 'is missing' },
  ]);
});

test.each([
  [{ seq: 2 ** 53 }, /^\/seq is not a whole number/],
  [{ seq: -1 }, /^\/seq is not a whole number/],
  [{ seq: 1.5 }, /^\/seq is not a whole number/],
  [{ score: '1hard' }, /^\/score is "1hard"/],
  [{ name: 'x'.repeat(257) }, /^\/name is longer than 256 characters/],
  [{ tags: Array.from({ length: 101 }, () => 'a') }, /^\/tags has 101 items/],
  [{ tags: ['a', 1] }, /^\/tags\/1 is not a text/],
  [{ solution: {} }, /has the unknown field "solution"/],
])('%j in a report is a problem', (changed, problem) => {
  expect(problemsOf(changed)).toEqual([expect.stringMatching(problem)]);
});
