// Who may use the routes of the webhook service, over HTTP with signed tokens.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createService, defineEndpoint } from '@svc/host';
import { TokenVerifier } from '../../../tokens/token-verifier.ts';
import { AUTH_DEFAULTS } from '../../../tokens/auth-section.ts';
import { TenantAuthorization } from '../../../webhooks/access/tenant-authorization.ts';
import { callerOf } from '../../../webhooks/access/webhook-caller.ts';
import { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { CLI_CLIENT } from '../../support/identity-provider/provider-rules.ts';

const ROLES_PATH = ['realm_access', 'roles'];
const CLAIMS = {
  tenantsPath: ['tenants'],
  rolesPath: ROLES_PATH,
  adminRole: 'tenant-admin',
  platformRole: 'platform',
};
const NO_SUCH_TENANT = 'there is no such tenant, or you are not a member of it';

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

interface Sender {
  readonly tenants?: unknown;
  readonly roles?: readonly string[];
}

/** Starts a service with a route for each kind of callers. */
async function started(requestsPerMinuteMax = 0, writesPerMinuteMax = 0) {
  const { issuer, audience } = provider;
  const settings = { issuer, audience, clientId: CLI_CLIENT, rolesPath: ROLES_PATH };
  const verifier = new TokenVerifier({
    settings: { ...settings, section: AUTH_DEFAULTS },
    callerOf: (claims) => callerOf(claims, CLAIMS),
    log: () => {},
  });
  const authorization = new TenantAuthorization({
    verifier,
    limits: { requestsPerMinuteMax, writesPerMinuteMax },
  });
  const service = await createService({
    name: 'webhooks',
    journal: 'memory',
    http: { port: 0 },
    entities: [],
    responses: { errors: 'plain' },
    endpoints: [
      defineEndpoint({
        name: 'webhooks',
        prefix: '/tenants',
        access: 'internet',
        routes: {
          list: authorization
            .of('tenant-admin', 'read')
            .get('/{tenantId}/webhooks', { reply: 'text' }, (_, { given: { caller } }) =>
              JSON.stringify({ subject: caller.subject, tenants: [...caller.tenants] }),
            ),
          create: authorization
            .of('tenant-admin', 'write')
            .post('/{tenantId}/webhooks', { reply: 'text' }, () => JSON.stringify('created')),
          report: authorization
            .of('platform', 'write')
            .put('/{tenantId}/datasets', { reply: 'text' }, () => JSON.stringify('reported')),
        },
      }),
    ],
    log: () => {},
  });
  onTestFinished(async () => {
    await service.stop();
    verifier.close();
  });
  return async (line: string, { tenants, roles = [] }: Sender = {}) => {
    const [method, path] = line.split(' ') as [string, string];
    const token = await provider.issue({ subject: 'ada', roles, claims: { tenants } });
    const response = await fetch(`${service.url}/tenants/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    const body: unknown = await response.json();
    return { status: response.status, body };
  };
}

test('an administrator uses the routes of its tenants', async () => {
  const send = await started();
  const admin = { tenants: ['acme', 'a/b c'], roles: ['tenant-admin'] };
  const answer = { status: 200, body: { subject: 'ada', tenants: ['acme', 'a/b c'] } };
  expect(await send('GET acme/webhooks', admin)).toEqual(answer);
  expect(await send('GET a%2Fb%20c/webhooks', admin)).toEqual(answer);
});

test('a tenant of others is answered as one that does not exist, whatever the roles', async () => {
  const send = await started();
  const refused = { status: 404, body: { status: 404, error: NO_SUCH_TENANT } };
  for (const roles of [[], ['tenant-admin'], ['platform']])
    for (const tenant of ['other', 'ACME', 'acme2', `x${'y'.repeat(300)}`])
      expect(await send(`GET ${tenant}/webhooks`, { tenants: ['acme'], roles })).toEqual(refused);
  for (const tenants of [undefined, [], '', null])
    expect(await send('GET acme/webhooks', { tenants, roles: ['tenant-admin'] })).toEqual(refused);
});

test('a member without the role learns that it needs the role', async () => {
  const send = await started();
  for (const roles of [[], ['platform'], ['tenant-admins']])
    expect(await send('GET acme/webhooks', { tenants: 'acme', roles })).toEqual({
      status: 403,
      body: {
        status: 403,
        error: 'only administrators of the tenant may do this: ask one of them',
      },
    });
});

test('the platform reports for each tenant, and nobody else does', async () => {
  const send = await started();
  const platform = await send('PUT acme/datasets', { roles: ['platform'] });
  expect(platform).toEqual({ status: 200, body: 'reported' });
  const admin = { tenants: ['acme'], roles: ['tenant-admin'] };
  expect(await send('PUT acme/datasets', admin)).toEqual({
    status: 403,
    body: { status: 403, error: 'only the platform may do this' },
  });
  expect(await send('PUT other/datasets', admin)).toEqual({
    status: 404,
    body: { status: 404, error: NO_SUCH_TENANT },
  });
});

test('requests of administrators are limited, and reports are not', async () => {
  const send = await started(2);
  const all = { tenants: 'acme', roles: ['tenant-admin', 'platform'] };
  const statuses = async (line: string) => {
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push((await send(line, all)).status);
    return answers;
  };
  expect(await statuses('GET acme/webhooks')).toEqual([200, 200, 429]);
  expect(await statuses('PUT acme/datasets')).toEqual([200, 200, 200]);
});

test('writes of administrators have a limit of their own, and count as requests', async () => {
  const send = await started(4, 2);
  const all = { tenants: 'acme', roles: ['tenant-admin', 'platform'] };
  const statusOf = async (line: string) => (await send(line, all)).status;
  const statuses = [];
  for (const line of [
    'POST acme/webhooks',
    'POST acme/webhooks',
    'POST acme/webhooks',
    'GET acme/webhooks',
    'GET acme/webhooks',
    'PUT acme/datasets',
  ])
    statuses.push(await statusOf(line));
  expect(statuses).toEqual([200, 200, 429, 200, 429, 200]);
});
