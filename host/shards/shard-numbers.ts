// ShardNumbers: the counts of a shard in memory that it shares with the main thread, which makes metrics of them
// without asking the shard. The counts are created once the module is admitted, because their size depends on the
// module, and they outlive the shard's thread.
import { type ModuleDescriptor, routeTemplate } from '@svc/contract';
import { FIRING_ENDINGS, type FiringEnding } from '@svc/model/firing-ending';
import { HandlerTable } from '@svc/model/handler-table';
import { SharedSeries } from '@svc/model/shared-series';
import { HttpNumbers, type SharedHttpNumbers } from './recorder/http-numbers.ts';
import { InvocationTotals, type SharedTotals } from './recorder/invocation-totals.ts';
import type { RouteLabels } from './recorder/http-numbers.ts';
import { NODE_CALLS, type NodeCall } from './recorder/node-calls.ts';
import { SHARD_GAUGES, SHARD_SERIES, type ShardSeries } from './recorder/shard-series.ts';
import { SpanRows } from './recorder/span-rows.ts';

/** Memory that the two threads share. */
export interface SharedNumbers {
  readonly window: SharedArrayBuffer;
  readonly totals: SharedTotals;
  readonly http: SharedHttpNumbers;
  readonly sampled: SharedArrayBuffer;
  readonly firings: SharedArrayBuffer;
  readonly nodeCalls: SharedArrayBuffer;
}

export class ShardNumbers {
  readonly handlerTable: HandlerTable;
  readonly routes: readonly RouteLabels[];
  readonly window: SpanRows;
  readonly totals: InvocationTotals;
  readonly http: HttpNumbers;
  /** Numbers that the shard samples once a second, so that no request pays for them. */
  readonly sampled: SharedSeries<ShardSeries>;
  /** Firings of timers, by how they ended. */
  readonly firings: SharedSeries<FiringEnding>;
  /** Calls between this node and others; zeros if the service has one node. */
  readonly nodeCalls: SharedSeries<NodeCall>;

  /**
   * `capacity`: maximum number of spans that the shard keeps, at least one. `shared`: the memory of another thread's
   * numbers; absent: new memory.
   */
  constructor(
    descriptor: ModuleDescriptor,
    capacity: number,
    shared?: Partial<Omit<SharedNumbers, 'http'>> & { readonly http?: Partial<SharedHttpNumbers> },
  ) {
    this.handlerTable = new HandlerTable(descriptor);
    this.routes = descriptor.endpoints.flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => ({ method, route: routeTemplate(prefix, path) })),
    );
    this.window = new SpanRows(this.handlerTable.handlers.length, capacity, shared?.window);
    this.totals = new InvocationTotals(shared?.totals);
    this.http = new HttpNumbers(this.routes.length, shared?.http);
    this.sampled = new SharedSeries(SHARD_SERIES, shared?.sampled);
    this.firings = new SharedSeries(FIRING_ENDINGS, shared?.firings);
    this.nodeCalls = new SharedSeries(NODE_CALLS, shared?.nodeCalls);
  }

  get shared(): SharedNumbers {
    return {
      window: this.window.shared,
      totals: this.totals.shared,
      http: this.http.shared,
      sampled: this.sampled.shared,
      firings: this.firings.shared,
      nodeCalls: this.nodeCalls.shared,
    };
  }

  /**
   * Returns the numbers for a module that replaces the present one. Counts whose memory does not depend on the module
   * continue, and so does the number of recorded spans; the spans themselves and the counts by route begin anew.
   */
  next(descriptor: ModuleDescriptor): ShardNumbers {
    const { totals, sampled, firings, nodeCalls, http } = this.shared;
    const { seconds } = http;
    const { capacity } = this.window;
    const continued = { totals, sampled, firings, nodeCalls, http: { seconds } };
    const next = new ShardNumbers(descriptor, capacity, continued);
    next.window.continueFrom(this.window);
    return next;
  }

  /** Resets the gauges, because the thread has ended. */
  threadEnded(): void {
    for (const name of SHARD_GAUGES) this.sampled.set(name, 0);
  }
}
