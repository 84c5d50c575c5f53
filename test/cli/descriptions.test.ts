// The descriptions of the commands, which help, parsing and completion use.
import { commandWords } from '../../host/hosting/process/command-words.ts';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../cli/arguments.ts';
import { COMMAND_NAMES, findCommand, loadAllCommands } from '../../cli/command-list.ts';
import { controlPlane } from '../../cli/commands/control-plane.ts';
import { gateway } from '../../cli/commands/gateway.ts';
import { registry } from '../../cli/commands/registry.ts';
import { webhookService } from '../../cli/commands/webhook-service.ts';
import { loginProvider } from '../../cli/commands/login-provider.ts';
import { proxy } from '../../cli/commands/proxy.ts';
import { run } from '../../cli/commands/run.ts';
import { subcommandWords, type CommandDescription } from '../../cli/description.ts';
import { groupHelpOf, helpOf } from '../../cli/help.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../host/service/section-settings.ts';
import { readSettings, RUN_OPTIONS } from '../../host/service/settings.ts';
import { CONTROL_PLANE_DEFAULTS } from '../../control-plane/program/control-plane-section.ts';
import { CONTROL_PLANE_OPTIONS } from '../../control-plane/program/control-plane-settings.ts';
import { GATEWAY_DEFAULTS } from '../../gateway/gateway-section.ts';
import { GATEWAY_OPTIONS } from '../../gateway/gateway-settings.ts';
import { REGISTRY_DEFAULTS } from '../../registry/registry-section.ts';
import { REGISTRY_OPTIONS } from '../../registry/registry-settings.ts';
import { WEBHOOKS_DEFAULTS } from '../../webhooks/program/webhooks-section.ts';
import { WEBHOOKS_OPTIONS } from '../../webhooks/program/webhooks-settings.ts';
import { LOGIN_PROVIDER_DEFAULTS } from '../../login-provider/login-provider-section.ts';
import { LOGIN_PROVIDER_OPTIONS } from '../../login-provider/login-provider-settings.ts';
import { PROXY_DEFAULTS } from '../../proxy/pod/proxy-section.ts';
import { PROXY_OPTIONS } from '../../proxy/pod/proxy-settings.ts';

const descriptions = (await loadAllCommands()).map(({ description }) => description);

test('every command has the name under which it is found', () => {
  expect(descriptions.map(({ name }) => name)).toEqual(COMMAND_NAMES);
});

const groups = descriptions.filter(({ isGroup }) => isGroup === true);

test.each(groups)('the help of $name lists its commands', (one) => {
  const lines = groupHelpOf(one, descriptions).split('\n');
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines.filter((line) => line.startsWith(`  ${one.name} `))).toHaveLength(
    subcommandWords(one.name, COMMAND_NAMES).length,
  );
});

const commands = descriptions.filter(({ isGroup }) => isGroup !== true);

test.each(commands)('the help of $name fits a terminal and ends with an example', (one) => {
  const lines = helpOf(one, COMMAND_NAMES).split('\n');
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines.at(-2)).toMatch(/^ {2}.*\bsvc /);
});

const examples = descriptions.flatMap((description) =>
  description.examples
    // Without a module, which only the host allows.
    .filter((example) => !example.includes('--deployed'))
    .map((example) => [example, description] as const),
);

test.each(examples)(
  'an example makes sense: %s',
  async (example, description: CommandDescription) => {
    const words = commandWords(/\bsvc ([^|)<>]*)/.exec(example)![1]!)!;
    const found = await findCommand(words);
    expect(found?.command.description.name).toBe(description.name);
    expect(() => readArguments(description, found!.args)).not.toThrow();
  },
);

describe('the options of svc run', () => {
  test('are those that the host reads', () => {
    expect(Object.keys(run.description.options).toSorted()).toEqual(RUN_OPTIONS.toSorted());
  });

  test('have the defaults that the host has', () => {
    const settings = readSettings(
      { args: ['m.wasm'], env: {}, stderrIsTerminal: false },
      SECTION_DEFAULTS,
      SECTION_RANGES,
    );
    const { port, host } = run.description.options;
    expect(port!.default).toBe(String(settings.port));
    expect(host!.default).toBe(settings.host);
  });
});

test('the options of svc proxy are those that the proxy reads, with its defaults', () => {
  const { options } = proxy.description;
  expect(Object.keys(options).toSorted()).toEqual(PROXY_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(PROXY_DEFAULTS.port));
  expect(options['process-port']!.default).toBe(String(PROXY_DEFAULTS.processPort));
});

test('the options of svc control-plane are those that the control plane reads, with its defaults', () => {
  const { options } = controlPlane.description;
  expect(Object.keys(options).toSorted()).toEqual(CONTROL_PLANE_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(CONTROL_PLANE_DEFAULTS.port));
});

test('the options of svc gateway are those that the gateway reads, with its defaults', () => {
  const { options } = gateway.description;
  expect(Object.keys(options).toSorted()).toEqual(GATEWAY_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(GATEWAY_DEFAULTS.port));
  expect(options['plain-port']!.default).toBe(String(GATEWAY_DEFAULTS.plainPort));
});

test('the options of svc login-provider are those that the login provider reads, with its defaults', () => {
  const { options } = loginProvider.description;
  expect(Object.keys(options).toSorted()).toEqual(LOGIN_PROVIDER_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(LOGIN_PROVIDER_DEFAULTS.port));
});

test('the options of svc webhook-service are those that the service reads, with its defaults', () => {
  const { options } = webhookService.description;
  expect(Object.keys(options).toSorted()).toEqual(WEBHOOKS_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(WEBHOOKS_DEFAULTS.port));
});

test('the options of svc registry are those that the registry reads, with its defaults', () => {
  const { options } = registry.description;
  expect(Object.keys(options).toSorted()).toEqual(REGISTRY_OPTIONS.toSorted());
  expect(options['port']!.default).toBe(String(REGISTRY_DEFAULTS.port));
});
