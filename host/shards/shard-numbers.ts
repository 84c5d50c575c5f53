// ShardNumbers: what a shard counts in memory that the main thread shares, so that metrics are made without asking it.
// They are made once its module is admitted, for their size is the module's, and they outlive a thread that ends.
import { type ModuleDescriptor, routeTemplate } from '@svc/contract';
import { HandlerPlaces } from '../model/handler-places.ts';
import { SharedSeries } from '../model/shared-series.ts';
import { HttpNumbers, type SharedHttpNumbers } from './recorder/http-numbers.ts';
import { InvocationTotals, type SharedTotals } from './recorder/invocation-totals.ts';
import type { RouteLabels } from './recorder/http-numbers.ts';
import { SHARD_GAUGES, SHARD_SERIES, type ShardSeries } from './recorder/shard-series.ts';
import { SpanRows } from './recorder/span-rows.ts';

/** What the two threads share. */
export interface SharedNumbers {
  readonly window: SharedArrayBuffer;
  readonly totals: SharedTotals;
  readonly http: SharedHttpNumbers;
  readonly sampled: SharedArrayBuffer;
}

export class ShardNumbers {
  readonly places: HandlerPlaces;
  readonly routes: readonly RouteLabels[];
  readonly window: SpanRows;
  readonly totals: InvocationTotals;
  readonly http: HttpNumbers;
  /** What the shard looks up once a second, so that no request pays for it. */
  readonly sampled: SharedSeries<ShardSeries>;

  /** `capacity`: spans that the shard keeps, at least one. `shared`: what the other thread's are made of. */
  constructor(
    descriptor: ModuleDescriptor,
    capacity: number,
    shared?: Partial<Omit<SharedNumbers, 'http'>> & { readonly http?: Partial<SharedHttpNumbers> },
  ) {
    this.places = new HandlerPlaces(descriptor);
    this.routes = descriptor.endpoints.flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => ({ method, route: routeTemplate(prefix, path) })),
    );
    this.window = new SpanRows(this.places.handlers.length, capacity, shared?.window);
    this.totals = new InvocationTotals(shared?.totals);
    this.http = new HttpNumbers(this.routes.length, shared?.http);
    this.sampled = new SharedSeries(SHARD_SERIES, shared?.sampled);
  }

  get shared(): SharedNumbers {
    return {
      window: this.window.shared,
      totals: this.totals.shared,
      http: this.http.shared,
      sampled: this.sampled.shared,
    };
  }

  /** Of a module that takes the place of this one: they go on where their size is not the module's. */
  next(descriptor: ModuleDescriptor): ShardNumbers {
    const { totals, sampled, http } = this.shared;
    const { seconds } = http;
    const { capacity } = this.window;
    const next = new ShardNumbers(descriptor, capacity, { totals, sampled, http: { seconds } });
    next.window.goOnFrom(this.window);
    return next;
  }

  /** The thread has ended, and what it held is gone. */
  threadEnded(): void {
    for (const name of SHARD_GAUGES) this.sampled.set(name, 0);
  }
}
