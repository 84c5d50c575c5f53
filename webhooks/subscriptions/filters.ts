// Filters: which events of datasets a subscription wants. A dataset has to match every filter that is given.
import type { FilterRequest } from './subscription-content.ts';
import { NAME_LENGTH_MAX } from './subscription-limits.ts';
import { NamePattern } from './name-pattern.ts';

/** The part of a dataset that filters look at. */
export interface FilteredDataset {
  readonly name: string;
  readonly model: string;
  readonly tags: readonly string[];
  readonly status: string;
}

export class Filters {
  readonly #request: FilterRequest;
  readonly #pattern: NamePattern | undefined;

  /** `request`: one without problems. */
  constructor(request: FilterRequest) {
    this.#request = request;
    this.#pattern =
      request.nameRegex === undefined ? undefined : new NamePattern(request.nameRegex);
  }

  matches({ name, model, tags, status }: FilteredDataset): boolean {
    const wanted = this.#request;
    return (
      (wanted.status === undefined || wanted.status === status) &&
      (wanted.model === undefined || wanted.model === model) &&
      (wanted.tags ?? []).every((tag) => tags.includes(tag)) &&
      (this.#pattern === undefined || this.#pattern.isFoundIn(name))
    );
  }

  /** Steps that a search may take for a dataset of this name, at most. */
  stepsMax({ name }: FilteredDataset): number {
    return (this.#pattern?.size ?? 0) * Math.min(name.length, NAME_LENGTH_MAX);
  }
}
