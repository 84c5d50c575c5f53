// Context: the data of a call besides its input: the entity's id, the time, and the metadata of the request.
import { host } from "./host";

export class Context {
  constructor(
    /** Id of the entity; empty in an endpoint. */
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

  /** Returns the first value of a name in the request's metadata (`traceparent`, …); null when there is none. */
  metadata(name: string): string | null {
    return host.findPair(this.metadataAt, this.metadataCount, name);
  }
}
