// The chart, by the program helm itself.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { helmTemplate, PLAIN_MANIFESTS, plainManifest } from '../../../scripts/plain-manifests.ts';
import { printedHelm } from '../../support/kubernetes/helm-program.ts';
import {
  CHART,
  INSTALLATION_FOLDER,
  objectsIn,
} from '../../support/kubernetes/installation-files.ts';
import { ofKind, podOf, valueOf } from '../../support/kubernetes/read-manifests.ts';

const helm = printedHelm('chart.long.test.ts');
const GIVEN = [
  'image=registry.example/svc:1',
  'baseDomain=example.org:8443',
  'auth.issuer=https://id.example.org',
];
const made = (...values: readonly string[]) =>
  objectsIn(helmTemplate(helm!, [...GIVEN, ...values]));

const databaseOf = (instances: number) =>
  ofKind(made('cloudNativePg.enabled=true', `cloudNativePg.instances=${instances}`), 'Cluster')[
    'spec'
  ];

describe.skipIf(helm === undefined)('the chart', () => {
  test('passes the check of Helm', () => {
    const chosen = GIVEN.flatMap((value) => ['--set', value]);
    const { status, stdout, stderr } = spawnSync(helm!, ['lint', '--strict', CHART, ...chosen], {
      encoding: 'utf8',
    });
    expect({ status, output: `${stdout}${stderr}` }).toEqual({
      status: 0,
      output: expect.stringContaining('0 chart(s) failed'),
    });
  });

  test.each(PLAIN_MANIFESTS)('makes $file (node scripts/plain-manifests.ts)', (manifest) => {
    const text = readFileSync(join(INSTALLATION_FOLDER, manifest.file), 'utf8');
    expect(plainManifest(helm!, manifest)).toBe(text);
  });

  test.each([
    [GIVEN.slice(1), 'image: the image of svc'],
    [[GIVEN[0]!, GIVEN[2]!], 'baseDomain: the domain of derived hostnames'],
    [GIVEN.slice(0, 2), 'auth.issuer: the URL of the identity provider'],
  ])('names a value that is missing: %#', (values, words) => {
    expect(() => helmTemplate(helm!, values)).toThrow(words);
  });

  test.each([
    ['webhook.enabled=true', "additional properties 'webhook' not allowed"],
    ['pullSecrets=registry', "at '/pullSecrets': got string, want array"],
    ['gateway.id=gateway', "at '/gateway/id': 'gateway' does not match"],
    ['organizationCreation=everybody', "at '/organizationCreation': value must be one of"],
  ])('refuses what no value is: %s', (value, words) => {
    expect(() => helmTemplate(helm!, [...GIVEN, value])).toThrow(words);
  });

  test('makes neither a namespace nor a webhook service by itself', () => {
    const manifests = made();
    expect(manifests.some(({ kind }) => kind === 'Namespace')).toBe(false);
    const { containers, volumes } = podOf(manifests);
    expect(containers.map(({ name }) => name)).toEqual(['control-plane', 'gateway']);
    expect(JSON.stringify([volumes, ofKind(manifests, 'NetworkPolicy')])).not.toMatch(
      /webhooks|7628/,
    );
    expect(valueOf(containers[1]!, 'SVC_GATEWAY_WEBHOOKS_URL')).toBeUndefined();
    expect(valueOf(containers[1]!, 'SVC_IDENTITY_GATEWAY')).toBeUndefined();
  });

  test('takes settings, secrets of pulls and the kind of the Service', () => {
    const manifests = made(
      'controlPlane.settings.SVC_CONTROL_PLANE_REQUESTS_PER_MINUTE_MAX=600',
      'pullSecrets[0]=registry',
      'services.pullSecrets[0]=one',
      'services.pullSecrets[1]=other',
      'gateway.service.type=ClusterIP',
      'gateway.service.annotations.example\\.org/pool=internal',
      'controlPlane.databaseSecret=other',
      'gateway.id=spiffe://example.org/ns/svc-platform/sa/gateway',
      'services.ingressAnnotations.example\\.org/secret=gateway-identity',
    );
    const pod = podOf(manifests);
    expect(pod).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
    const variable = 'SVC_CONTROL_PLANE_REQUESTS_PER_MINUTE_MAX';
    expect(valueOf(pod.containers[0]!, variable)).toBe('600');
    expect(valueOf(pod.containers[1]!, 'SVC_IDENTITY_GATEWAY')).toBe(
      'spiffe://example.org/ns/svc-platform/sa/gateway',
    );
    expect(valueOf(pod.containers[0]!, 'SVC_KUBERNETES_GATEWAY')).toBe(
      'spiffe://example.org/ns/svc-platform/sa/gateway',
    );
    expect(valueOf(pod.containers[0]!, 'SVC_KUBERNETES_PULL_SECRETS')).toBe('one,other');
    // Without a class there are no Ingresses.
    expect(valueOf(pod.containers[0]!, 'SVC_KUBERNETES_INGRESS_ANNOTATIONS_FILE')).toBeUndefined();
    expect(JSON.stringify(manifests)).toContain('example.org/secret: gateway-identity');
    expect(pod.volumes).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: 'other' }) }),
    );
    const service = ofKind(manifests, 'Service');
    expect(service).toMatchObject({
      metadata: { annotations: { 'example.org/pool': 'internal' } },
      spec: { type: 'ClusterIP' },
    });
    expect(service['spec'] as JsonObject).not.toHaveProperty('externalTrafficPolicy');
  });

  test('lets a database of one server have no standby', () => {
    expect(databaseOf(1)).not.toHaveProperty('postgresql.synchronous');
    expect(databaseOf(2)).toMatchObject({ postgresql: { synchronous: { number: 1 } } });
  });
});
