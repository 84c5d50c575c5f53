// OpenApiNames: creates the names of an OpenAPI document, such as operation ids, which have to be unique.

export class OpenApiNames {
  readonly #taken = new Set<string>();

  /** Returns the name itself, or the name with a number behind it. */
  unique(name: string): string {
    let unique = name;
    for (let count = 2; this.#taken.has(unique); count++) unique = `${name}_${count}`;
    this.#taken.add(unique);
    return unique;
  }
}
