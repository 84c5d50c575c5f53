// RequestFinds serves the queries of views that the handler of one request makes. A query finds what the handler's own commands
// have stored, and what the header Svc-After of the request names.
import type { Position, Positions } from '../../engine/needs/feed.ts';
import type { HostCalls } from '@svc/model/guest';
import type { Awaitable, Refusal } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { RowPage, RowQuery } from '@svc/model/view';

/** The views of a service. */
export interface QueriedViews {
  readonly positions: Positions;
  /** Returns whether a call of an entity may store events. */
  isCommand(component: string, name: string): boolean;
  /** Returns whether the queries of all views that follow the journal have everything before `after`. */
  haveReached(after: Position): boolean;
  /**
   * Finds rows that have all events before `after`. `isRequired`: false if rows of a former definition will do all the same
   * while the view is built; they say so.
   */
  find(
    query: RowQuery,
    after: Position | undefined,
    isRequired: boolean,
  ): Promise<RowPage | Refusal>;
  /** Does what `find` does if that needs no waiting; otherwise returns undefined, and nothing is done. */
  findAtOnce(query: RowQuery, after: Position | undefined): RowPage | Refusal | undefined;
}

/** Maximum number of calls whose entities are noted. After more the position is that of all entities. */
const CALLED_MAX = 1_000;

export class RequestFinds {
  readonly #views: QueriedViews;
  /** The position that the request names. */
  readonly #after: Position | undefined;
  /** The entities that the handler has called. */
  readonly #called: EntityRef[] = [];
  #hasCommanded = false;
  /** The handler's commands that have no answer yet. */
  readonly #unanswered = new Set<Promise<unknown>>();

  constructor(views: QueriedViews, after: Position | undefined) {
    this.#views = views;
    this.#after = after;
  }

  /** Whether a query of the handler would have to wait for what the request names. */
  get mustWait(): boolean {
    return this.#after !== undefined && !this.#views.haveReached(this.#after);
  }

  /**
   * The position after everything that the handler's calls of entities have stored or answered, and that the request names. What all
   * queries have anyway is not named again, so that a caller who passes its position on keeps a short one.
   */
  get position(): Position {
    const { positions } = this.#views;
    if (this.#called.length > CALLED_MAX) return positions.end();
    return positions.endOf(this.#called, this.mustWait ? this.#after! : positions.start);
  }

  /** Notes a call that the handler is about to make. Returns whether the call may store events. */
  note(target: EntityRef, name: string): boolean {
    if (this.#called.length <= CALLED_MAX) this.#called.push(target);
    const isCommand = this.#views.isCommand(target.component, name);
    if (isCommand) this.#hasCommanded = true;
    return isCommand;
  }

  /** Makes a call of the handler, and notes it until it has its answer. */
  noted<T>(target: EntityRef, name: string, call: () => Awaitable<T>): Awaitable<T> {
    if (!this.note(target, name)) return call();
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
    return this.#views.find(query, this.#wanted, this.#after !== undefined);
  }

  /**
   * Finds rows if that needs no waiting; otherwise returns undefined, and nothing is done. All commands that the handler has
   * made have to have their answers.
   */
  findAtOnce(query: RowQuery): RowPage | Refusal | undefined {
    return this.#views.findAtOnce(query, this.#wanted);
  }

  /** The position before which a query has to have all events; undefined: any rows will do. */
  get #wanted(): Position | undefined {
    // What the commands have stored is on disk.
    return this.#hasCommanded ? this.position : this.#after;
  }
}

/** Returns the arguments of `HostCalls.find` as a query. */
export function rowQuery([view, query, input, limit, cursor]: Parameters<
  NonNullable<HostCalls['find']>
>): RowQuery {
  return { view, query, input, limit, cursor };
}
