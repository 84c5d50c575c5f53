// The lint of the OpenAPI document: the document is valid OpenAPI 3.1, and has what readers and generators of clients need.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../client/index.ts';

/** Rules that the contract of the API does not follow, or that have no use for it. */
const UNUSED_RULES = {
  // Errors are `{ status, error }`, and the contract names paths and parameters.
  'operation-4xx-problem-details-rfc7807': 'off',
  'path-segment-plural': 'off',
  'boolean-parameter-prefixes': 'off',
  // Texts of answers may be empty, and descriptions have the examples that are needed.
  'required-string-property-missing-min-length': 'off',
  'scalar-property-missing-example': 'off',
  // Each installation has an operator of its own.
  'info-contact': 'off',
} as const;

/** Returns what the linter reports, a line each. */
async function linted(document: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['all'], rules: UNUSED_RULES });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: '/open-api.json', config });
  return problems.map(({ ruleId, message, location }) =>
    [ruleId, message, location[0]?.pointer].join(' '),
  );
}

test.each([undefined, 'https://api.svc.test:8443'])('the document has no problem', async (url) => {
  expect(await linted(openApiDocument('1.0.0', url))).toEqual([]);
});

interface Operation {
  operationId: string;
  parameters: { name: string }[];
  responses: Record<string, object>;
  tags: string[];
}
interface Document {
  paths: Record<string, Record<'get' | 'post' | 'put', Operation>>;
  components: { schemas: Record<string, object> };
}

const SERVICE = '/services/{projectId}/{name}';

test.each<[string, (document: Document) => void]>([
  ['operation-operationId-unique', ({ paths }) => (paths[SERVICE]!.get.operationId = 'whoami')],
  ['path-parameters-defined', ({ paths }) => void paths[SERVICE]!.get.parameters.pop()],
  ['no-unresolved-refs', ({ components }) => void delete components.schemas['Failure']],
  ['no-unused-components', ({ components }) => (components.schemas['Unused'] = { type: 'string' })],
  ['struct', ({ paths }) => (paths[SERVICE]!.get.responses['200'] = { text: 'no description' })],
  ['operation-tag-defined', ({ paths }) => (paths[SERVICE]!.get.tags = ['other'])],
])('the linter notices a fault: %s', async (rule, plant) => {
  const document = structuredClone(openApiDocument('1.0.0')) as unknown as Document;
  plant(document);
  expect((await linted(document)).join('\n')).toContain(rule);
});
