// GeneratedFiles: every generated file of the repository, with its path and its expected content.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '@svc/client/open-api';
import { ModuleDescriptor } from '../contract/module-descriptor-schema.ts';
import { observabilityShapes } from '../contract/observability-schema.ts';
import { PROMISE_PAGE, generatedPromisePage } from '../test/support/promise-page.ts';
import { CHECKS_PAGE, checksReference } from './checks-reference.ts';
import { controlPlaneReference } from './control-plane-reference.ts';
import { RUNTIME_WORDS, runtimeWords } from './runtime-words.ts';
import { settingsReference } from './settings-reference.ts';
import { webhookApiReference } from './webhook-api-reference.ts';
import { witReference } from './wit-reference.ts';

export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    [
      'contract/generated/module-descriptor.schema.json',
      json({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: 'svc module descriptor',
        description: 'The JSON document in the custom section `svc:descriptor` of a module.',
        ...withLocalReferences(ModuleDescriptor),
      }),
    ],
    [
      'contract/generated/observability.schema.json',
      json({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: 'svc observability answers',
        description: 'What the loopback observability endpoint of a service answers, by name.',
        $defs: withLocalReferences(observabilityShapes),
      }),
    ],
    [RUNTIME_WORDS, runtimeWords()],
    ['client/generated/open-api.json', json(openApiDocument(clientVersion()))],
    ['docs/reference/control-plane.md', controlPlaneReference()],
    ['docs/reference/settings.md', settingsReference()],
    ['docs/reference/webhook-api.md', webhookApiReference()],
    ['docs/reference/wit.md', witReference()],
    [PROMISE_PAGE, generatedPromisePage()],
    [CHECKS_PAGE, checksReference()],
  ]);
}

function clientVersion(): string {
  const manifest = readFileSync(join(import.meta.dirname, '..', 'client', 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/**
 * Converts references from typebox's form, `$ref: "Name"` with `$id`s, to `$ref: "#/$defs/Name"`, which every tool
 * supports.
 */
function withLocalReferences(schema: unknown): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === '$ref' && typeof value === 'string') return `#/$defs/${value}`;
      return key === '$id' ? undefined : value;
    }),
  ) as object;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
