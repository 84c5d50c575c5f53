// docs/how-to/tracing.md: the settings that it names exist, and the attributes are those that spans have.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readableSpans } from '../../host/introspection/observability/otlp-span.ts';
import type { RecordedSpan } from '../../host/shards/recorder/recorded-span.ts';
import { dottedName, variableName } from '../../kit/setting-name.ts';
import { readSettings } from '../../host/service/settings.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../host/service/section-settings.ts';

const file = join(import.meta.dirname, '..', '..', 'docs', 'how-to', 'tracing.md');
const page = readFileSync(file, 'utf8');

const SPAN: RecordedSpan = {
  number: 1,
  shard: 0,
  kind: 'endpoint',
  component: 'Carts',
  handler: 'add',
  entityId: 'a',
  traceId: '0'.repeat(31) + '1',
  spanId: '0'.repeat(15) + '1',
  parentId: undefined,
  traceState: undefined,
  isSampled: true,
  startMs: 0,
  durationMs: 1,
  outcome: 'Failed',
  fuel: 1,
  events: 1,
  status: 500,
  fault: {
    code: 'fuel',
    limit: 'handler-fuel',
    reason: '',
    guestMessage: undefined,
    frames: undefined,
    errorId: '1',
  },
};

test('the settings of the page are ones that there are', () => {
  const sections = Object.keys(SECTION_DEFAULTS.observability);
  const known = new Set(
    [
      'svc.observability.otlp-endpoint',
      'svc.observability.otlp-headers',
      ...sections.map((key) => dottedName('observability', key)),
    ].map((name) => variableName(name)),
  );
  const named = [...page.matchAll(/(?<![[/])\bSVC_[A-Z_]+/g)].map((match) => match[0]);
  expect(new Set(named).size).toBe(5);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('the page says where to an address without a path leads', () => {
  const SVC_OBSERVABILITY_OTLP_ENDPOINT = 'http://localhost:4318';
  expect(page).toContain(`SVC_OBSERVABILITY_OTLP_ENDPOINT=${SVC_OBSERVABILITY_OTLP_ENDPOINT}`);
  const settings = readSettings(
    { args: ['a.wasm'], env: { SVC_OBSERVABILITY_OTLP_ENDPOINT }, stderrIsTerminal: false },
    SECTION_DEFAULTS,
    SECTION_RANGES,
  );
  expect(settings.otlp?.url).toBe('http://localhost:4318/v1/traces');
});

test('the attributes of the page are those that spans have', () => {
  const readable = readableSpans({
    service: 'shop',
    instanceId: '1',
    runtimeVersion: '1',
    routes: [{ endpoint: 'Carts', handler: 'add', method: 'POST', path: '/carts' }],
  });
  const spans = [readable(SPAN), readable({ ...SPAN, outcome: 'Refused' })];
  const had = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  const table = page.slice(page.indexOf('| Attribute |'));
  const shown = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  expect(shown.toSorted()).toEqual([...had].toSorted());
});
