// Every setting that a page names exists: its dotted name is one that `--set` takes, and its variable is that of a
// setting which the reference lists.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND_LINE_VARIABLES } from '../../cli/platform/environment.ts';
import { PLATFORM_VARIABLES } from '../../client/index.ts';
import { readControlPlaneSettings } from '../../control-plane/program/control-plane-settings.ts';
import { SvcError, SVC_ERROR_CODES } from '../../kit/svc-error.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../host/service/section-settings.ts';
import { variableName } from '../../kit/setting-name.ts';
import { readSettings } from '../../host/service/settings.ts';
import { readGatewaySettings } from '../../gateway/gateway-settings.ts';
import { readLoginProviderSettings } from '../../login-provider/login-provider-settings.ts';
import { readRegistrySettings } from '../../registry/registry-settings.ts';
import { readWebhooksSettings } from '../../webhooks/program/webhooks-settings.ts';
import { PROCESS_PORT_VARIABLE } from '../../process-protocol/protocol.ts';
import { readProxySettings } from '../../proxy/pod/proxy-settings.ts';

const root = join(import.meta.dirname, '..', '..');
const REFERENCE = join('docs', 'reference', 'settings.md');
/** Its names that begin with `svc.` are attributes of spans; tracing-page.test.ts has its settings. */
const TRACING = join('docs', 'how-to', 'tracing.md');
const pages = globSync('**/*.md', {
  cwd: root,
  exclude: ['**/node_modules/**', 'build/**'],
}).filter((page) => page !== TRACING);

const found = (page: string, pattern: RegExp) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(pattern)].map(([, name]) => name!);
const dottedIn = (page: string) => found(page, /(?<!\.)\b(svc(?:\.[a-z][a-z0-9-]*)+)(?=[`=])/g);
const listed = new Set(dottedIn(REFERENCE));
const variables = new Set([...listed].map((name) => variableName(name)));
/** Variables of tests, by which they do more. */
const TEST_VARIABLES = [
  'SVC_TEST_FRAMES',
  'SVC_TEST_JOURNAL',
  'SVC_TEST_JOURNALS',
  'SVC_TEST_KILLS',
  'SVC_TEST_POSTGRES',
  'SVC_TEST_RECORD',
  'SVC_TEST_SEED',
  'SVC_TEST_TRACE',
  'SVC_TEST_WRITES',
];
/** Codes of errors, and the variables that are no settings: those of a process of the platform, of commands, and of tests. */
const others: ReadonlySet<string> = new Set<string>([
  ...SVC_ERROR_CODES,
  ...PLATFORM_VARIABLES,
  ...COMMAND_LINE_VARIABLES,
  ...TEST_VARIABLES,
  PROCESS_PORT_VARIABLE,
]);

/** `svc.http` stands for all that begin so. */
const isGroup = (name: string) => [...listed].some((other) => other.startsWith(`${name}.`));

/** A value that no setting takes is SVC_SETTING_INVALID; a name that there is not, SVC_USAGE. */
function isSetting(name: string): boolean {
  const inputs = { args: ['--set', `${name}=`], env: {}, stderrIsTerminal: false };
  return (
    takes(() =>
      readSettings(
        { ...inputs, args: [...inputs.args, 'a.wasm'] },
        SECTION_DEFAULTS,
        SECTION_RANGES,
      ),
    ) ||
    takes(() => readProxySettings(inputs)) ||
    takes(() => readControlPlaneSettings(inputs)) ||
    takes(() => readGatewaySettings(inputs)) ||
    takes(() => readLoginProviderSettings(inputs)) ||
    takes(() => readRegistrySettings(inputs)) ||
    takes(() => readWebhooksSettings(inputs))
  );
}

function takes(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    return error instanceof SvcError && error.code === 'SVC_SETTING_INVALID';
  }
}

test('the reference lists settings, and each exists', () => {
  expect(listed.size).toBeGreaterThan(90);
  expect([...listed].filter((name) => !isSetting(name))).toEqual([]);
  expect(isSetting('svc.http.portt')).toBe(false);
});

test.each(pages)('%s names settings that exist', (page) => {
  const dotted = dottedIn(page).filter((name) => !listed.has(name) && !isGroup(name));
  expect(dotted).toEqual([]);
  const named = found(page, /\b(SVC_[A-Z0-9_]*[A-Z0-9])\b(?!_|…)/g);
  expect(named.filter((name) => !variables.has(name) && !others.has(name))).toEqual([]);
});
