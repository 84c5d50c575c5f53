// The settings of certificates say who makes them, and nothing that contradicts itself.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readCertificateSettings } from '../../../control-plane/kubernetes/certificate-settings.ts';
import { SettingsReader } from '../../../kit/settings-reader.ts';

const read = (given: Record<string, string>, dataFolder?: string) => {
  const named = Object.entries(given).map(
    ([name, value]) => [`svc.kubernetes.${name}`, value] as const,
  );
  return readCertificateSettings(new SettingsReader(new Map(named), {}), dataFolder);
};

test('the control plane makes them with an authority of its own if its data folder lasts', () => {
  expect(read({}, '/data')).toEqual({
    kind: 'control-plane',
    authority: {
      kind: 'own',
      file: '/data/authorities/identities.json',
      publishedFile: '/data/identities.crt',
      isNew: false,
    },
    gatewaySecret: 'gateway-identity',
  });
  expect(read({ 'new-authority': 'true' }, '/data')).toMatchObject({ authority: { isNew: true } });
});

test('the control plane makes them with an authority that it is given', () => {
  const given = { 'authority-folder': 'ca', 'gateway-secret': 'edge' };
  expect(read(given)).toEqual({
    kind: 'control-plane',
    authority: { kind: 'given', folder: resolve('ca') },
    gatewaySecret: 'edge',
  });
});

test('the operator makes them', () => {
  expect(read({ identities: 'operator' })).toEqual({ kind: 'operator' });
});

test.each<[Record<string, string>, string]>([
  [{}, 'svc.kubernetes.authority-folder'],
  [{ identities: 'cert-manager' }, "'control-plane' or 'operator'"],
  [{ identities: 'operator', 'authority-folder': '/ca' }, 'svc.kubernetes.identities is operator'],
  [{ identities: 'operator', 'new-authority': 'true' }, 'svc.kubernetes.identities is operator'],
  [{ 'authority-folder': '/ca', 'new-authority': 'true' }, "operator's to replace"],
  [{ 'authority-folder': '/ca', 'gateway-secret': 'a/b' }, 'the name of a secret'],
])('%j is refused', (given, words) => {
  expect(() => read(given)).toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining(words),
    }),
  );
});
