// The body of a delivery, as far as this service needs it. Unknown fields are skipped, so the sender may add some.

/** What every event has. */
@data
export class WebhookEvent {
  /** The same for each attempt to deliver the event. */
  id: string = "";
  type: string = "";
}

/** An event whose type begins with `dataset.`. */
@data
export class DatasetEvent {
  id: string = "";
  data: Report = new Report();
}

/** A dataset at the time of its event. */
@data
export class Report {
  id: string = "";
  /** Orders the events of a dataset. */
  seq: i64 = 0;
  status: string = "";
  score: string | null = null;
}
