// App: the frame of the page. It has the header, the bars with notices, the services and sections at the side, and the
// current screen.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { keysAreShown } from './keys.ts';
import { KeysDialog } from './parts/keys-dialog.tsx';
import { Icon } from './parts/icon.tsx';
import { DevBar } from './parts/dev-bar.tsx';
import { hashOf, isOfService, type Screen, type ServiceView, type View } from './route.ts';
import { ConsumersScreen } from './screens/consumers.tsx';
import { DeliveriesScreen } from './screens/deliveries.tsx';
import { DeliveryScreen } from './screens/delivery.tsx';
import { EntitiesScreen } from './screens/entities.tsx';
import { FaultsScreen } from './screens/faults.tsx';
import { OverviewScreen } from './screens/overview.tsx';
import { RoutesScreen } from './screens/routes.tsx';
import { ServicesScreen } from './screens/services.tsx';
import { SubscriptionScreen } from './screens/subscription.tsx';
import { SubscriptionsScreen } from './screens/subscriptions.tsx';
import { TimersScreen } from './screens/timers.tsx';
import { TraceScreen } from './screens/trace.tsx';
import { TracesScreen } from './screens/traces.tsx';
import { ViewsScreen } from './screens/views.tsx';
import { WebHostedNote, WebHostedScreen } from './screens/web-hosted.tsx';
import { SECTIONS } from './sections.ts';
import { Described } from './service.tsx';
import {
  announce,
  announcement,
  consoleEndedMs,
  currentService,
  followed,
  nameOfInstance,
  nowMs,
  serviceList,
  services,
  view,
  webHosted,
} from './store.ts';
import { nextTheme, theme } from './theme.ts';
import { clockText } from './view/time-text.ts';
import { visibleLine } from './view/visible-text.ts';

export function App() {
  const main = useRef<HTMLElement>(null);
  const { screen } = view.value;
  const shown = useRef<Screen>(screen);
  useEffect(() => {
    const name = currentService.value?.name;
    document.title = [titleOf(screen), name, 'svc console'].filter(Boolean).join(' · ');
    if (shown.current === screen) return;
    shown.current = screen;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [screen, currentService.value?.name]);
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Head />
      <Bars />
      <div class="frame">
        <Side />
        <main ref={main} id="main" tabIndex={-1}>
          <ScreenOf view={view.value} />
        </main>
      </div>
      <KeysDialog />
      <div class="unseen" role="status" aria-live="polite">
        {visibleLine(announcement.value)}
      </div>
    </>
  );
}

function titleOf(screen: Screen): string {
  return screen.charAt(0).toUpperCase() + screen.slice(1);
}

function ScreenOf({ view: now }: { readonly view: View }) {
  if (isOfService(now)) return <ServiceScreen view={now} />;
  switch (now.screen) {
    case 'services':
      return <ServicesScreen />;
    case 'webhooks':
      return <SubscriptionsScreen />;
    case 'subscription':
      return <SubscriptionScreen id={now.id} key={now.id ?? ''} />;
    case 'deliveries':
      return <DeliveriesScreen view={now} />;
    case 'delivery':
      return <DeliveryScreen id={now.id} key={now.id} />;
  }
}

function ServiceScreen({ view: now }: { readonly view: ServiceView }) {
  return (
    <Described instanceId={now.instanceId}>
      {(service) => {
        if (service.hosting === 'process')
          return now.screen === 'overview' ? (
            <WebHostedScreen service={service} />
          ) : (
            <WebHostedNote instanceId={service.instanceId} />
          );
        switch (now.screen) {
          case 'overview':
            return <OverviewScreen service={service} />;
          case 'routes':
            return <RoutesScreen service={service} route={now.route} />;
          case 'traces':
            return <TracesScreen service={service} view={now} />;
          case 'trace':
            return <TraceScreen service={service} traceId={now.traceId} key={now.traceId} />;
          case 'entities':
            return <EntitiesScreen service={service} view={now} />;
          case 'views':
            return <ViewsScreen service={service} view={now} />;
          case 'timers':
            return <TimersScreen service={service} state={now.state} />;
          case 'consumers':
            return <ConsumersScreen service={service} consumer={now.consumer} />;
          case 'faults':
            return <FaultsScreen service={service} />;
          default:
            return null;
        }
      }}
    </Described>
  );
}

