// What a terminal acts on, or shows in another order: none of it may come from a module.

/** Control characters, separators of lines, marks of direction and of no width. */
export const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
