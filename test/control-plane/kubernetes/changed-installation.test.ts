// Another installation, such as another image of svc, changes the pods of a service and not its generation: the pods of both are told apart all the same.
import { describe, expect, test } from 'vitest';
import { podTemplate } from '../../../control-plane/kubernetes/manifests/pod-template.ts';
import { TEMPLATE_ANNOTATION } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { observationOf } from '../../../control-plane/kubernetes/workload-observation.ts';
import {
  desiredService,
  EVERY_HOSTING,
  installation,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import {
  CART,
  found,
  pod,
  progressed,
  replicaSet,
  timedOut,
  workload,
} from './observed-objects.ts';

const digestIn = (...given: Parameters<typeof podTemplate>) => {
  const { metadata } = podTemplate(...given) as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  };
  return metadata.annotations[TEMPLATE_ANNOTATION];
};

describe('the digest of a template', () => {
  test('is another one with another image of svc, other resources and another time to stop', () => {
    const desired = desiredService(WEB);
    const digests = [
      installation(),
      installation({ image: 'registry.example/svc:0.2.0' }),
      installation({ defaultResources: { cpu: '200m', memory: '512Mi' } }),
      installation({ sidecarResources: { cpu: '200m', memory: '512Mi' } }),
      installation({ drainMs: 15_000 }),
      installation({ cluster: { disruptionBudgets: 'policy/v1', hasSleepAction: false } }),
    ].map((where) => digestIn(desired, where));
    expect(new Set(digests).size).toBe(digests.length);
  });

  test.each(EVERY_HOSTING)(
    'stays with another generation, incarnation and number of instances: $name',
    (descriptor) => {
      const others = [
        { generation: 8 },
        { incarnation: 'other' },
        { instances: 0, isPaused: true },
      ];
      const digests = [{}, ...others].map((more) =>
        digestIn(desiredService(descriptor, more), installation()),
      );
      expect(new Set(digests).size).toBe(1);
      expect(digests[0]).toMatch(/^.{44}$/);
    },
  );
});

describe.each([
  ['of another template', 'former'],
  ['of an earlier version of svc, without a digest', undefined],
])('beside a ReplicaSet of the same generation %s', (_, former) => {
  const present = { template: 'present' };
  const sets = [replicaSet('cart-old', { template: former }), replicaSet('cart-new', present)];

  describe.each([
    ['listed first', sets],
    ['listed last', sets.toReversed()],
  ])('%s', (__, revisions) => {
    const observed = (condition: ReturnType<typeof progressed>, template: string | undefined) =>
      observationOf(
        CART,
        found({
          workloads: [workload('Deployment', { ...present, conditions: [condition] })],
          revisions,
          pods: ['a', 'b'].map((name) => pod(name, { template })),
        }),
      );

    test('a Deployment is not complete for the condition and the pods of that one', () => {
      expect(observed(progressed('cart-old'), former)).toMatchObject({
        readyInstances: 2,
        updatedInstances: 0,
        rollout: { kind: 'progressing' },
      });
    });

    test('a Deployment is complete, or has failed, by the condition of its own', () => {
      expect(observed(progressed('cart-new'), 'present')).toMatchObject({
        updatedInstances: 2,
        rollout: { kind: 'complete' },
      });
      expect(observed(timedOut('cart-new'), 'present')).toMatchObject({
        rollout: { kind: 'failed' },
      });
    });
  });
});
