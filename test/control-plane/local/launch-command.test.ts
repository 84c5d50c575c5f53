// The platform alone decides who an instance is, and whom it takes a caller for: nothing that a member writes replaces it.
import { join } from 'node:path';
import { descriptorProblems, type ServiceDescriptor } from '@svc/client';
import { expect, test } from 'vitest';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { moduleCommand } from '../../../control-plane/local/launch-command.ts';
import { serviceTokens } from '../../../control-plane/orchestration/service-tokens.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CALLERS = { trustDomain: 'svc.localhost', gatewayId: 'spiffe://svc.localhost/gateway' };
const FORGED = {
  SVC_PROJECT: 'bank',
  SVC_NAME: 'vault',
  SVC_IDENTITY_FOLDER: '/elsewhere',
  SVC_IDENTITY_TRUST_DOMAIN: 'evil.example',
  SVC_IDENTITY_GATEWAY: 'spiffe://evil.example/gateway',
  SVC_CALLS_SERVICES_FILE: '/elsewhere.json',
  SVC_DATABASE_URL_FILE: '/secrets/bank/database',
  SVC_DATABASE_URL_VARIABLE: 'URL',
  SVC_REMOTING_HOST: '0.0.0.0',
  SVC_REMOTING_ADVERTISED_HOST: 'evil.example',
  SVC_CONFIGURATION_FILE: '/elsewhere.json',
  SVC_CONFIGURATION_FOLDER: '/secrets/bank',
  SVC_CONFIGURATION_SECRETS: '/secrets/bank',
  SVC_CONFIGURATION_VARIABLES: '/elsewhere.json',
};
const DESCRIPTOR: ServiceDescriptor = {
  name: 'cart',
  image: 'oci:images/cart',
  hosting: 'wasm',
  protocol: '0.2.0',
};

function commandWith(
  env: Readonly<Record<string, string>>,
  more: { readonly auth?: 'platform' } = {},
  urlFile?: string,
) {
  const folder = InstanceFolder.create(temporaryFolder(), {
    version: 1,
    name: 'cart-1-00000000',
    key: { project: 'shop', service: 'cart' },
    incarnation: 'life1',
    generation: 1,
    descriptor: { ...DESCRIPTOR, ...more, env },
    imageDigest: `sha256:${'0'.repeat(64)}`,
    moduleFile: '/modules/cart.wasm',
    address: '127.83.0.1',
    ports: { http: 9000, management: 7626, remoting: 17_355 },
    createdAtMs: 1,
  });
  const parts = {
    dataFolder: '/data',
    databases: { urlFileOf: () => urlFile },
    drainMs: 2000,
    servicesFolder: '/machine/addresses',
    socketsFolder: undefined,
    secretsFolder: '/secrets',
    serviceTokens: serviceTokens(
      {
        issuer: 'https://id.example.com',
        audience: 'https://api.example.com',
        rolesPath: ['https://svc.example', 'roles'],
        section: {
          algorithms: ['ES256', 'EdDSA'],
          clockToleranceMs: 1000,
          keysRefreshMs: 2000,
          staleKeysMs: 3000,
          readTimeoutMs: 400,
        },
      },
      { audience: 'https://services.example.com', scopesClaim: 'scp' },
    ),
    keysSocket: '/machine/keys.sock',
    baseDomain: undefined,
    callers: CALLERS,
  };
  return { folder, command: moduleCommand(folder, '/modules/cart.wasm', parts) };
}

test('an instance has its own identity, and finds others in the file of the machine', () => {
  const { folder, command } = commandWith({});
  expect(command.env).toMatchObject({
    SVC_PROJECT: 'shop',
    SVC_NAME: 'cart',
    SVC_IDENTITY_FOLDER: join(folder.path, 'identity'),
    SVC_IDENTITY_TRUST_DOMAIN: 'svc.localhost',
    SVC_IDENTITY_GATEWAY: 'spiffe://svc.localhost/gateway',
    SVC_CALLS_SERVICES_FILE: '/machine/addresses/services.json',
  });
});

test('a service with tokens of the platform takes those of its issuer, for the audience of services', () => {
  expect(commandWith({}, { auth: 'platform' }).command.env).toMatchObject({
    SVC_AUTH_ISSUER: 'https://id.example.com',
    SVC_AUTH_AUDIENCE: 'https://services.example.com',
    SVC_AUTH_ROLES_CLAIM: String.raw`https://svc\.example.roles`,
    SVC_AUTH_ALGORITHMS: 'ES256,EdDSA',
    SVC_AUTH_CLOCK_TOLERANCE_MS: '1000',
    SVC_AUTH_SCOPES_CLAIM: 'scp',
    SVC_AUTH_KEYS_REFRESH_MS: '2000',
    SVC_AUTH_STALE_KEYS_MS: '3000',
    SVC_AUTH_READ_TIMEOUT_MS: '400',
  });
  // A module is in the network of the machine, and reads the keys from their provider.
  expect(commandWith({}, { auth: 'platform' }).command.env).not.toHaveProperty(
    'SVC_AUTH_KEYS_SOCKET',
  );
  const names = Object.keys(commandWith({}).command.env);
  expect(names.filter((name) => name.startsWith('SVC_AUTH'))).toEqual([]);
});

test('variables of other names reach the runtime in a file, and secrets in a folder of the project alone', () => {
  const env = { NODE_OPTIONS: '--import=/evil', feePerDay: '0.50', SVC_HTTP_CONNECTIONS_MAX: '7' };
  const { folder, command } = commandWith(env);
  const file = join(folder.path, 'variables.json');
  expect(command.env).toMatchObject({
    SVC_HTTP_CONNECTIONS_MAX: '7',
    SVC_CONFIGURATION_VARIABLES: file,
    SVC_CONFIGURATION_SECRETS: '/secrets/shop',
  });
  expect(command.env).not.toHaveProperty('NODE_OPTIONS');
  expect(command.env).not.toHaveProperty('feePerDay');
  expect(command.files).toEqual([
    { path: file, content: '{"NODE_OPTIONS":"--import=/evil","feePerDay":"0.50"}' },
  ]);
  expect(commandWith({}).command.env).not.toHaveProperty('SVC_CONFIGURATION_VARIABLES');
});

test('an instance with a database takes calls of the others at its own address, and waits for none of them', () => {
  const { folder, command } = commandWith({}, {}, '/secrets/shop/database');
  expect(command.env).toMatchObject({
    SVC_DATABASE_URL_FILE: '/secrets/shop/database',
    SVC_DATA: join(folder.path, 'data'),
    SVC_REMOTING_HOST: '127.83.0.1',
    SVC_REMOTING_PORT: '17355',
  });
  expect(command.args).not.toContain('--standby');
  const without = commandWith({}).command;
  expect(without.env).toMatchObject({ SVC_DATA: '/data/shop/cart' });
  expect(without.env).not.toHaveProperty('SVC_DATABASE_URL_FILE');
  expect(without.args).toContain('--standby');
});

test.each(Object.entries(FORGED))(
  'a descriptor that sets %s is refused, and would change nothing',
  (name, value) => {
    const problems = descriptorProblems({ ...DESCRIPTOR, env: { [name]: value } });
    expect(problems.map(({ path }) => path)).toEqual([`/env/${name}`]);
    expect(commandWith({ [name]: value }).command.env[name]).not.toBe(value);
  },
);
