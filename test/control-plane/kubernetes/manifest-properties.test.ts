// What holds of the manifests of every service, by descriptors that are made up.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CALLING_PORT,
  COMPONENT_PROCESS_PORT,
  descriptorProblems,
  hostingKind,
  PROCESS_PORT,
  type ServiceDescriptor,
} from '../../../client/index.ts';
import type { KubernetesInstallation } from '../../../control-plane/kubernetes/manifests/installation.ts';
import { type Manifest, pathOf } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import {
  journalNoteName,
  removableObjects,
} from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { descriptors } from '../../support/generated-descriptors.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  installation,
} from '../../support/kubernetes/installation-under-test.ts';
import { publishedTypes } from '../../support/kubernetes/published-types.ts';
import {
  admitted,
  allContainers,
  isPlatforms,
  podOf,
  workload,
} from '../../support/kubernetes/read-manifests.ts';
import { structuralProblems } from '../../support/kubernetes/structural-check.ts';

const INSTALLATIONS: readonly KubernetesInstallation[] = [
  installation(),
  installation({ databases: CLOUD_NATIVE_PG, remotingFrom: 'service', ingress: undefined }),
];

/** Valid descriptors with installations, and the services as they should be. */
const services = fc
  .tuple(descriptors, fc.constantFrom(...INSTALLATIONS), fc.boolean())
  .map(([descriptor, where, isPaused]) => ({
    descriptor: descriptor as ServiceDescriptor,
    installation: where,
    isPaused,
  }));

/** Checks services with valid descriptors, and returns the kinds of hosting that were among them. */
async function kindsChecked(
  check: (desired: DesiredService, where: KubernetesInstallation) => void | Promise<void>,
): Promise<readonly string[]> {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(services, async ({ descriptor, installation: where, isPaused }) => {
      if (descriptorProblems(descriptor).length > 0) return;
      kinds.add(hostingKind({ ...descriptor })!);
      await check(desiredService(descriptor, isPaused ? { instances: 0, isPaused } : {}), where);
    }),
    { numRuns: 1500 },
  );
  return [...kinds].toSorted();
}

const EVERY_KIND = ['embedded', 'process', 'wasm', 'web'];

describe('of every descriptor without problems', () => {
  test('the manifests are values of JSON, each object once, with the labels of the service', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const manifests = manifestsOf(desired, where);
      expect(JSON.parse(JSON.stringify(manifests))).toEqual(manifests);
      const ids = manifests.map((manifest) => pathOf(manifest, resourceOf(manifest)));
      expect(new Set(ids).size).toBe(ids.length);
      for (const { metadata } of manifests)
        expect(metadata.labels).toMatchObject({
          'app.kubernetes.io/managed-by': 'svc',
          'svc.dev/project': 'shop',
        });
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('the order of the fields of a descriptor does not change the manifests', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const text = JSON.stringify(manifestsOf(desired, where));
      const { descriptor } = desired;
      const reversed = Object.fromEntries(Object.entries(descriptor).toReversed());
      const env = descriptor.env && Object.fromEntries(Object.entries(descriptor.env).toReversed());
      const again = { ...reversed, ...(env && { env }) } as unknown as ServiceDescriptor;
      expect(JSON.stringify(manifestsOf({ ...desired, descriptor: again }, where))).toBe(text);
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('every object but namespace, database and the note of it is among those that are removed with the service', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const known = removableObjects(desired.key, where.cluster.disruptionBudgets).map((object) =>
        pathOf(object),
      );
      const kept = new Set(['Namespace', CLOUD_NATIVE_PG.kind]);
      const others = manifestsOf(desired, where).filter(
        ({ kind, metadata }) => !kept.has(kind) && metadata.name !== journalNoteName(desired.key),
      );
      for (const manifest of others) expect(known).toContain(pathOf(manifest));
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('no container has more rights than it needs, and all have requests and limits', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const pod = podOf(manifestsOf(desired, where));
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of allContainers(pod)) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          privileged: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
        });
        expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
        expect(container.resources.limits).toHaveProperty('memory');
      }
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('every mount has its volume, and every volume a mount', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const manifests = manifestsOf(desired, where);
      const pod = podOf(manifests);
      const mounted = new Set(
        allContainers(pod).flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)),
      );
      const claimed = workload(manifests).kind === 'StatefulSet' ? ['data'] : [];
      const volumes = [...pod.volumes.map(({ name }) => name), ...claimed];
      expect([...mounted].toSorted()).toEqual(volumes.toSorted());
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('only limits of the runtime reach the environment of a container of the platform', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const env = { NODE_OPTIONS: '--import=/evil.js', LD_PRELOAD: '/evil.so', SVC_DATA: '/evil' };
      const kind = hostingKind({ ...desired.descriptor });
      // A module may not declare SVC_DATA.
      const { SVC_DATA: _, ...others } = env;
      const descriptor = {
        ...desired.descriptor,
        env: { ...desired.descriptor.env, ...(kind === 'wasm' ? others : env) },
      };
      const pod = podOf(manifestsOf({ ...desired, descriptor }, where));
      for (const container of allContainers(pod).filter(isPlatforms)) {
        expect(container.envFrom).toBeUndefined();
        expect(JSON.stringify(container)).not.toContain('evil');
      }
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('no value of a variable is outside of secrets, but for limits of the runtime', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const { env = {} } = desired.descriptor;
      const descriptor = {
        ...desired.descriptor,
        env: { ...env, MINE: 'a-value-of-mine' },
      };
      const others = manifestsOf({ ...desired, descriptor }, where);
      expect(JSON.stringify(others)).not.toContain('a-value-of-mine');
      const secrets = others.filter(({ kind }) => kind === 'Secret');
      expect(secrets.length).toBeGreaterThan(0);
      for (const secret of secrets) expect(secret).not.toHaveProperty('stringData');
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  test('nobody reaches the port of a process, by no name and no policy', async () => {
    const kinds = await kindsChecked((desired, where) => {
      const manifests = manifestsOf(desired, where);
      const inside = [CALLING_PORT, COMPONENT_PROCESS_PORT];
      const { descriptor } = desired;
      if (hostingKind({ ...descriptor }) === 'web')
        inside.push(
          'processPort' in descriptor && descriptor.processPort !== undefined
            ? descriptor.processPort
            : PROCESS_PORT,
        );
      const open = Object.keys(admitted(manifests)).map(Number);
      const declared = allContainers(podOf(manifests)).flatMap(({ ports = [] }) =>
        ports.map(({ containerPort }) => containerPort),
      );
      for (const port of inside) {
        expect(open).not.toContain(port);
        expect(declared).not.toContain(port);
      }
      expect(new Set(declared)).toEqual(new Set(open));
    });
    expect(kinds).toEqual(EVERY_KIND);
  });

  const published = publishedTypes();
  test.skipIf(published === undefined)(
    'the fields are those of the newest types of Kubernetes (if @kubernetes/client-node is installed)',
    async () => {
      const kinds = await kindsChecked(async (desired, where) => {
        for (const manifest of manifestsOf(desired, where))
          expect(await structuralProblems(manifest, published!)).toEqual([]);
      });
      expect(kinds).toEqual(EVERY_KIND);
    },
  );
});

function resourceOf({ kind }: Manifest): string | undefined {
  return kind === 'Cluster' ? 'clusters' : undefined;
}
