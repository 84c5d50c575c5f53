// EventBody: the body of an event, byte for byte as receivers get it (document 3, "Delivery request"). It is made once, when the event
// occurs, and stored.

/** A dataset as the platform reports it, with the fields of `data` (document 3, "Dataset"). */
export interface ReportedDataset {
  readonly name: string;
  readonly model: string;
  readonly modelVersion: string;
  readonly tags: readonly string[];
  readonly status: string;
  /** Null: there is none yet. */
  readonly score: string | null;
  readonly seq: number;
  readonly parentId: string | null;
  readonly originId: string | null;
  readonly supersededBy: string | null;
  readonly runLink: string;
  readonly outputLink: string;
}

export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly occurredAtMs: number;
  readonly tenant: string;
  readonly data: object;
}

/** Returns the fields of a dataset in the order in which events have them. */
export function dataOf(id: string, dataset: ReportedDataset): object {
  const { name, model, modelVersion, tags, status, score, seq } = dataset;
  const { parentId, originId, supersededBy, runLink, outputLink } = dataset;
  return {
    id,
    name,
    model,
    modelVersion,
    tags,
    status,
    score,
    seq,
    parentId,
    originId,
    supersededBy,
    runLink,
    outputLink,
  };
}

export function bodyOf({ id, type, occurredAtMs, tenant, data }: Envelope): string {
  const occurredAt = new Date(occurredAtMs).toISOString();
  return JSON.stringify({ id, type, occurredAt, tenant, data });
}
