// A dataset as its newest event describes it. Events may arrive in any order, and their numbers say which one is newer.
import { Code, Context, Done, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";
import { Report } from "./webhook-event";

@data
export class DatasetState {
  seq: i64 = 0;
  status: string = "";
  score: string | null = null;
  /** Number of events that it was changed by. */
  changes: i32 = 0;
}

@data("dataset-event")
export abstract class DatasetChange {}

@variant("reported")
export class Reported extends DatasetChange {
  constructor(public report: Report) {
    super();
  }
}

@entity("dataset")
export class Dataset extends EventSourcedEntity<DatasetState, DatasetChange> {
  empty(entityId: string): DatasetState {
    return new DatasetState();
  }

  apply(state: DatasetState, event: DatasetChange): DatasetState {
    if (event instanceof Reported) {
      const report = (event as Reported).report;
      state.seq = report.seq;
      state.status = report.status;
      state.score = report.score;
      state.changes += 1;
    }
    return state;
  }

  @command("record")
  record(state: DatasetState, input: Report): Effect<Done> {
    if (input.seq <= state.seq) return this.reply(new Done());
    return this.persist(new Reported(input)).thenReply(new Done());
  }

  @query("get")
  get(state: DatasetState, context: Context): Result<DatasetState> {
    if (state.changes == 0)
      return refuse<DatasetState>(`nothing is known of dataset ${context.entityId}`, Code.NOT_FOUND);
    return ok(state);
  }
}
