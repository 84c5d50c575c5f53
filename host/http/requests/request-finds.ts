// RequestFinds serves the queries of views that the handler of one request makes. A query finds what the handler's own commands
// have stored, and what the header Svc-After of the request names.
import type { Position, Positions } from '../../engine/needs/feed.ts';
import type { Awaitable, Refusal } from '../../model/call.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { RowPage, RowQuery } from '../../model/view.ts';

/** The views of a service. */
export interface QueriedViews {
  readonly positions: Positions;
  /** Returns whether a call of an entity may store events. */
  isCommand(component: string, name: string): boolean;
  /**
   * Finds rows that have all events before `after`. `isRequired`: false if rows of a former definition will do all the same
   * while the view is built; they say so.
   */
  find(
    query: RowQuery,
    after: Position | undefined,
    isRequired: boolean,
  ): Promise<RowPage | Refusal>;
}

export class RequestFinds {
  readonly #views: QueriedViews;
  /** The position that the request names. */
  readonly #after: Position | undefined;
  #hasCommanded = false;
  /** The handler's commands that have no answer yet. */
  readonly #unanswered = new Set<Promise<unknown>>();

  constructor(views: QueriedViews, after: Position | undefined) {
    this.#views = views;
    this.#after = after;
  }

  /** Makes a call of the handler, and notes it if it may store events. */
  noted<T>({ component }: EntityRef, name: string, call: () => Awaitable<T>): Awaitable<T> {
    if (!this.#views.isCommand(component, name)) return call();
    this.#hasCommanded = true;
    const answer = call();
    if (!(answer instanceof Promise)) return answer;
    const settled = answer.then(
      () => {},
      () => {},
    );
    this.#unanswered.add(settled);
    void settled.then(() => this.#unanswered.delete(settled));
    return answer;
  }

  /** Finds rows as `HostCalls.find` does. */
  async find(query: RowQuery): Promise<RowPage | Refusal> {
    await Promise.all(this.#unanswered);
    // What the commands have stored is on disk, so it is before the end. The request's own position is, too.
    const after = this.#hasCommanded ? this.#views.positions.end() : this.#after;
    return this.#views.find(query, after, this.#after !== undefined);
  }
}
