// What is printed on a book: its name, author, genre, and when it was published.
import { NullablePatch, Patch } from "@svc/guest-sdk";

const TEXT_MAX = 200;

@data
export enum Genre {
  Fiction,
  Crime,
  Science,
  History,
  Children,
}

@data
export class Description {
  name: string = "";
  author: string = "";
  genre: Genre = Genre.Fiction;
  /** Null when nobody knows. */
  published: Date | null = null;
}

/** The body of a PATCH of a description. Events store it as well: they hold what was changed, and nothing else. */
@data
export class DescriptionPatch {
  name: Patch<string> = new Patch();
  author: Patch<string> = new Patch();
  genre: Patch<Genre> = new Patch();
  published: NullablePatch<Date> = new NullablePatch();
}

/** The description with the changes of the patch. The given one stays as it is. */
export function patched(before: Description, patch: DescriptionPatch): Description {
  let published = before.published;
  if (patch.published.isPresent) published = patch.published.isNull ? null : patch.published.value;
  return {
    name: patch.name.orElse(before.name),
    author: patch.author.orElse(before.author),
    genre: patch.genre.orElse(before.genre),
    published: published,
  };
}

/** Why a description cannot be accepted; empty when it can. */
export function problemOf(description: Description): string {
  if (!isText(description.name)) return `name: must have 1 to ${TEXT_MAX} characters`;
  if (!isText(description.author)) return `author: must have 1 to ${TEXT_MAX} characters`;
  return "";
}

function isText(text: string): bool {
  return text.trim().length > 0 && text.length <= TEXT_MAX;
}
