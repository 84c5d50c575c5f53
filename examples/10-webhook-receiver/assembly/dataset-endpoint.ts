// What the events say of a dataset.
import { Result } from "@svc/guest-sdk";
import { DatasetClient, DatasetState } from "./dataset";

@endpoint("/datasets")
@access("internet")
export class DatasetEndpoint {
  @get("/{id}")
  show(id: string): Result<DatasetState> {
    return new DatasetClient(id).get();
  }
}
