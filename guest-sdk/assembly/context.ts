// Context: what a call knows beside its input. The same context gives the same result.
import { host } from "./host";

export class Context {
  constructor(
    /** The entity's id; empty in an endpoint. */
    public readonly entityId: string,
    /** Milliseconds since 1970-01-01T00:00:00Z, recorded by the runtime for this call. */
    public readonly nowMs: u64,
    private metadataAt: usize,
    private metadataCount: i32,
  ) {}

  __svc_moved(metadataAt: usize, metadataCount: i32): void {
    this.metadataAt = metadataAt;
    this.metadataCount = metadataCount;
  }

  /** A name of the request's metadata (`traceparent`, …); null when it has none. */
  metadata(name: string): string | null {
    return host.findPair(this.metadataAt, this.metadataCount, name);
  }
}
