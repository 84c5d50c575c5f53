// HttpDriver: sends requests to a control plane by the client of its routes, one attempt each, holds the answers against the OpenAPI
// document, and reads of them what the reference knows. A token is the caller itself: how tokens are judged is no matter of these histories.
import type { Caller } from '../../../control-plane/access/token-caller.ts';
import {
  ApiError,
  NoAnswerError,
  createClient,
  type HistoryEntry,
  type Identity,
  type MemberList,
  type OrganizationSummary,
  type ProjectSummary,
  type RouteName,
  type ServiceStatus,
} from '../../../client/index.ts';
import { UndocumentedAnswer, fetchDocumented } from '../../support/documented-answers.ts';
import { BASE_DOMAIN } from './control-plane-for-histories.ts';
import type { Driver, SentRequest } from './driver.ts';
import type { Answer } from './reference.ts';
import { addressIn, inputOf, sortedRows, type Person } from './requests.ts';

type Send = (input: object, options: { readonly idempotencyKey: string }) => Promise<unknown>;

export class HttpDriver implements Driver {
  readonly #baseUrl: () => string;
  readonly #settled: (run: string) => Promise<void>;

  /** `settled`: see `Driver.expectSettled`. */
  constructor(baseUrl: () => string, settled: (run: string) => Promise<void>) {
    this.#baseUrl = baseUrl;
    this.#settled = settled;
  }

  async send({ request, run, idempotencyKey }: SentRequest): Promise<Answer | undefined> {
    const { as, route } = request;
    const client = createClient({
      baseUrl: this.#baseUrl(),
      token: tokenOf(as, run),
      fetch: fetchDocumented,
      retries: { attemptsMax: 1 },
    });
    const send = client[route] as unknown as Send;
    try {
      const value = await send(inputOf(request, run), { idempotencyKey });
      if (value === undefined) return { status: 204 };
      const body = JSON.stringify(essenceOf(route, value)).replaceAll(run, '');
      return { status: 200, body: JSON.parse(body) as unknown };
    } catch (error) {
      if (error instanceof Error && error.cause instanceof UndocumentedAnswer) throw error.cause;
      if (error instanceof ApiError && error.status !== 504) return { status: error.status };
      if (error instanceof ApiError || error instanceof NoAnswerError) return undefined;
      throw error;
    }
  }

  async expectSettled(run: string): Promise<void> {
    await this.#settled(run);
  }
}

function tokenOf(person: Person, run: string): string {
  const isVerified = ['ann', 'bob', 'cid'].includes(person);
  // The machine has the address of another person, which nobody has verified.
  const address = person === 'mia' ? 'cid@example.com' : `${person}@example.com`;
  const caller: Caller = {
    subject: person + run,
    ...(person !== 'root' && { email: addressIn(address, run) }),
    emailVerified: isVerified,
    platformAdmin: person === 'root',
  };
  return Buffer.from(JSON.stringify(caller)).toString('base64url');
}

/** Returns the part of a body that the reference knows. */
function essenceOf(route: RouteName, value: unknown): unknown {
  switch (route as string) {
    case 'whoami':
      return (value as Identity).organizations.map(({ id, name, role }) => [id, name, role]);
    case 'getOrganization': {
      const { id, name, projects, disabled, role = null } = value as OrganizationSummary;
      return [id, name, projects, disabled, role];
    }
    case 'listMembers': {
      const { members, invitations } = value as MemberList;
      return [
        sortedRows(members.map(({ subject, role }) => [subject, role])),
        sortedRows(invitations.map(({ email, role }) => [email, role])),
      ];
    }
    case 'getProject': {
      const { id, name, organizationId, services } = value as ProjectSummary;
      return [id, name, organizationId, services];
    }
    case 'getServiceHistory':
      // Those of a disabled organization follow a moment later.
      return (value as readonly HistoryEntry[])
        .filter(({ kind }) => kind !== 'suspended' && kind !== 'reinstated')
        .map(
          ({ kind, generation, actor }) => `${kind} ${generation} ${actor?.subject ?? 'nobody'}`,
        );
    default: {
      const { generation, hostname, exposed, paused, suspended } = value as ServiceStatus;
      const url = hostname?.replace(/^https:\/\//, '').replace(`.${BASE_DOMAIN}`, '');
      return [generation, exposed ? (url ?? 'no hostname') : null, paused, suspended];
    }
  }
}
