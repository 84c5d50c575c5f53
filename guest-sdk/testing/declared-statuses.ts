// DeclaredStatuses: compares the statuses of handlers with those that their routes declare. The runtime answers with
// any status; a test fails, so that the OpenAPI document stays correct.
import type { ModuleDescriptor } from '@svc/contract';
import type { EndpointResponse, Refusal } from '@svc/host/tools';

export class UndeclaredStatus extends Error {}

export class DeclaredStatuses {
  readonly #declared: readonly (readonly number[] | undefined)[];

  constructor({ endpoints }: ModuleDescriptor) {
    this.#declared = endpoints.flatMap(({ routes }) => routes.map(({ answers }) => answers));
  }

  /**
   * Returns the error of an undeclared status; undefined if there is none. `route`: index in the descriptor. A refusal
   * has its own status, which is never declared.
   */
  problem(route: number, outcome: EndpointResponse | Refusal): UndeclaredStatus | undefined {
    const answers = this.#declared[route];
    if (answers === undefined || outcome.kind === 'refusal') return undefined;
    const { status } = outcome;
    if (answers.includes(status)) return undefined;
    const declared = answers.join(', ');
    return new UndeclaredStatus(
      `The handler answered ${status}, and its route declares ${declared}. ` +
        `Write @answers(${declared}, ${status}), or answer with another status.`,
    );
  }
}
