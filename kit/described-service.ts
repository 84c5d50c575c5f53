// DescribedService: what a registered service says of itself at its introspection endpoint. A registration is believed only
// if the program at its address answers with the instance id of the file: another program may have the port now.
import type { ServiceDescription } from '@svc/contract';
import { send } from './local-request.ts';
import type { Registration } from './registrations.ts';

export type Described =
  | { readonly kind: 'described'; readonly service: ServiceDescription }
  | { readonly kind: 'late' }
  /** Nothing answers, or not with this service's description: it has ended, or another process has its port now. */
  | { readonly kind: 'other'; readonly reason: string };

/** Asks the service for its description; the result is 'described' only if the service is the one that registered. */
export async function describe(
  { address, instanceId }: Registration,
  deadlineMs: number,
): Promise<Described> {
  const path = '/observability/service';
  const answer = await send(address, { method: 'GET', path, deadlineMs });
  if (answer.kind === 'late') return answer;
  if (answer.kind === 'unreachable') return { kind: 'other', reason: answer.reason };
  const service = answer.kind === 'answer' && answer.status === 200 ? parsed(answer.body) : null;
  if (service?.instanceId !== instanceId)
    return { kind: 'other', reason: 'another program answers at its address' };
  return { kind: 'described', service };
}

/**
 * Parses a service's description; returns null if it is not valid. Only the lists of instances and routes are
 * checked.
 */
function parsed(body: Buffer): ServiceDescription | null {
  try {
    const json = JSON.parse(body.toString('utf8')) as Partial<ServiceDescription> | null;
    const { instances, routes } = json ?? {};
    const isUsable =
      isListOf(instances, ({ address }) => address === null || typeof address === 'string') &&
      isListOf(
        routes,
        ({ method, path }) => typeof method === 'string' && typeof path === 'string',
      );
    return isUsable ? (json as ServiceDescription) : null;
  } catch {
    return null;
  }
}

function isListOf(
  list: unknown,
  fits: (item: Readonly<Record<string, unknown>>) => boolean,
): boolean {
  return (
    Array.isArray(list) &&
    list.every((item: unknown) => typeof item === 'object' && item !== null && fits({ ...item }))
  );
}
