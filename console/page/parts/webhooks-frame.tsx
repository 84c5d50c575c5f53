// WebhooksFrame: the head of the screens of webhooks, and what these screens show instead of their content: that no tenant
// is chosen, that the user is not logged in, or why the webhook service has refused a request.
import type { ComponentChildren } from 'preact';
import { getJson, type ApiProblem } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { hashOf } from '../route.ts';
import { visibleLine } from '../view/visible-text.ts';
import { TARGET_PATH, webhookProblemText, type WebhookTarget } from '../webhooks-api.ts';
import { deliveriesView, type WebhooksView } from '../webhooks-route.ts';
import { CommandLine, Empty } from './empty.tsx';
import { Waiting } from './waiting.tsx';

const TABS: readonly (readonly [name: string, view: WebhooksView])[] = [
  ['Subscriptions', { screen: 'webhooks' }],
  ['Deliveries', deliveriesView()],
];

/** The frame of a list: it has the tabs. `children` are drawn once a tenant is known. */
export function WebhooksFrame({
  tab,
  actions,
  children,
}: {
  readonly tab: 'webhooks' | 'deliveries';
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <WithTarget>
      {(target) => (
        <>
          <header class="screen-head">
            <h1>Webhooks</h1>
            <nav class="tabs" aria-label="Webhooks">
              {TABS.map(([name, view]) => (
                <a
                  key={name}
                  href={hashOf(view)}
                  aria-current={view.screen === tab ? 'page' : undefined}
                >
                  {name}
                </a>
              ))}
            </nav>
            <TargetText target={target} />
            {actions}
          </header>
          {children}
        </>
      )}
    </WithTarget>
  );
}

function TargetText({ target: { tenant, url } }: { readonly target: WebhookTarget }) {
  return (
    <span class="dim target">
      tenant <strong>{visibleLine(tenant ?? '')}</strong> at {visibleLine(url ?? '')}
    </span>
  );
}

/** Draws its children once it is known that a tenant is chosen. */
export function WithTarget({
  children,
}: {
  readonly children: (target: WebhookTarget) => ComponentChildren;
}) {
  const { value, problem } = useLoaded<WebhookTarget>(TARGET_PATH, (signal) =>
    getJson(TARGET_PATH, signal),
  );
  if (value?.tenant != null) return <>{children(value)}</>;
  return (
    <>
      <header class="screen-head">
        <h1>Webhooks</h1>
      </header>
      {value !== undefined && <NoTenant />}
      {problem !== undefined && <WebhookProblem problem={problem} />}
      {value === undefined && problem === undefined && <Waiting rows={4} />}
    </>
  );
}

function NoTenant() {
  return (
    <Empty title="No tenant is chosen.">
      <p>Start the console for a tenant, and its subscriptions and deliveries are here:</p>
      <CommandLine line="npx svc console --tenant ID" />
      <p>Or choose a tenant once for all commands of an installation:</p>
      <CommandLine line="npx svc context set NAME --tenant ID" />
    </Empty>
  );
}

/**
 * Displays why a request was not answered. A user who is not logged in reads how to log in. `isOfTenant`: the request was for
 * what the whole tenant has, so that 404 is about the tenant.
 */
export function WebhookProblem({
  problem,
  isOfTenant = false,
}: {
  readonly problem: ApiProblem;
  readonly isOfTenant?: boolean;
}) {
  const text = webhookProblemText(problem);
  if (problem.status === 401)
    return (
      <Empty title="You are not logged in.">
        <p>{text}</p>
        <CommandLine line="npx svc login" />
      </Empty>
    );
  if (problem.status === 403)
    return (
      <Empty title="You may not manage the webhooks of this tenant.">
        <p>{text}</p>
        <p class="dim">
          An administrator of the tenant may. The roles are those of your access token: log in again
          once they have been changed.
        </p>
      </Empty>
    );
  if (problem.status === 404 && isOfTenant)
    return (
      <Empty title="The webhooks of this tenant cannot be shown.">
        <p>{text}</p>
        <p class="dim">
          Check the tenant, and whether you are a member of it. The installation may also have no
          webhook service, which <code>svc up --webhooks</code> runs on your machine.
        </p>
      </Empty>
    );
  return (
    <p class="problem-note" role="status">
      {text}
    </p>
  );
}
