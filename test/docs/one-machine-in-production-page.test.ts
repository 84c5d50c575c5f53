// docs/how-to/one-machine-in-production.md: its units, and those of the gateway, are ones that systemd takes, and each program takes the settings
// that they give.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readControlPlaneSettings } from '../../control-plane/program/control-plane-settings.ts';
import { readGatewaySettings } from '../../gateway/gateway-settings.ts';
import { readRegistrySettings } from '../../registry/registry-settings.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE = 'docs/how-to/one-machine-in-production.md';
const GATEWAY_PAGE = 'docs/how-to/running-the-gateway.md';
/** The files of the page, and the units of the gateway, by their paths, which stand in their first lines. */
const files = new Map(
  [PAGE, GATEWAY_PAGE]
    .flatMap((page) => snippetsOf(page, 'ini'))
    .map(({ code }) => [/^# (\S+)\n/.exec(code)![1]!, code]),
);
const SYSTEMD = 'systemd-analyze';

function fileAt(path: string): string {
  const file = files.get(path);
  if (file === undefined) throw new Error(`${PAGE} has no file ${path}.`);
  return file;
}

/** Returns the variables of a file of them. */
function variablesIn(text: string): Readonly<Record<string, string>> {
  const found = text.matchAll(/^([A-Z_]+)=(.+)$/gm);
  return Object.fromEntries(Array.from(found, ([, name, value]) => [name!, value!]));
}

/** Returns what the program of a unit is started with. */
function inputsOf(program: string) {
  const unit = fileAt(`/etc/systemd/system/svc-${program}.service`);
  const [, words = ''] = /^ExecStart=\S+\/node \S+\/svc (.+)$/m.exec(unit)!;
  const [name, ...args] = words.split(' ');
  expect(name).toBe(program);
  const own = [...unit.matchAll(/^Environment=(.+)$/gm)].map(([, line]) => line).join('\n');
  const shared = /^EnvironmentFile=(.+)$/m.exec(unit)?.[1];
  const env = {
    ...(shared === undefined ? {} : variablesIn(fileAt(shared))),
    ...variablesIn(own),
  };
  return { args, env, stderrIsTerminal: false };
}

test('the control plane and the registry share the address and the token of the registry', () => {
  const { local, baseDomain, policy } = readControlPlaneSettings(inputsOf('control-plane'));
  const registry = readRegistrySettings(inputsOf('registry'));
  expect({ baseDomain, policy: policy.creation }).toEqual({
    baseDomain: 'example.com',
    policy: 'platform-admin',
  });
  expect(local).toMatchObject({
    folder: '/var/lib/svc/machine',
    registries: {
      platform: { host: 'registry.example.com', tokenFile: registry.pullTokenFile },
    },
  });
});

test('the gateway leads to the ports of the control plane and the registry, by the routes and the identity in the folder of the machine', () => {
  const env = variablesIn(fileAt('/etc/svc/gateway.env'));
  const settings = readGatewaySettings({ args: [], env, stderrIsTerminal: false });
  const machine = readControlPlaneSettings(inputsOf('control-plane')).local!.folder;
  expect(settings).toMatchObject({
    domain: 'example.com',
    publicPort: 443,
    routesSocket: join(machine, 'routes.sock'),
    routesFile: join(machine, 'routes.json'),
    identity: { folder: join(machine, 'gateway/identity'), ownId: 'spiffe://example.com/gateway' },
  });
  const { section } = readControlPlaneSettings(inputsOf('control-plane'));
  expect(settings.platform.byHostname.get('api.example.com')).toMatchObject({ port: section.port });
  const registry = readRegistrySettings(inputsOf('registry'));
  expect(settings.platform.byHostname.get('registry.example.com')).toMatchObject({
    port: registry.section.port,
  });
});

test.each(['control-plane', 'registry', 'gateway'])(
  'the unit of the %s starts the Node that was installed with svc, however often the program ends',
  (program) => {
    const unit = fileAt(`/etc/systemd/system/svc-${program}.service`);
    const bin = '/opt/svc/current/node_modules/.bin';
    expect(unit).toContain(`\nExecStart=${bin}/node ${bin}/svc ${program}`);
    expect(unit).toMatch(/^\[Unit\]\n(.+\n)*StartLimitIntervalSec=0\n/m);
    expect(unit).toMatch(/^Restart=always\nRestartSec=1$/m);
  },
);

const hasSystemd = spawnSync(SYSTEMD, ['--version']).status === 0;
if (!hasSystemd) console.log(`${PAGE}: its units are not tested: there is no ${SYSTEMD}`);

test.skipIf(!hasSystemd)('systemd takes the units', () => {
  const folder = temporaryFolder();
  const units = [...files].filter(([path]) => /\.(service|socket)$/.test(path));
  expect(units.length).toBe(6);
  const paths = units.map(([path, text]) => {
    const file = join(folder, basename(path));
    // Neither the program nor the file of settings is on the machine of the test.
    const here = text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    writeFileSync(file, here.replace(/^EnvironmentFile=/m, 'EnvironmentFile=-'));
    return file;
  });
  const { status, stderr } = spawnSync(SYSTEMD, ['verify', ...paths], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
