// The schema of the descriptor, which other languages validate with: Ajv takes a descriptor exactly if descriptorProblems finds
// nothing, but for the rules that JSON Schema cannot express.
import Ajv from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { descriptorProblems, openApiDocument, problemLine } from '../../../client/index.ts';
import {
  descriptors,
  hostnames,
  images,
  names,
  paths,
  references,
} from '../../support/generated-descriptors.ts';

const WEB = { name: 'cart', image: 'a', hosting: 'process', protocol: 'http/1.1' };
const ajv = new Ajv.Ajv2020({ strict: false });
ajv.addSchema(openApiDocument('1.0.0'), 'api');
const validate = ajv.compile({ $ref: 'api#/components/schemas/ServiceDescriptor' });

/** Problems of which the schema knows nothing. */
const UNSTATED = [
  /^(port|processPort) is \d+, which is also /,
  /^mounts\/\d+\/service is the service itself/,
  /^mounts\/\d+ is the same as entry /,
  /^resources\/(cpu|memory) is .*: write a quantity /,
  /^env\/\w+ is longer than 32768 bytes$/,
  /^env has \d+ bytes of names and values/,
];

const isStated = (line: string) => !UNSTATED.some((rule) => rule.test(line));

/**
 * Returns how schema and checks disagree on the value: the problems that the schema should have found, or its errors for a
 * value without problems.
 */
function disagreement(value: unknown): readonly unknown[] {
  const problems = descriptorProblems(value).map(problemLine);
  if (validate(value)) return problems.filter(isStated);
  return problems.length > 0 ? [] : (validate.errors ?? []);
}

describe('the schema refuses what descriptorProblems refuses, and nothing else', () => {
  test('for descriptors with some fields', () => {
    let taken = 0;
    const runs = 6000;
    fc.assert(
      fc.property(descriptors, (descriptor) => {
        expect(disagreement(descriptor)).toEqual([]);
        if (validate(descriptor)) taken++;
      }),
      { numRuns: runs },
    );
    // Neither answer is rare.
    expect(taken).toBeGreaterThan(runs / 20);
    expect(taken).toBeLessThan(runs / 1.2);
  });

  test.each<[string, fc.Arbitrary<unknown>]>([
    ['image', images.map((image) => ({ name: 'cart', image }))],
    ['name', names.map((name) => ({ name, image: 'a' }))],
    ['hostnames', hostnames.map((name) => ({ name: 'cart', image: 'a', hostnames: [name] }))],
    [
      'mounts',
      fc.tuple(paths, references).map(([path, service]) => ({
        name: 'shop',
        image: 'a',
        hosting: 'process',
        protocol: 'http/1.1',
        mounts: [{ path, service }],
        callers: [service],
      })),
    ],
  ])('for texts of the grammar of %s', (_, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(disagreement(value)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([[], null, 'cart', 1])('for %j, which is no object', (value) => {
    expect(disagreement(value)).toEqual([]);
  });

  test.each(['mounts', 'callers', 'hostnames', 'allow', 'env'])('for too many of %s', (field) => {
    const entries = Array.from({ length: 1001 }, (_, index) => `a${index}.example`);
    const value =
      field === 'env' ? Object.fromEntries(entries.map((_, index) => [`A${index}`, ''])) : entries;
    expect(disagreement({ name: 'cart', image: 'a', [field]: value })).toEqual([]);
  });
});

test.each<[string, object]>([
  ['two ports are the same', { ...WEB, port: 80, processPort: 80 }],
  ['a quantity is 0', { name: 'cart', image: 'a', resources: { cpu: '0' } }],
  ['a variable is too long in bytes', { name: 'cart', image: 'a', env: { A: 'é'.repeat(20_000) } }],
  ['a service is mounted on itself', { ...WEB, mounts: [{ path: '/a', service: 'cart' }] }],
])('the schema does not notice that %s', (_, descriptor) => {
  expect(descriptorProblems(descriptor)).toHaveLength(1);
  expect(validate(descriptor)).toBe(true);
});