function Head() {
  const isLost = consoleEndedMs.value !== undefined;
  const isAsking = serviceList.value === undefined && !isLost;
  const state = isLost ? 'no connection' : isAsking ? 'connecting' : 'live';
  return (
    <header class="head">
      <a class="brand" href="#/">
        <Icon name="mark" />
        <span>
          svc <span class="dim">console</span>
        </span>
      </a>
      <span class={`connection ${isLost ? 'is-lost' : ''}`}>
        <span class="dot" aria-hidden="true" />
        {state}
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={`Colours: ${theme.value}. Change`}
        title={`Colours: ${theme.value}`}
        onClick={() => announce(`Colours: ${nextTheme()}`)}
      >
        <Icon name={theme.value} />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Keyboard keys"
        title="Keyboard keys (?)"
        onClick={() => (keysAreShown.value = true)}
      >
        <Icon name="keys" />
      </button>
    </header>
  );
}

function Bars() {
  const now = view.value;
  const service = currentService.value;
  const restart = followed.value;
  const isEnded = serviceList.value !== undefined && service?.state !== 'running';
  const isRestarted = isOfService(now) && restart?.instanceId === now.instanceId;
  return (
    <section class="bars" aria-label="Notices">
      {consoleEndedMs.value !== undefined && (
        <Bar kind="bad">
          The console has stopped. Start it again: <code>npx svc console</code>. What is shown here
          stays.
        </Bar>
      )}
      {isOfService(now) && isEnded && (
        <Bar kind="bad">
          <strong>{visibleLine(nameOfInstance(now.instanceId) ?? 'This service')}</strong>{' '}
          {service?.endedMs === undefined
            ? 'has ended.'
            : `does not answer since ${clockText(service.endedMs, nowMs.value)}.`}{' '}
          Start it again; what is shown and typed here stays.
        </Bar>
      )}
      {isRestarted && nowMs.value - restart.atMs < 30_000 && (
        <Bar kind="note">
          {visibleLine(service?.name ?? 'The service')} was restarted at{' '}
          {clockText(restart.atMs, nowMs.value)}.
        </Bar>
      )}
      {isOfService(now) && <DevBar instanceId={now.instanceId} />}
    </section>
  );
}

function Bar({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }) {
  return (
    <p class={`bar is-${kind}`} role="status">
      {children}
    </p>
  );
}

function Side() {
  const now = view.value;
  const side = useRef<HTMLDivElement>(null);
  const instanceId = isOfService(now) ? now.instanceId : undefined;
  useEffect(() => showCurrent(side.current), [now.screen, instanceId, services.value.length]);
  return (
    <div class="side" ref={side}>
      <nav aria-label="Services">
        <a
          class="side-title"
          href="#/"
          aria-current={now.screen === 'services' ? 'page' : undefined}
        >
          Services
        </a>
        <ul>
          {services.value.map((service) => (
            <li key={service.instanceId}>
              <a
                href={hashOf({ screen: 'overview', instanceId: service.instanceId })}
                aria-current={service.instanceId === instanceId ? 'true' : undefined}
                class={service.state === 'gone' ? 'is-gone' : ''}
              >
                <span class={`state-dot is-${service.state}`} aria-hidden="true" />
                <span class="name">{visibleLine(service.name)}</span>
                <span class="unseen">{service.state}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {isOfService(now) && <Sections instanceId={now.instanceId} now={now.screen} />}
      <nav aria-label="Platform" class="platform">
        <a
          href={hashOf({ screen: 'webhooks' })}
          aria-current={isOfService(now) || now.screen === 'services' ? undefined : 'page'}
        >
          <Icon name="webhooks" />
          Webhooks
        </a>
      </nav>
    </div>
  );
}

/**
 * Scrolls the current tab into view. On a narrow screen the tabs scroll within their bars, on a wide one within the
 * side; the page itself does not scroll.
 */
function showCurrent(side: HTMLElement | null): void {
  for (const bar of side?.querySelectorAll('nav') ?? []) {
    const current = bar.querySelector('[aria-current]')?.getBoundingClientRect();
    if (current === undefined) continue;
    const box = bar.getBoundingClientRect();
    bar.scrollLeft += current.left + current.width / 2 - (box.left + box.width / 2);
    const frame = side!.getBoundingClientRect();
    if (current.bottom > frame.bottom) side!.scrollTop += current.bottom - frame.bottom;
    else if (current.top < frame.top) side!.scrollTop -= frame.top - current.top;
  }
}

function Sections({ instanceId, now }: { readonly instanceId: string; readonly now: Screen }) {
  const current = now === 'trace' ? 'traces' : now;
  return (
    <nav aria-label="Sections" class="sections">
      <ul>
        {SECTIONS.filter(
          ({ screen }) => screen === 'overview' || webHosted.value !== instanceId,
        ).map(({ name, screen, viewOf }) => (
          <li key={name}>
            <a
              href={hashOf(viewOf(instanceId))}
              aria-current={screen === current ? 'page' : undefined}
            >
              <Icon name={screen} />
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
