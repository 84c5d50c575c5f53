// Service: the description of the selected service, which is polled because `svc dev` may replace the module.
import type { ServiceDescription } from '@svc/contract';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { getJson, observed } from './api.ts';
import { useLoaded } from './loaded.ts';
import { Empty } from './parts/empty.tsx';
import { ProblemNote, Waiting } from './parts/waiting.tsx';
import { currentService, developed, serviceList, webHosted } from './store.ts';

const DESCRIBED_EVERY_MS = 3000;

export function Described({
  instanceId,
  children,
}: {
  readonly instanceId: string;
  readonly children: (service: ServiceDescription) => ComponentChildren;
}) {
  const described = useLoaded<ServiceDescription>(
    instanceId,
    (signal) => getJson(observed(instanceId, 'service'), signal),
    { everyMs: DESCRIBED_EVERY_MS },
  );
  const isDeveloped = described.value?.dev === true;
  const isWebHosted = described.value?.hosting === 'process';
  useEffect(() => {
    developed.value = isDeveloped ? instanceId : undefined;
    webHosted.value = isWebHosted ? instanceId : undefined;
  }, [instanceId, isDeveloped, isWebHosted]);
  if (described.value !== undefined) return <>{children(described.value)}</>;
  if (described.problem === undefined) return <Waiting rows={8} />;
  if (serviceList.value !== undefined && currentService.value === undefined)
    return (
      <Empty title="This service is no longer running.">
        <p>
          When a service of the same name is started again, this page follows it.{' '}
          <a href="#/">All services</a>
        </p>
      </Empty>
    );
  return <ProblemNote problem={described.problem} />;
}
