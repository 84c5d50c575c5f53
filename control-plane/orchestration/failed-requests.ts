// FailedRequests: number of requests to the orchestrator, since the start, that failed or were not answered in time or sensibly.
//
// Invariant: a request is counted once, where it is made, whoever logs its failure later. The refusal of a service is an answer.
export class FailedRequests {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count++;
  }
}
