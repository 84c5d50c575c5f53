// Which access tokens the operator lets services take.
import { SettingsReader } from '@svc/kit/settings-reader';
import { expect, test } from 'vitest';
import {
  type Provider,
  readServiceTokenSettings,
  serviceTokens,
  warnOfSharedAudience,
} from '../../../control-plane/orchestration/service-tokens.ts';

const PROVIDER: Provider = {
  issuer: 'https://id.example.com',
  audience: 'https://api.example.com',
  rolesPath: ['roles'],
  section: {
    algorithms: ['ES256'],
    clockToleranceMs: 0,
    keysRefreshMs: 1000,
    staleKeysMs: 0,
    readTimeoutMs: 100,
  },
};

function read(audience: string, scopesClaim?: string) {
  const env = {
    SVC_LOCAL_SERVICE_AUDIENCE: audience,
    ...(scopesClaim !== undefined && { SVC_LOCAL_SERVICE_SCOPES_CLAIM: scopesClaim }),
  };
  return readServiceTokenSettings(new SettingsReader(new Map(), env), 'svc.local', 'svc-cli');
}

test('the audience of services is one, and not that of ID tokens', () => {
  expect(read('https://services.example.com')).toEqual({
    audience: 'https://services.example.com',
    scopesClaim: 'scope',
  });
  expect(() => read('svc-cli')).toThrow(
    /service-audience.*another value than svc\.auth\.client-id/,
  );
});

test.each(['none', 'a,b', 'a b', 'ä', 'a\u007f', ''])('%j is no audience', (audience) => {
  expect(() => read(audience)).toThrow(/svc\.local\.service-audience/);
});

test('the claim of scopes has names with full stops between', () => {
  expect(read('a', 'access.scopes').scopesClaim).toBe('access.scopes');
  expect(() => read('a', 'access..scopes')).toThrow(/svc\.local\.service-scopes-claim/);
});

test('without an audience services take no tokens', () => {
  expect(serviceTokens(PROVIDER, { audience: undefined, scopesClaim: 'scope' })).toBeUndefined();
});

function warnings(provider: Provider, audience: string): readonly string[] {
  const messages: string[] = [];
  const services = { audience, scopesClaim: 'scope' };
  warnOfSharedAudience(provider, services, 'svc.local', ({ message }) => messages.push(message));
  return messages;
}

test('it is warned of tokens that the control plane takes, too, but not for development', () => {
  expect(warnings(PROVIDER, 'https://services.example.com')).toEqual([]);
  expect(warnings(PROVIDER, PROVIDER.audience)).toEqual([
    expect.stringMatching(/^The control plane takes access tokens of services, too/),
  ]);
  const development = { ...PROVIDER, issuer: 'http://127.0.0.1:8080' };
  expect(warnings(development, PROVIDER.audience)).toEqual([]);
});
