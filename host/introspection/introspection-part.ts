// IntrospectionPart is one part of what a service shows of itself, as introspection.ts tells it of the phases of its service.
import type { ModuleDescriptor, SourcePlace } from '@svc/contract';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { FaultySpan } from './placed-faults.ts';

/** Where a service is served. */
export interface ServedAddress {
  /** `http://127.0.0.1:9000`; undefined: it has no HTTP server. */
  readonly url: string | undefined;
  readonly descriptor: ModuleDescriptor;
}

/** A part is told of the phases of its service, in this order; it leaves out those that do not concern it. */
export interface IntrospectionPart {
  /** Another module is served in the place of the one before, while a developer works on it. */
  replaced?(by: SourceDescription): void;
  /** Finds where in the sources a fault was that the module has just met. Never rejects; empty: it is not known. */
  placesOf?(span: FaultySpan): Promise<readonly SourcePlace[]>;
  /** The service is about to stop. */
  stopping?(): void;
  /** No request is in flight any more, and shards can be asked for the last time. Never rejects. */
  finished?(): Promise<void>;
  /** The service has stopped, or was never served. Never rejects. */
  close?(): Promise<void>;
}
