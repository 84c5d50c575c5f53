// WebHosted: the screens of a web-hosted service, which has a process instead of components: what is known of its process,
// and a note on the screens that only a service with components fills.
import type { ServiceDescription } from '@svc/contract';
import { CommandLine, Empty } from '../parts/empty.tsx';
import { Fact, FactRow, ServiceFacts } from '../parts/facts.tsx';
import { hashOf } from '../route.ts';
import { countText } from '../view/number-text.ts';
import { visibleLine } from '../view/visible-text.ts';

export function WebHostedScreen({ service }: { readonly service: ServiceDescription }) {
  const { name, pid, instanceId, mounts = [], protocol } = service;
  const address = service.instances[0]?.address ?? null;
  return (
    <>
      <header class="screen-head">
        <h1>{visibleLine(name)}</h1>
        <span class="badge">svc web</span>
        <span class="dim instance">
          process of svc <span class="number">{pid}</span> · instance <code>{instanceId}</code>
        </span>
      </header>
      <ServiceFacts service={service}>
        <Fact name="protocol">{visibleLine(protocol ?? '–')}</Fact>
      </ServiceFacts>
      <section aria-labelledby="process-title">
        <h2 id="process-title">Process</h2>
        <Process service={service} />
        {address !== null && <CommandLine line={`curl ${address}/`} />}
      </section>
      <section aria-labelledby="mounts-title">
        <h2 id="mounts-title">Mounts</h2>
        {mounts.length === 0 && <p class="dim">All requests go to the process.</p>}
        <ul class="plain-list">
          {mounts.map((mount) => (
            <li key={mount.path}>
              <code>{visibleLine(mount.path)}</code> → {visibleLine(mount.service)}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Process({ service: { process } }: { readonly service: ServiceDescription }) {
  if (process === undefined) return <p class="dim">The service says nothing of its process.</p>;
  const { pid, port, isListening, restarts } = process;
  return (
    <FactRow>
      <Fact name="state" class={isListening ? '' : 'is-Failed'}>
        {pid === null ? 'ended, is started again' : isListening ? 'listens' : 'does not listen'}
      </Fact>
      <Fact name="port" class="number">
        {port}
      </Fact>
      <Fact name="process" class="number">
        {pid ?? '–'}
      </Fact>
      <Fact name="restarts" class="number">
        {countText(restarts)}
      </Fact>
    </FactRow>
  );
}

/** The content of every other screen. */
export function WebHostedNote({ instanceId }: { readonly instanceId: string }) {
  return (
    <Empty title="This service is web-hosted.">
      <p>
        It has a process instead of components, and svc records no requests of it.{' '}
        <a href={hashOf({ screen: 'overview', instanceId })}>Its overview</a>
      </p>
    </Empty>
  );
}
