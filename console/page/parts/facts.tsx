// Facts: a row of facts about a service, each with its name. Every service has the first three.
import type { ServiceDescription } from '@svc/contract';
import type { ComponentChildren } from 'preact';
import { visibleLine } from '../view/visible-text.ts';
import { Clock } from './clock.tsx';
import { CopyButton } from './copy.tsx';

export interface FactProps {
  readonly name: string;
  /** Class of the value. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Fact({ name, class: valueClass, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={valueClass}>{children}</dd>
    </div>
  );
}

export function FactRow({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts is-row">{children}</dl>;
}

/** The facts of every service, then further ones. */
export function ServiceFacts({
  service,
  children,
}: {
  readonly service: ServiceDescription;
  readonly children: ComponentChildren;
}) {
  const address = service.instances[0]?.address ?? null;
  return (
    <FactRow>
      <Fact name="address">
        {address === null ? 'no HTTP' : <code>{address}</code>}
        {address !== null && <CopyButton text={address} what="address" />}
      </Fact>
      <Fact name="started">
        <Clock time={service.startedAt} />
      </Fact>
      <Fact name="runtime" class="number">
        {visibleLine(service.runtimeVersion)}
      </Fact>
      {children}
    </FactRow>
  );
}
