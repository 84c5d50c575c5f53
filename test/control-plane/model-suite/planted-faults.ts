// PlantedFaults: faults that a control plane might have, each planted between its flows and its entities, or in its components. The
// histories have to find every one of them.
import { Ok, Refused, type Components, type Result } from '@svc/host';
import { settleClaims } from '../../../control-plane/consumers/settle-claims.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { CLAIM_MS } from '../../../control-plane/model/claims.ts';

/** A fault of one control plane; made for each, as some have a memory. */
export interface PlantedFault {
  readonly call?: (call: Call) => Call;
  readonly components?: (components: Components) => Components;
}

interface EntityCall {
  readonly component: string;
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Proceed = (input?: unknown) => Promise<Result<unknown>>;
/** Answers a call of an entity in its place, or lets it proceed. */
type Intercept = (call: EntityCall, proceed: Proceed) => Promise<Result<unknown>>;
type Client = Readonly<Record<string, unknown>>;

function intercepted(intercept: Intercept, hasKeys = true): PlantedFault {
  const around = (client: Client, component: string, id: string): Client =>
    new Proxy(client, {
      get(target, property) {
        const name = String(property);
        const method = target[name];
        if (typeof method !== 'function') return method;
        if (name === 'withIdempotencyKey')
          return (key: string) =>
            hasKeys
              ? around(Reflect.apply(method, target, [key]) as Client, component, id)
              : around(target, component, id);
        if (name === 'events') return method.bind(target) as unknown;
        return (input: unknown = {}) => {
          const call = { component, id, name, input: input as EntityCall['input'] };
          const proceed: Proceed = (changed = input) =>
            Reflect.apply(method, target, [changed]) as Promise<Result<unknown>>;
          return intercept(call, proceed);
        };
      },
    });
  const wrap = (call: Call) =>
    ((...[entity, id]: Parameters<Call>) =>
      around(call(entity, id) as unknown as Client, entity.component, id)) as unknown as Call;
  return { call: wrap };
}

function cachedRole(): PlantedFault {
  const known = new Map<string, Promise<Result<unknown>>>();
  return intercepted(({ name, id, input }, proceed) => {
    if (name !== 'access') return proceed();
    const key = `${id} ${String(input['subject'])}`;
    const access = known.get(key) ?? proceed();
    known.set(key, access);
    return access;
  });
}

/** The list of the holders of hostnames has those that hold theirs no longer, too. */
function conflictFromList(): PlantedFault {
  const holders = new Map<string, unknown>();
  return intercepted(async ({ component, name, id, input }, proceed) => {
    if (component !== 'hostname' || name !== 'claim') return await proceed();
    const { service } = input;
    if (!holders.has(id)) holders.set(id, service);
    return holders.get(id) === service
      ? await proceed()
      : new Refused('another service has the hostname', 'CONFLICT');
  });
}

/** Answers as if the command had been done whenever the entity refuses it with a conflict. */
function conflictIgnored(commands: readonly string[], reply: () => unknown): PlantedFault {
  return intercepted(async ({ name }, proceed) => {
    const result = await proceed();
    const isIgnored = !result.isOk && result.code === 'CONFLICT' && commands.includes(name);
    return isIgnored ? new Ok(reply()) : result;
  });
}

export const PLANTED_FAULTS: readonly (readonly [what: string, plant: () => PlantedFault])[] = [
  ['a role that is cached', cachedRole],
  ['a conflict that is answered from a list', conflictFromList],
  [
    'a reservation that is never settled',
    () => ({
      components: (components) => ({
        ...components,
        consumers: components.consumers!.filter((consumer) => consumer !== settleClaims),
      }),
    }),
  ],
  [
    'an invitation that is lost',
    () =>
      intercepted(async ({ component, name }, proceed) =>
        component === 'email' && name === 'point'
          ? new Ok({ untilMs: Date.now() + CLAIM_MS })
          : await proceed(),
      ),
  ],
  [
    'a history without actor',
    () =>
      intercepted(({ component, input }, proceed) =>
        component === 'service' && 'by' in input
          ? proceed({ ...input, by: { ...(input['by'] as object), subject: 'nobody' } })
          : proceed(),
      ),
  ],
  ['a repeated request that is done twice', () => intercepted((_, proceed) => proceed(), false)],
  [
    'a disabled organization that takes changes',
    () =>
      intercepted(async ({ name }, proceed) => {
        const result = await proceed();
        return name === 'access' && result.isOk
          ? new Ok({ ...(result.value as object), isDisabled: false })
          : result;
      }),
  ],
  ['a last owner who leaves', () => conflictIgnored(['removeMember', 'setRole'], () => null)],
  [
    'a hostname of two services',
    () => conflictIgnored(['claim'], () => ({ id: 'any', untilMs: Date.now() + CLAIM_MS })),
  ],
  [
    'a restart that makes no generation of its own',
    () =>
      intercepted(({ component, name }, proceed) =>
        component === 'service' && name === 'restart' ? Promise.resolve(new Ok(null)) : proceed(),
      ),
  ],
];
