// IntrospectionPart is one of the parts of a service's introspection. introspection.ts calls its methods in the
// phases of the service.
import type { ModuleDescriptor, SourceLocation } from '@svc/contract';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { FaultySpan } from './located-faults.ts';

/** Address of a running service. */
export interface ServedAddress {
  /** `http://127.0.0.1:9000`; undefined if the service has no HTTP server. */
  readonly url: string | undefined;
  readonly descriptor: ModuleDescriptor;
}

/**
 * A part implements the methods that it needs. While the service runs, `replaced` and `locationsOf` are called any
 * number of times; at its end the last three are called in this order.
 */
export interface IntrospectionPart {
  /** Called once the service has started: from now on requests can be routed to it. */
  served?(): void;
  /** Called in `svc dev` when the module `by` has replaced the one that was served. */
  replaced?(by: SourceDescription): void;
  /**
   * Locates a fault that the module has just had. Never rejects; resolves with an empty list if the locations are
   * unknown.
   */
  locationsOf?(span: FaultySpan): Promise<readonly SourceLocation[]>;
  /** Called when the service is about to stop. */
  stopping?(): void;
  /** Called when no request is in flight any more, and shards can be asked for the last time. Never rejects. */
  finished?(): Promise<void>;
  /** Called when the service has stopped, or never started to serve. Never rejects. */
  close?(): Promise<void>;
}
